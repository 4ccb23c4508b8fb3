//! Waiting in oversubscribed teams: a thread yields its CPU to the other threads, as long as that
//! is quick.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How often, for each thread of the team, a waiting thread yields its CPU: the other threads come
/// when they run, and to sleep and be woken takes longer.
const TURNS: u32 = 2;
/// A wait that is longer, for each thread, was for another program or for long work.
const QUICK: Duration = Duration::from_micros(20);
/// Beside another program a thread that yields waits for long: the kernel takes a slice from the
/// thread (`yield_task_fair` of Linux 6.18), while a sleeping thread is woken before that program
/// runs on. So a waiting thread sleeps once for each such time that a long wait took.
const SLEEP: Duration = Duration::from_micros(2);
/// At most so often.
const SLEEPS_MAX: u32 = 1 << 12;

/// Whether yielding has helped.
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
