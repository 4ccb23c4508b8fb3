//! The leaf of one worker, under either scheduler.

use std::cell::{Cell, UnsafeCell};
use std::ptr;

use super::Order;
use super::local::Local;
use super::steps::Steps;
use super::threshold::Threshold;
use crate::inbox::Inbox;
use crate::parker::Parker;
use crate::queued::Queued;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, spin_loop, yield_now};

/// Value of a polling slot whose worker was woken to look for tasks.
pub(super) const LOOK: *mut Queued = ptr::without_provenance_mut(1);
/// Looks into the polling slot before the CPU becomes idle (N 4.1.2): about 20 us.
pub(super) const POLLS: u32 = if cfg!(loom) { 0 } else { 1000 };
/// Steps of waiting for a list that another thread is storing, before the CPU is yielded.
const SPINS: u32 = if cfg!(loom) { 0 } else { 64 };

/// A leaf: the queue, inbox, polling slot and parker of one worker.
pub(crate) struct Leaf {
    pub(super) local: Local,
    pub(super) parent: usize,
    /// Where a worker that waits is given a list of tasks, or [`LOOK`].
    slot: AtomicPtr<Queued>,
    /// Tasks of other threads, for the first worker that takes them.
    pub(super) inbox: Inbox<Queued>,
    /// The value of [`Local::pushes`] when a thief last saw the queue with one task.
    pub(super) noticed: AtomicUsize,
    pub(crate) parker: Parker,
    /// Sets that its worker moves. Used by the worker alone.
    pub(super) moved: UnsafeCell<Vec<*mut Queued>>,
    /// See [`super::threshold::Threshold::is_full`]. Used by the worker alone.
    pub(super) was_full: Cell<bool>,
    /// Where among the other leaves the next search begins. Used by the worker alone.
    pub(super) next_victim: Cell<usize>,
    pub(super) steps: Steps,
}

impl Leaf {
    /// The leaf with this number, below a node.
    pub(super) fn new(number: usize, parent: usize, order: Order) -> Self {
        Self {
            local: Local::new(order),
            parent,
            slot: AtomicPtr::new(ptr::null_mut()),
            inbox: Inbox::new(),
            noticed: AtomicUsize::new(usize::MAX),
            parker: Parker::new(),
            moved: UnsafeCell::new(Vec::new()),
            was_full: Cell::new(false),
            next_victim: Cell::new(number),
            steps: Steps::default(),
        }
    }

    /// Whether the next task of its worker may be run at once.
    #[inline(always)]
    pub(crate) fn is_full(&self, threshold: &Threshold) -> bool {
        threshold.is_full(self.local.len(), &self.was_full)
    }

    /// Whether `enough` tasks are left for other workers, and none sleeps for want of one.
    #[inline(always)]
    pub(crate) fn has(&self, threshold: &Threshold, enough: usize) -> bool {
        self.local.len() >= enough && threshold.of_leaf() > 0
    }

    /// Gives a list, or [`LOOK`], to the leaf's worker, which waits and was claimed for that.
    pub(super) fn give(&self, list: *mut Queued) {
        // Pairs with `given`: the worker sees the whole list.
        self.slot.store(list, Ordering::Release);
        self.parker.unpark();
    }

    /// The list that was put into the polling slot, if any.
    pub(super) fn given(&self) -> Option<*mut Queued> {
        if self.slot.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // Pairs with `give`.
        let list = self.slot.swap(ptr::null_mut(), Ordering::Acquire);
        (!list.is_null()).then_some(list)
    }

    /// Waits for the list that the claiming worker is about to give.
    pub(super) fn await_gift(&self) {
        let mut spins = 0;
        while self.slot.load(Ordering::Relaxed).is_null() {
            spins += 1;
            if spins < SPINS { spin_loop() } else { yield_now() }
        }
    }
}
