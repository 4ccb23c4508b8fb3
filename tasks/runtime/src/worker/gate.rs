//! Whether a new task is run at once: what is asked before each.

use std::ptr::NonNull;

use super::Worker;
use crate::grain::{self, Grains};
use crate::scheduler::{IdleWorkers, Leaf, Threshold};
use crate::shared::Shared;

/// What the answer is made of, found without a look through what all workers share, which owns it.
pub(super) struct Gate {
    /// None where all workers have one queue.
    threshold: Option<NonNull<Threshold>>,
    /// Workers near this one that have nothing to run.
    idle_workers: NonNull<IdleWorkers>,
    /// How long tasks take; none where that does not count.
    grains: Option<NonNull<Grains>>,
    /// How many tasks that others find are enough for a join to do without.
    enough: usize,
}

impl Gate {
    pub(super) fn new(shared: &Shared, leaf: &Leaf) -> Self {
        let counts = grain::KNOWN && shared.config.cutoff;
        Self {
            threshold: shared.scheduler.threshold().map(NonNull::from),
            idle_workers: NonNull::from(shared.scheduler.idle_workers(leaf)),
            grains: counts.then(|| NonNull::from(&*shared.grains)),
            enough: shared.enough,
        }
    }
}

impl Worker {
    /// Whether a new task of this kind is to be run before its creator goes on: where the queue is
    /// full and nobody idle, and where its kind is not worth moving.
    #[inline(always)]
    pub fn inlines(&self, kind: usize) -> bool {
        let is_full = self.is_full().unwrap_or_else(|| self.scheduler().is_full(self.at()));
        let runs = is_full && self.all_are_busy() || self.are_fine(kind);
        let runs = if self.separates_wide { self.inlines_separated(runs, kind) } else { runs };
        runs && !self.is_low()
    }

    /// The same where that needs no call. If not, ask again.
    #[inline(always)]
    pub fn should_inline(&self, kind: usize) -> bool {
        let is_full = self.is_full().unwrap_or(false);
        (is_full && self.all_are_busy() || self.are_fine(kind))
            && !self.is_low()
            && !self.separates_wide
    }

    /// Whether the next task may be run at once; nothing where all workers have one queue.
    #[inline(always)]
    fn is_full(&self) -> Option<bool> {
        // SAFETY: `shared` owns it.
        let threshold = unsafe { self.gate.threshold?.as_ref() };
        Some(self.at().is_full(threshold))
    }

    /// Whether all workers near this one have something to run.
    #[inline(always)]
    pub(super) fn all_are_busy(&self) -> bool {
        // SAFETY: `shared` owns it.
        unsafe { self.gate.idle_workers.as_ref() }.is_zero()
    }

    /// Whether tasks of this kind are not worth moving.
    #[inline(always)]
    pub(crate) fn are_fine(&self, kind: usize) -> bool {
        // SAFETY: `shared` owns it.
        self.gate.grains.is_some_and(|grains| unsafe { grains.as_ref() }.are_fine(kind))
    }

    /// Whether there is enough for others to take, so that a join may do without.
    #[inline]
    pub(crate) fn has_enough(&self) -> bool {
        let (leaf, enough) = (self.at(), self.gate.enough);
        // SAFETY: `shared` owns it.
        let has = match self.gate.threshold.map(|threshold| unsafe { threshold.as_ref() }) {
            Some(threshold) => leaf.has(threshold, enough),
            None => self.scheduler().has(leaf, enough),
        };
        has && self.all_are_busy()
    }
}
