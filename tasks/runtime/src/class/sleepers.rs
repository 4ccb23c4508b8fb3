//! Who prefers wide tasks, who sleeps, and who is woken for one.
//!
//! Somebody is awake for as long as the queue has a task and anybody sleeps. Who adds the first
//! task wakes one; who was awake and goes to other work wakes another, if a task is left; and
//! nobody falls asleep beside a task. Each further task wakes one more that may take it, if there
//! is one. Whoever wakes a sleeper takes its mark away, so that the next is another.

use crate::scheduler::Scheduler;
use crate::sync::{AtomicBool, AtomicUsize, Ordering, fence};

/// The workers of a runtime, by leaf.
pub(super) struct Sleepers {
    leaves: Box<[Leaf]>,
    preferring: AtomicUsize,
}

struct Leaf {
    prefers: AtomicBool,
    /// Whether it sleeps, and nobody has woken it.
    sleeps: AtomicBool,
}

impl Sleepers {
    pub(super) fn new(leaves: usize) -> Self {
        let leaf = |_| Leaf { prefers: AtomicBool::new(false), sleeps: AtomicBool::new(false) };
        Self { leaves: (0..leaves).map(leaf).collect(), preferring: AtomicUsize::new(0) }
    }

    /// Whether the worker of a leaf prefers wide tasks, or nobody does.
    #[inline]
    pub(super) fn may_take(&self, leaf: usize) -> bool {
        self.leaves[leaf].prefers.load(Ordering::Relaxed)
            || self.preferring.load(Ordering::Relaxed) == 0
    }

    /// Its worker says whether it prefers them.
    pub(super) fn set(&self, leaf: usize, prefers: bool) {
        match (self.leaves[leaf].prefers.swap(prefers, Ordering::Relaxed), prefers) {
            (false, true) => _ = self.preferring.fetch_add(1, Ordering::Relaxed),
            (true, false) => _ = self.preferring.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Its worker is about to sleep, unless it sees a task after this.
    pub(super) fn sleeps(&self, leaf: usize) {
        let sleeps = &self.leaves[leaf].sleeps;
        // Where its mark is taken meanwhile, it is about to be unparked.
        if !sleeps.load(Ordering::Relaxed) {
            // Pairs with `claim`, which sees what it prefers.
            sleeps.store(true, Ordering::Release);
            // Pairs with `wake`: either the sleeper sees the task, or we see that it sleeps.
            fence(Ordering::SeqCst);
        }
    }

    /// It does not sleep any more.
    pub(super) fn wakes(&self, leaf: usize) {
        // Pairs with `claim`: if somebody has woken it, it sees the task before it goes on.
        self.leaves[leaf].sleeps.swap(false, Ordering::Acquire);
    }

    /// Wakes one who sleeps and may take a task; or else any, if one is to keep watch. The task is
    /// in the queue.
    pub(super) fn wake(&self, scheduler: &Scheduler, watch: bool) {
        // Pairs with `sleeps`.
        fence(Ordering::SeqCst);
        let may_take = self.claim(|leaf| self.may_take(leaf));
        let woken = may_take.or_else(|| self.claim(|_| watch));
        if let Some(leaf) = woken {
            scheduler.leaf(leaf).parker.unpark();
        }
    }

    /// Takes the mark of one who sleeps.
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
