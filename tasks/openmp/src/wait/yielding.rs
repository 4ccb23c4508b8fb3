//! Waiting in oversubscribed teams: a thread yields its CPU to the other threads, as long as that
//! is quick.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A waiting thread yields its CPU this often for each thread of the team, before it sleeps: the
/// other threads come when they run, and to sleep and be woken takes longer.
const YIELDS: u32 = 2;
/// A wait that takes longer than this for each thread of the team was a wait for another program or
/// for long work.
const QUICK: Duration = Duration::from_micros(20);
/// After such a wait, the next waits sleep at once: one wait for each 2 us that the long one took.
/// The kernel takes a slice from a thread that yields to another program (`yield_task_fair` of
/// Linux 6.18), and lets a thread that is woken run before that program.
const SLEEP: Duration = Duration::from_micros(2);
/// After the longest waits, this many waits sleep at once.
const SLEEPS_MAX: u32 = 1 << 12;

/// Whether a waiting thread yields its CPU or sleeps at once.
///
/// It counts waits and no time: a wait that sleeps at once needs no clock, and a limit in time of
/// twenty times the long wait was as fast.
#[derive(Default)]
pub(crate) struct Yielding {
    /// The number of next waits that sleep at once.
    sleeps: AtomicU32,
}

impl Yielding {
    /// Waits until `holds`, which another of the team's `threads` threads brings about. A thread
    /// that has waited for long ends its wait by `sleep`.
    pub(crate) fn wait(&self, threads: u32, holds: impl Fn() -> bool, sleep: impl FnOnce()) {
        // Where two threads read the same count, both sleep and count as one.
        let sleeps = self.sleeps.load(Ordering::Relaxed);
        if sleeps > 0 {
            self.sleeps.store(sleeps - 1, Ordering::Relaxed);
            return sleep();
        }
        let (begin, quick) = (Instant::now(), QUICK * threads);
        let has_ended = (0..YIELDS * threads).any(|_| {
            std::thread::yield_now();
            holds() || begin.elapsed() > quick
        });
        if !has_ended || !holds() {
            sleep();
        }
        let took = begin.elapsed();
        if took > quick {
            let sleeps = took.as_nanos() / SLEEP.as_nanos();
            let sleeps = u32::try_from(sleeps).unwrap_or(SLEEPS_MAX).min(SLEEPS_MAX);
            self.sleeps.store(sleeps, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Whether a wait for something that holds at the first look sleeps.
    fn sleeps(yielding: &Yielding) -> bool {
        let slept = Cell::new(false);
        yielding.wait(1, || true, || slept.set(true));
        slept.get()
    }

    #[test]
    fn waits_after_a_long_one_sleep_at_once_and_the_last_of_them_ends_that() {
        let yielding = Yielding::default();
        yielding.wait(1, || false, || std::thread::sleep(SLEEP * SLEEPS_MAX * 2));
        let slept = (0..2 * SLEEPS_MAX).take_while(|_| sleeps(&yielding)).count();
        assert_eq!(slept, SLEEPS_MAX as usize);
    }
}
