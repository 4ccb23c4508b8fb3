//! An inner node of the tree: state that its children share.

use std::ops::Range;

use crossbeam_utils::CachePadded;

use super::Order;
use super::local::Ring;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, lock, try_lock};

/// An inner node: a cache, a NUMA domain, or the whole machine.
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    /// All leaves below the node.
    pub(crate) leaves: Range<usize>,
    /// Nodes right below the node; none where leaves are.
    pub(crate) nodes: Vec<usize>,
    /// Tasks in the queue, for workers that do not hold the lock.
    pub(crate) queued: AtomicUsize,
    /// Leaves right below that wait to be given a task, or nodes below which some do.
    pub(crate) idle: Presence,
    /// Workers right below that look for tasks, or nodes below which some do. A worker that has
    /// tasks never reads this line.
    pub(crate) looking: CachePadded<Presence>,
    pub(crate) idle_workers: CachePadded<IdleWorkers>,
    pub(crate) state: Mutex<State>,
}

/// Workers right below a node that have nothing to run.
#[derive(Default)]
pub(crate) struct IdleWorkers {
    /// All of them. Creators read this counter.
    pub(crate) any: AtomicUsize,
    /// Those that have ended their search and wait.
    pub(crate) asleep: AtomicUsize,
}

impl IdleWorkers {
    /// Whether all have something to run.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> bool {
        self.any.load(Ordering::Relaxed) == 0
    }
}

/// Whether any member is present below a node.
///
/// Only the first member that joins and the last that leaves change the node above: one counter for
/// a large machine would be a cache line that all workers write. (A non-zero indicator: Ellen, Lev,
/// Luchangco, Moir, PODC 2007.)
#[derive(Default)]
pub(crate) struct Presence(AtomicUsize);

impl Presence {
    /// Whether a member is present. Still true while the last member leaves.
    pub(crate) fn is_some(&self) -> bool {
        // Pairs with `joins`: the reader sees all writes that a member made before joining.
        self.0.load(Ordering::Acquire) > 0
    }

    /// Adds a member if one is present already: then the nodes above have counted this node.
    pub(crate) fn joins(&self) -> bool {
        let mut there = self.0.load(Ordering::Relaxed);
        while there > 0 {
            let more = there + 1;
            match self.0.compare_exchange_weak(there, more, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => there = now,
            }
        }
        false
    }

    /// Adds a member if none is present: the caller has changed the nodes above.
    pub(crate) fn begins(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Adds a member. Returns whether this one is the first, which must change the nodes above.
    pub(crate) fn arrives(&self) -> bool {
        self.0.fetch_add(1, Ordering::AcqRel) == 0
    }

    /// Removes a member. Returns whether that was the last.
    pub(crate) fn departs(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// State under the lock of a node.
pub(crate) struct State {
    pub(crate) queue: Ring,
    /// Leaves right below that wait for a task, the latest last; empty in a node above other nodes.
    pub(crate) idle: Vec<usize>,
}

impl Node {
    pub(crate) fn new(parent: Option<usize>, leaves: Range<usize>, order: Order) -> Self {
        Self {
            parent,
            leaves,
            nodes: Vec::new(),
            queued: AtomicUsize::new(0),
            idle: Presence::default(),
            looking: CachePadded::default(),
            idle_workers: CachePadded::default(),
            state: Mutex::new(State { queue: Ring::new(order), idle: Vec::new() }),
        }
    }

    /// Works on the queue, and stores the new length for workers that do not hold the lock.
    pub(crate) fn with_queue<R>(&self, work: impl FnOnce(&mut Ring) -> R) -> R {
        self.work_on(lock(&self.state), work)
    }

    /// Works on the queue unless another worker does: for a worker that can look elsewhere.
    pub(crate) fn with_free_queue<R>(&self, work: impl FnOnce(&mut Ring) -> R) -> Option<R> {
        try_lock(&self.state).map(|state| self.work_on(state, work))
    }

    fn work_on<R>(&self, mut state: MutexGuard<'_, State>, work: impl FnOnce(&mut Ring) -> R) -> R {
        let result = work(&mut state.queue);
        self.queued.store(state.queue.len(), Ordering::Relaxed);
        result
    }

    /// Whether its queue seems to have a task.
    pub(crate) fn has_queued(&self) -> bool {
        self.queued.load(Ordering::Relaxed) > 0
    }
}
