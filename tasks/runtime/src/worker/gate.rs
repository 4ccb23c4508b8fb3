//! Whether a creator inlines its next task. Each creation of a task asks this.

use std::ptr::NonNull;

use super::Worker;
use crate::grain::{self, Grains};
use crate::scheduler::{IdleWorkers, Leaf, Threshold};
use crate::shared::Shared;

/// The inputs of the answer, as addresses of parts of [`Shared`].
pub(super) struct Gate {
    /// None under the central scheduler.
    threshold: Option<NonNull<Threshold>>,
    /// Idle workers near this one.
    idle_workers: NonNull<IdleWorkers>,
    /// How long tasks take, by function; none where the length does not count.
    grains: Option<NonNull<Grains>>,
    /// A join queues no task if this many can be stolen from its queue already.
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
    /// Whether the creator inlines a new task of this function: its queue is full and no worker
    /// near is idle, or tasks of the function are too short to be moved.
    #[inline(always)]
    pub fn inlines(&self, function: usize) -> bool {
        let is_full = self.is_full().unwrap_or_else(|| self.scheduler().is_full(self.at()));
        let runs = is_full && self.all_are_busy() || self.are_fine(function);
        let runs = if self.separates_wide { self.inlines_separated(runs, function) } else { runs };
        runs && !self.is_low()
    }

    /// The part of [`Worker::inlines`] that needs no call. Where this is `false`, `inlines` may
    /// still be `true`.
    #[inline(always)]
    pub fn should_inline(&self, function: usize) -> bool {
        let is_full = self.is_full().unwrap_or(false);
        (is_full && self.all_are_busy() || self.are_fine(function))
            && !self.is_low()
            && !self.separates_wide
    }

    /// Whether the queue of this leaf is full; nothing under the central scheduler.
    #[inline(always)]
    fn is_full(&self) -> Option<bool> {
        // SAFETY: `shared` owns the threshold, and lives as long as the worker.
        let threshold = unsafe { self.gate.threshold?.as_ref() };
        Some(self.at().is_full(threshold))
    }

    /// Whether no worker near this one is idle.
    #[inline(always)]
    pub(super) fn all_are_busy(&self) -> bool {
        // SAFETY: `shared` owns the count, and lives as long as the worker.
        unsafe { self.gate.idle_workers.as_ref() }.is_zero()
    }

    /// Whether tasks of this function are too short to be moved.
    #[inline(always)]
    pub(crate) fn are_fine(&self, function: usize) -> bool {
        // SAFETY: `shared` owns the grains, and lives as long as the worker.
        self.gate.grains.is_some_and(|grains| unsafe { grains.as_ref() }.are_fine(function))
    }

    /// Whether other workers find enough tasks here, so that a join need not add one.
    #[inline]
    pub(crate) fn has_enough(&self) -> bool {
        let (leaf, enough) = (self.at(), self.gate.enough);
        // SAFETY: `shared` owns the threshold, and lives as long as the worker.
        let has = match self.gate.threshold.map(|threshold| unsafe { threshold.as_ref() }) {
            Some(threshold) => leaf.has(threshold, enough),
            None => self.scheduler().has(leaf, enough),
        };
        has && self.all_are_busy()
    }
}
