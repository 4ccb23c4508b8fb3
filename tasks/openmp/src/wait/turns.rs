//! Waiting for others where there are more threads than CPUs: by letting them run, as long as that
//! is quick.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How often, for each thread, who waits lets others have the CPU: they come when they run, and to
/// sleep and to be woken takes longer.
const TURNS: u32 = 2;
/// A wait that is longer, for each thread, was for another program or for long work.
const QUICK: Duration = Duration::from_micros(20);
/// Another program keeps who has let it have the CPU waiting (the kernel takes a slice from them,
/// `yield_task_fair` of Linux 6.18), and whoever sleeps is woken before it: so who waits sleeps
/// once for each of these that a long wait took.
const SLEEP: Duration = Duration::from_micros(2);
/// At most so often.
const SLEEPS_MAX: u32 = 1 << 12;

/// Whether it helps to let others have the CPU.
#[derive(Default)]
pub(crate) struct Turns {
    /// How often the threads sleep at once.
    sleeps: AtomicU32,
}

impl Turns {
    /// Waits until something holds that one of so many threads does, in the end by `sleep`.
    pub(crate) fn wait(&self, threads: u32, holds: impl Fn() -> bool, sleep: impl FnOnce()) {
        // Of two at once, one may be forgotten.
        let sleeps = self.sleeps.load(Ordering::Relaxed);
        if sleeps > 0 {
            self.sleeps.store(sleeps - 1, Ordering::Relaxed);
            return sleep();
        }
        let (begin, quick) = (Instant::now(), QUICK * threads);
        let come = (0..TURNS * threads).any(|_| {
            std::thread::yield_now();
            holds() || begin.elapsed() > quick
        });
        if !come || !holds() {
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
