//! When a queue is too long: the one number that all queues share, and whether workers lack tasks.

use std::cell::Cell;

use crate::sync::{AtomicBool, AtomicUsize, Ordering};

use super::Limit;

/// The threshold that a first overflow at the root turns 0 into (N 4.2.1).
const FIRST: usize = 2;

/// A queue that was full counts as full while this many tasks are left, or as many as make a queue
/// full, if those are fewer.
const LEFT: usize = 2;

/// The lower bound of `value_max`, however soon queues are full.
const VALUE_MAX_LEAST: usize = 32;

/// The threshold of all queues of a tree, and the workers that want something to run.
///
/// A task that is added looks at `hungry` and `value`, which change seldom.
pub(crate) struct Threshold {
    /// Whether workers sleep and none looks for tasks: the next task wakes one.
    hungry: AtomicBool,
    /// Tasks that a queue holds before overflowing.
    value: AtomicUsize,
    limit: Limit,
    /// Tasks that a leaf keeps where other workers find them, however low the value is.
    kept: usize,
    /// How many tasks make a queue full.
    full: usize,
    /// A queue that was full stays so with this many tasks.
    still_full: usize,
    /// The upper bound of `value`.
    value_max: usize,
    /// How often the value rose. Written with the value, under the root's lock.
    rises: std::sync::atomic::AtomicU64,
}

impl Threshold {
    pub(crate) fn new(limit: Limit, kept: usize, full: usize) -> Self {
        let value = match limit {
            Limit::Static(value) => value,
            Limit::Dynamic => 0,
        };
        Self {
            hungry: AtomicBool::new(false),
            value: AtomicUsize::new(value),
            limit,
            kept,
            full,
            still_full: full.min(LEFT),
            value_max: full.max(VALUE_MAX_LEAST),
            rises: std::sync::atomic::AtomicU64::new(0),
        }
    }

    /// How many tasks the queue of a leaf may hold now.
    #[inline]
    pub(crate) fn of_leaf(&self) -> usize {
        if self.is_hungry() { 0 } else { self.value().max(self.kept) }
    }

    /// Whether workers sleep and none looks for tasks.
    #[inline]
    pub(crate) fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed)
    }

    /// How many tasks any queue may hold, whether workers sleep or not.
    #[inline]
    pub(crate) fn value(&self) -> usize {
        self.value.load(Ordering::Relaxed)
    }

    /// Whether a creator whose queue has `len` tasks may inline the next one: its queue is full,
    /// and so are all other queues, or the root would not have overflowed up to here. A queue that
    /// `was` full counts as full until nearly empty: the youngest tasks are taken first and mostly
    /// have few children; those would fill the free slots, while the tasks with many children lie
    /// below.
    #[inline]
    pub(crate) fn is_full(&self, len: usize, was: &Cell<bool>) -> bool {
        let least = if was.get() { self.still_full } else { self.full };
        let is = len >= least;
        was.set(is);
        is && !self.is_hungry()
    }

    /// The root overflowed. Two overflows at once may count as one.
    pub(crate) fn rise(&self) {
        if self.limit == Limit::Dynamic {
            let value = self.value().saturating_mul(2).max(FIRST).min(self.value_max);
            self.value.store(value, Ordering::Relaxed);
            self.rises.store(self.rises() + 1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// How often the value rose.
    pub(crate) fn rises(&self) -> u64 {
        self.rises.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// The root was asked and had nothing. Returns whether the value fell.
    pub(crate) fn fall(&self) -> bool {
        let value = self.value();
        if self.limit != Limit::Dynamic || value == 0 {
            return false;
        }
        self.value.store(value / 2, Ordering::Relaxed);
        true
    }

    /// A worker has begun to look for tasks: no sleeper needs to be woken.
    pub(crate) fn is_looked_for(&self) {
        // Every store of `hungry` follows its worker's own step of `looking`, and of those steps
        // the last one decides: see PROTOCOL.md, "Hunger".
        //
        // A thread that adds a task reads `hungry`, so the line is not written without need.
        // Missing a "hungry" that comes at this moment costs one wake-up too many.
        if self.is_hungry() {
            self.hungry.store(false, Ordering::Relaxed);
        }
    }

    /// The last worker that looked for tasks has stopped, and some workers sleep.
    pub(crate) fn starves(&self) {
        self.hungry.store(true, Ordering::Relaxed);
    }
}
