//! The waiting tasks of a runtime, and whether any of them can ever go on.
//!
//! Accesses are ordered as tasks were created, so that no two tasks wait for each other. Tasks that
//! pause and that have events may: one waits for a later step of another, which waits in turn. When
//! the last worker falls asleep, no task is ready and a task waits, only an [`Event`](crate::Event)
//! or a [`Resume`](crate::Resume) outside could let a task go on; where none is left, or where the
//! builder was told that none ever is outside, the process ends and says which tasks wait.
//!
//! The worker that falls asleep last takes a [`Snapshot`]; this module decides by the snapshot.

use std::fmt::Write;
use std::panic::Location;
use std::process::abort;
use std::sync::{Mutex, MutexGuard};

use crate::sync::lock_std;
use crate::wait::{Reason, Waiting};

/// A task that waits.
struct Wait {
    at: *const Waiting,
    reason: Reason,
    location: &'static Location<'static>,
}

// SAFETY: the address is only compared.
unsafe impl Send for Wait {}

/// The tasks that wait on one leaf.
#[derive(Default)]
pub(crate) struct Waits(Mutex<Vec<Wait>>);

impl Waits {
    fn all(&self) -> MutexGuard<'_, Vec<Wait>> {
        lock_std(&self.0)
    }

    /// A task waits from here on.
    pub(crate) fn add(&self, waiting: &Waiting) {
        let (reason, location) = waiting.why();
        self.all().push(Wait { at: waiting, reason, location });
    }

    /// The task goes on.
    pub(crate) fn remove(&self, waiting: &Waiting) {
        let mut all = self.all();
        if let Some(index) = all.iter().rposition(|wait| std::ptr::eq(wait.at, waiting)) {
            all.swap_remove(index);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// A line for each task that waits.
    fn write(&self, text: &mut String) {
        for Wait { reason, location, .. } in self.all().iter() {
            let _ = writeln!(text, "  at {location} somebody waits {reason}");
        }
    }
}

/// The state of a runtime, as the worker that falls asleep last reads its counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    /// Workers that may run tasks.
    pub(crate) present: usize,
    /// Workers whose order is to rest.
    pub(crate) resting: usize,
    /// References to the shared state. Each worker has one, and so has the owner of the runtime,
    /// each event and each resume.
    pub(crate) references: usize,
    /// Whether only tasks let tasks go on.
    pub(crate) is_closed: bool,
}

impl Snapshot {
    /// Number of workers.
    pub(crate) fn workers(&self) -> usize {
        self.present + self.resting
    }

    /// Events and resumes that have not been used: the references that are neither a worker's nor
    /// the owner's.
    pub(crate) fn outside(&self) -> usize {
        self.references.saturating_sub(self.workers() + 1)
    }

    /// Whether another thread may yet let a task go on.
    pub(crate) fn may_be_helped(&self) -> bool {
        self.outside() > 0 && !self.is_closed
    }
}

/// Says which tasks wait, and ends the process: no caller is left that could handle an error.
pub(crate) fn report<'a>(waits: impl Iterator<Item = &'a Waits>, outside: usize) -> ! {
    let mut lines = String::new();
    waits.for_each(|waits| waits.write(&mut lines));
    let held = match outside {
        0 => String::new(),
        1 => "1 event or pause is theirs to end.\n".to_owned(),
        _ => format!("{outside} events or pauses are theirs to end.\n"),
    };
    let text = format!(
        "evenkeel: all workers sleep, no task is ready, and nobody will let these go on:\n\
         {lines}{held}"
    );
    // SAFETY: the text outlives the call; a failed write does not matter.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    abort();
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    fn snapshot(references: usize, is_closed: bool) -> Snapshot {
        Snapshot { present: 2, resting: 1, references, is_closed }
    }

    #[test]
    fn an_unused_event_may_help_unless_the_runtime_is_closed() {
        // Three workers and the owner.
        assert!(!snapshot(4, false).may_be_helped());
        assert!(snapshot(5, false).may_be_helped());
        assert!(!snapshot(5, true).may_be_helped());
        assert_eq!(snapshot(6, true).outside(), 2);
    }
}
