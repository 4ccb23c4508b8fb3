//! How to wait for something that may come soon.

use std::time::Duration;

use crate::sync::{Instant, spin_loop, yield_now};

/// Steps of a pause at most.
const SPINS_MAX: u32 = 128;
/// How long a thread that waits keeps its CPU from other threads.
const ALONE: Duration = Duration::from_micros(5);

/// The pauses of one who looks again and again: each twice as long as the last, then as long as
/// the last, and at last others may have the CPU meanwhile.
pub struct Pause {
    spins: u32,
    patience: Duration,
    /// When they became as long as they get.
    since: Option<Instant>,
}

impl Pause {
    /// Of one who looks so long.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        let patience = if busy::sleeps() { Duration::ZERO } else { patience };
        Self { spins: 1, patience, since: None }
    }

    /// Pauses, or stops short when `stop` holds. Returns false when patience is at its end.
    pub fn lasts(&mut self, stop: impl Fn() -> bool) -> bool {
        if self.patience.is_zero() {
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
        let lasts = lasted < self.patience;
        if !lasts || lasted <= ALONE {
            return lasts;
        }
        // A thread that we wait for may want this CPU.
        busy::timed(yield_now);
        true
    }
}

/// Whether other programs use the CPU that this thread lets go.
///
/// The kernel keeps a thread that has let its CPU go waiting for a slice of the other program
/// (`yield_task_fair` of Linux 6.18), some milliseconds, and lets a thread that is woken go before
/// that program. So a thread whose yield took long sleeps for a while where it would yield.
#[cfg(not(any(loom, evenkeel_model)))]
mod busy {
    use std::cell::Cell;
    use std::time::{Duration, Instant};

    /// A yield that takes longer let another program run, or a long task: our choice.
    const QUICK: Duration = Duration::from_micros(50);
    /// A thread sleeps once for each of these that its last long yield took: our choice.
    const SLEEP: Duration = Duration::from_micros(2);
    /// At most so often: our choice.
    const SLEEPS_MAX: u32 = 1 << 12;

    thread_local! {
        /// How often this thread sleeps instead.
        static SLEEPS: Cell<u32> = const { Cell::new(0) };
    }

    /// Whether the thread is to sleep now.
    pub(super) fn sleeps() -> bool {
        let left = SLEEPS.get();
        SLEEPS.set(left.saturating_sub(1));
        left > 0
    }

    /// Yields, and notes how long that takes.
    pub(super) fn timed(yields: impl FnOnce()) {
        let begin = Instant::now();
        yields();
        let took = begin.elapsed();
        if took > QUICK {
            let sleeps = took.as_nanos() / SLEEP.as_nanos();
            SLEEPS.set(u32::try_from(sleeps).unwrap_or(SLEEPS_MAX).min(SLEEPS_MAX));
        }
    }
}

/// Models have no other programs.
#[cfg(any(loom, evenkeel_model))]
mod busy {
    pub(super) fn sleeps() -> bool {
        false
    }

    pub(super) fn timed(yields: impl FnOnce()) {
        yields();
    }
}

/// Looks between two looks at the clock.
const LOOKS: u32 = 16;

/// Whether something holds before `patience` is over that mostly comes sooner: who waits does not
/// leave the CPU meanwhile, nor begins anything else.
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

    #[test]
    fn a_thread_whose_yield_took_long_sleeps_at_once_for_a_while() {
        let long = Duration::from_secs(3600);
        assert!(Pause::new(long).lasts(|| false));
        busy::timed(|| std::thread::sleep(Duration::from_millis(1)));
        let sleeps = (0..5000).take_while(|_| !Pause::new(long).lasts(|| false)).count();
        assert!((500..=4096).contains(&sleeps), "{sleeps}");
        assert!(Pause::new(long).lasts(|| false));
    }
}
