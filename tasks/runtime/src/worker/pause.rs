//! How to wait for a condition that may hold soon.

use std::time::Duration;

use crate::sync::{Instant, spin_loop, yield_now};

/// Steps of a pause at most.
const SPINS_MAX: u32 = 128;
/// How long a thread that waits keeps its CPU from other threads.
const ALONE: Duration = Duration::from_micros(5);

/// How long a thread searches or polls before sleeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The time.
    pub time: Duration,
    /// The user chose the time: the thread does not sleep sooner, whatever other programs do.
    pub is_asked: bool,
}

impl Patience {
    /// A time that the runtime chose.
    #[must_use]
    pub const fn of(time: Duration) -> Self {
        Self { time, is_asked: false }
    }

    /// A time that the user asked for.
    #[must_use]
    pub const fn asked(time: Duration) -> Self {
        Self { time, is_asked: true }
    }
}

/// The pauses of a thread that looks for something again and again: each twice as long as the last
/// one up to a limit; after 5 us the thread yields its CPU in each.
pub struct Pause {
    spins: u32,
    patience: Patience,
    /// When the pauses became as long as they get.
    since: Option<Instant>,
}

impl Pause {
    /// The first of the pauses that last for this patience together.
    #[must_use]
    pub fn new(patience: Patience) -> Self {
        Self { spins: 1, patience, since: None }
    }

    /// Pauses, or stops short when `stop` holds. Returns false when the thread is to sleep.
    pub fn lasts(&mut self, stop: impl Fn() -> bool) -> bool {
        if self.patience.time.is_zero() {
            return false;
        }
        for _ in 0..self.spins {
            if stop() {
                return true;
            }
            spin_loop();
        }
        if self.spins < SPINS_MAX {
            self.spins *= 2;
            return true;
        }
        let lasted = self.since.get_or_insert_with(Instant::now).elapsed();
        let lasts = lasted < self.patience.time;
        if !lasts || lasted <= ALONE {
            return lasts;
        }
        // The thread that would end this wait may need this CPU.
        match self.patience.is_asked {
            true => yield_now(),
            false => return busy::yields(),
        }
        true
    }
}

/// Whether other programs use the CPU that this thread yields.
///
/// The kernel keeps a thread that has yielded to another program waiting for a slice of that
/// program (`yield_task_fair` of Linux 6.18), some milliseconds, while it lets a thread that is
/// woken run before the program. So a thread one of whose yields took long sleeps instead of
/// yielding for a multiple of that time.
#[cfg(not(any(loom, evenkeel_model)))]
mod busy {
    use std::cell::Cell;
    use std::time::{Duration, Instant};

    /// A yield that takes longer let another program run, or a long task: our choice.
    const QUICK: Duration = Duration::from_micros(50);
    /// A long yield may cost one part in this many of the time: our choice.
    const TIMES: u32 = 20;

    thread_local! {
        /// Until when this thread sleeps instead of yielding.
        static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
    }

    /// Yields; or returns false, where the thread is to sleep instead.
    pub(super) fn yields() -> bool {
        yields_by(std::thread::yield_now)
    }

    pub(super) fn yields_by(yield_now: impl FnOnce()) -> bool {
        let begin = Instant::now();
        if UNTIL.get().is_some_and(|until| begin < until) {
            return false;
        }
        yield_now();
        let took = begin.elapsed();
        if took > QUICK {
            UNTIL.set(begin.checked_add(took * TIMES));
        }
        true
    }
}

/// Models have no other programs.
#[cfg(any(loom, evenkeel_model))]
mod busy {
    pub(super) fn yields() -> bool {
        crate::sync::yield_now();
        true
    }
}

/// Looks between two looks at the clock.
const LOOKS: u32 = 16;

/// Whether a condition that mostly holds soon does so before `patience` is over: meanwhile the
/// waiting thread does not leave the CPU, nor begins other work.
pub fn comes_soon(patience: Duration, holds: impl Fn() -> bool) -> bool {
    let mut since = None;
    loop {
        for _ in 0..LOOKS {
            if holds() {
                return true;
            }
            spin_loop();
        }
        if since.get_or_insert_with(Instant::now).elapsed() > patience {
            return false;
        }
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    /// Whether a thread with this patience is sent to sleep within some pauses: a number and no
    /// time, since an emulated CPU takes longer for one pause than a thread keeps its CPU alone.
    fn is_sent_to_sleep(patience: Patience) -> bool {
        let mut pause = Pause::new(patience);
        (0..1000).any(|_| !pause.lasts(|| false))
    }

    #[test]
    fn a_thread_whose_yield_took_long_sleeps_instead_unless_its_patience_was_asked_for() {
        // A long time, so that the test does not depend on other programs of this machine.
        busy::yields_by(|| std::thread::sleep(Duration::from_millis(500)));
        assert!(is_sent_to_sleep(Patience::of(LONG)));
        assert!(!is_sent_to_sleep(Patience::asked(LONG)));
    }

    #[test]
    fn a_thread_looks_several_times_before_it_sleeps_beside_other_programs() {
        busy::yields_by(|| std::thread::sleep(Duration::from_millis(500)));
        let mut pause = Pause::new(Patience::of(LONG));
        let looks = (0..100).take_while(|_| pause.lasts(|| false)).count();
        assert!(looks >= 7, "{looks}");
    }
}
