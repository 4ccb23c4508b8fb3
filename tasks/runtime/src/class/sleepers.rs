//! Which workers prefer wide tasks, which sleep, and which is woken for a wide task.
//!
//! While the queue has a task and a worker sleeps, some other worker is awake. The first task wakes
//! a worker; a worker that goes on to other work wakes another if a task is left; and no worker
//! falls asleep beside a task. Each further task wakes one more worker that may take the task, if
//! one sleeps. A wake-up clears the sleeper's mark, so that the next wakes another worker.

use crate::scheduler::Scheduler;
use crate::sync::{AtomicBool, AtomicUsize, Ordering, fence};

/// The workers of a runtime, by leaf.
pub(super) struct Sleepers {
    leaves: Box<[Leaf]>,
    preferring: AtomicUsize,
}

struct Leaf {
    prefers: AtomicBool,
    /// Whether the worker sleeps, and was not woken.
    sleeps: AtomicBool,
}

impl Sleepers {
    pub(super) fn new(leaves: usize) -> Self {
        let leaf = |_| Leaf { prefers: AtomicBool::new(false), sleeps: AtomicBool::new(false) };
        Self { leaves: (0..leaves).map(leaf).collect(), preferring: AtomicUsize::new(0) }
    }

    /// Whether the worker of a leaf prefers wide tasks, or no worker does.
    #[inline]
    pub(super) fn may_take(&self, leaf: usize) -> bool {
        self.leaves[leaf].prefers.load(Ordering::Relaxed)
            || self.preferring.load(Ordering::Relaxed) == 0
    }

    /// Sets whether the worker of a leaf prefers wide tasks.
    pub(super) fn set(&self, leaf: usize, prefers: bool) {
        match (self.leaves[leaf].prefers.swap(prefers, Ordering::Relaxed), prefers) {
            (false, true) => _ = self.preferring.fetch_add(1, Ordering::Relaxed),
            (true, false) => _ = self.preferring.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
    }

    /// The worker of a leaf is about to sleep, unless a search after this call finds a task.
    pub(super) fn sleeps(&self, leaf: usize) {
        let sleeps = &self.leaves[leaf].sleeps;
        // If another thread clears the mark meanwhile, that thread is about to unpark this worker.
        if !sleeps.load(Ordering::Relaxed) {
            // Pairs with `claim`, which then sees the preference of the worker.
            sleeps.store(true, Ordering::Release);
            // Pairs with `wake`: either the sleeper sees the task, or the waker sees the mark.
            fence(Ordering::SeqCst);
        }
    }

    /// The worker of a leaf does not sleep any more.
    pub(super) fn wakes(&self, leaf: usize) {
        // Pairs with `claim`: a worker that was woken sees the task before going on.
        self.leaves[leaf].sleeps.swap(false, Ordering::Acquire);
    }

    /// Wakes a worker that sleeps and may take a task; or else, with `watch`, any sleeper, which
    /// stays awake until a worker takes the task. The task is in the queue.
    pub(super) fn wake(&self, scheduler: &Scheduler, watch: bool) {
        // Pairs with `sleeps`.
        fence(Ordering::SeqCst);
        let may_take = self.claim(|leaf| self.may_take(leaf));
        let woken = may_take.or_else(|| self.claim(|_| watch));
        if let Some(leaf) = woken {
            scheduler.leaf(leaf).parker.unpark();
        }
    }

    /// Clears the mark of a worker that sleeps, and returns its leaf.
    fn claim(&self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.leaves.len()).find(|&leaf| {
            let sleeps = &self.leaves[leaf].sleeps;
            // Pair with `sleeps` and `wakes`.
            sleeps.load(Ordering::Acquire) && wanted(leaf) && sleeps.swap(false, Ordering::Release)
        })
    }

    /// Workers that prefer wide tasks now.
    #[cfg(all(test, not(any(loom, evenkeel_model))))]
    pub(super) fn preferring(&self) -> usize {
        self.preferring.load(Ordering::Relaxed)
    }

    /// Workers that sleep, and were not woken.
    #[cfg(all(test, not(any(loom, evenkeel_model))))]
    pub(super) fn asleep(&self) -> usize {
        self.leaves.iter().filter(|leaf| leaf.sleeps.load(Ordering::Relaxed)).count()
    }
}
