//! Who waits for what, and whether anybody will ever let them go on.
//!
//! Accesses are ordered as tasks were created, so that no two wait for each other. Tasks that pause
//! and that have events may: one waits for what another does later, which waits in turn. When the
//! last worker falls asleep, nothing is ready and somebody waits, only an [`Event`](crate::Event)
//! or a [`Resume`](crate::Resume) outside could let anybody go on; where none is left, or where the
//! builder was told that none ever is outside, this ends the process and says who waits.

use std::fmt::{self, Write};
use std::panic::Location;
use std::process::abort;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::pool::Shared;
use crate::queued::Queued;
use crate::sync::lock_std;
use crate::sync::{Ordering, yield_now};
use crate::wait::Waiting;
use crate::worker::Worker;

/// What somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// For tasks that it created, or for those below them.
    Tasks,
    /// To be resumed.
    Resume,
    /// For data that other tasks have.
    Data,
    /// For the other half of a join.
    Join,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tasks => "for tasks that it created to end",
            Self::Resume => "to be resumed",
            Self::Data => "for data that other tasks have",
            Self::Join => "for the other half of a join",
        })
    }
}

/// One who waits.
struct Wait {
    who: *const Waiting,
    what: What,
    place: &'static Location<'static>,
}

// SAFETY: the address is only compared.
unsafe impl Send for Wait {}

/// Those who wait on one leaf.
#[derive(Default)]
pub(crate) struct Waits(Mutex<Vec<Wait>>);

impl Waits {
    fn all(&self) -> MutexGuard<'_, Vec<Wait>> {
        lock_std(&self.0)
    }
}

impl Shared {
    /// One who waits on a leaf.
    pub(crate) fn begins_to_wait(&self, who: &Waiting) {
        if !self.asked.knows_events {
            return;
        }
        let (what, place) = who.why();
        self.waits[who.leaf].all().push(Wait { who, what, place });
    }

    /// It goes on.
    pub(crate) fn goes_on(&self, who: &Waiting) {
        if !self.asked.knows_events {
            return;
        }
        let mut waits = self.waits[who.leaf].all();
        if let Some(place) = waits.iter().rposition(|wait| std::ptr::eq(wait.who, who)) {
            waits.swap_remove(place);
        }
    }

    /// Whether somebody waits.
    fn has_waits(&self) -> bool {
        self.waits.iter().any(|waits| !waits.all().is_empty())
    }

    /// Who waits where, a line each.
    fn waits(&self) -> String {
        let mut text = String::new();
        for waits in &self.waits {
            for Wait { what, place, .. } in waits.all().iter() {
                let _ = writeln!(text, "  at {place} somebody waits {what}");
            }
        }
        text
    }
}

impl Worker {
    /// The worker is about to sleep, and may be the last. Returns a task if there is one after all.
    ///
    /// Of several that are about to sleep at once one looks, and the others sleep.
    #[cold]
    pub(crate) fn is_last(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        let shared = &*self.shared;
        if !shared.asked.knows_events || shared.looks_whether_stuck.swap(true, Ordering::SeqCst) {
            return None;
        }
        let found = self.look_whether_stuck(stop);
        shared.looks_whether_stuck.store(false, Ordering::SeqCst);
        found
    }

    fn look_whether_stuck(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        let shared = &*self.shared;
        loop {
            let present = shared.present.load(Ordering::SeqCst);
            if shared.ready.all_asleep() < present || stop() || !shared.has_waits() {
                return None;
            }
            // Each event and each resume holds the runtime, and so does each worker and its owner:
            // asked first, since whoever uses the last one lets go of the runtime afterwards.
            let all = present + shared.resting.load(Ordering::SeqCst);
            let outside = Arc::strong_count(&self.shared).saturating_sub(all + 1);
            if outside > 0 && !shared.asked.is_closed {
                return None;
            }
            let asleep = (0..shared.waits.len()).filter(|&leaf| shared.ready.is_asleep(leaf));
            let others_sleep = asleep.count() + 1 >= all;
            // Whoever added a task meanwhile found nobody asleep to tell.
            // SAFETY: this thread is the leaf's worker.
            let found = self.take().or_else(|| self.seek());
            if found.is_some() || stop() || shared.ready.has_any(self.leaf) || self.has_wide() {
                return found;
            }
            if !others_sleep {
                // They are about to, or have been told something.
                yield_now();
                continue;
            }
            // Somebody may have gone on, and away, since who waits was looked at.
            let now = shared.present.load(Ordering::SeqCst) + shared.resting.load(Ordering::SeqCst);
            if now != all || !shared.has_waits() {
                return None;
            }
            ends(&shared.waits(), outside);
        }
    }
}

/// Says who waits, and ends the process: there is nobody to hand an error to.
fn ends(waits: &str, outside: usize) -> ! {
    let held = match outside {
        0 => String::new(),
        1 => "1 event or pause is theirs to end.\n".to_owned(),
        _ => format!("{outside} events or pauses are theirs to end.\n"),
    };
    let text = format!(
        "evenkeel: all workers sleep, no task is ready, and nobody will let these go on:\n\
         {waits}{held}"
    );
    // SAFETY: the bytes are there; whether they arrive does not matter.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    abort();
}
