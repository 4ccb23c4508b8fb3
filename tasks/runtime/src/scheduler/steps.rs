//! The rare steps of a scheduler, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Steps at one leaf. Its worker alone counts; any thread may read.
#[derive(Default)]
pub(crate) struct Steps {
    /// The leaf's queue was over the threshold, and part of the queue went up.
    pub(super) overflows: Step,
    /// The leaf's worker asked the nodes above, and then other leaves.
    pub(super) requests: Step,
    /// The threshold fell at this request.
    pub(super) falls: Step,
    /// Sets taken from a node above.
    pub(super) fetches: Step,
    /// Sets taken from another leaf.
    pub(super) pulls: Step,
    /// Tasks in all of these sets.
    pub(super) moved: Step,
    /// The waiting worker was given tasks, or was notified to look.
    pub(super) gifts: Step,
    /// The worker waited to be given tasks.
    pub(super) waits: Step,
}

/// How often something was done.
#[derive(Default)]
pub(super) struct Step(AtomicU64);

impl Step {
    /// For the one thread that counts.
    pub(super) fn add(&self, more: usize) {
        self.0.store(self.get().wrapping_add(more as u64), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Steps of all leaves of a scheduler, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepsSum {
    /// A leaf's queue was over the threshold, and part of the queue went up.
    pub overflows: u64,
    /// A worker asked the nodes above, and then other leaves.
    pub requests: u64,
    /// The threshold halved.
    pub falls: u64,
    /// The threshold doubled.
    pub rises: u64,
    /// Sets taken from a node above.
    pub fetches: u64,
    /// Sets taken from another leaf.
    pub pulls: u64,
    /// Tasks in all of these sets.
    pub moved: u64,
    /// A waiting worker was given tasks, or was notified to look.
    pub gifts: u64,
    /// A worker waited to be given tasks.
    pub waits: u64,
}

impl StepsSum {
    /// Adds the steps of one leaf.
    pub(super) fn of(mut self, steps: &Steps) -> Self {
        self.add(&Self {
            overflows: steps.overflows.get(),
            requests: steps.requests.get(),
            falls: steps.falls.get(),
            rises: 0,
            fetches: steps.fetches.get(),
            pulls: steps.pulls.get(),
            moved: steps.moved.get(),
            gifts: steps.gifts.get(),
            waits: steps.waits.get(),
        });
        self
    }

    /// Adds the steps of another sum.
    pub(crate) fn add(&mut self, more: &Self) {
        self.overflows += more.overflows;
        self.requests += more.requests;
        self.falls += more.falls;
        self.rises += more.rises;
        self.fetches += more.fetches;
        self.pulls += more.pulls;
        self.moved += more.moved;
        self.gifts += more.gifts;
        self.waits += more.waits;
    }
}
