//! The number of threads of this process's teams that want a CPU. If that number is above the
//! number of CPUs, waiting threads yield.
//!
//! A thread of a pool counts from its start or wake-up until it sleeps at its mailbox, between
//! regions. The thread that owns a pool counts as long as the first of the pool does, unless it is
//! itself of a pool. So resting teams do not count, and the teams of all threads of the program do.
//! The count changes only where a thread sleeps or wakes, which costs more.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::processors;

static AWAKE: AtomicU32 = AtomicU32::new(0);

/// How many threads want a CPU, if these are more than may run at once.
pub(crate) fn oversubscribed() -> Option<u32> {
    // A thread that ends may be subtracted before the thread that woke it has added it.
    let awake = AWAKE.load(Ordering::Relaxed).cast_signed().max(0).cast_unsigned();
    (awake > processors::at_once()).then_some(awake)
}

/// In a child of fork(2), which has none of the threads.
pub(crate) fn forget_awake() {
    AWAKE.store(0, Ordering::Relaxed);
}

/// Whether one thread of a pool is awake, or was woken.
pub(crate) struct Awake {
    is_asleep: AtomicBool,
    /// The number of threads that this one counts for.
    counts: u32,
    /// Where it is counted.
    awake: &'static AtomicU32,
}

impl Awake {
    /// Of a thread that is about to be started.
    pub(crate) fn new(counts: u32) -> Self {
        Self::counted_in(&AWAKE, counts)
    }

    fn counted_in(awake: &'static AtomicU32, counts: u32) -> Self {
        awake.fetch_add(counts, Ordering::Relaxed);
        Self { is_asleep: AtomicBool::new(false), counts, awake }
    }

    /// The thread is about to sleep.
    pub(crate) fn sleeps(&self) {
        self.awake.fetch_sub(self.counts, Ordering::Relaxed);
        self.is_asleep.store(true, Ordering::Relaxed);
    }

    /// The thread is woken, or goes on by itself; the first of both counts the thread. Returns
    /// whether this call was the first.
    pub(crate) fn wakes(&self) -> bool {
        let is_first =
            self.is_asleep.load(Ordering::Relaxed) && self.is_asleep.swap(false, Ordering::Relaxed);
        if is_first {
            self.awake.fetch_add(self.counts, Ordering::Relaxed);
        }
        is_first
    }

    /// The thread ends.
    pub(crate) fn ends(&self) {
        self.awake.fetch_sub(self.counts, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_woken_and_goes_on_is_counted_once() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = || COUNT.load(Ordering::Relaxed);
        let (first, second) = (Awake::counted_in(&COUNT, 2), Awake::counted_in(&COUNT, 1));
        assert_eq!(count(), 3);
        assert!(!first.wakes(), "it does not sleep");
        first.sleeps();
        assert_eq!(count(), 1);
        assert!(first.wakes());
        assert!(!first.wakes(), "it was counted by its waker");
        assert_eq!(count(), 3);
        first.ends();
        second.ends();
        assert_eq!(count(), 0);
    }

    #[test]
    fn either_the_waker_or_the_sleeper_counts_the_thread() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let awake = Awake::counted_in(&COUNT, 1);
        for _ in 0..1000 {
            awake.sleeps();
            std::thread::scope(|scope| {
                scope.spawn(|| awake.wakes());
                awake.wakes();
            });
            assert_eq!(COUNT.load(Ordering::Relaxed), 1);
        }
    }
}
