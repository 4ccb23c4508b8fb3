//! An inner node of the tree: what its children share.

use std::ops::Range;

use crossbeam_utils::CachePadded;

use super::Order;
use super::local::Ring;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, lock, try_lock};

/// An inner node: a cache, a NUMA domain, or the whole machine.
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    /// All leaves below it.
    pub(crate) leaves: Range<usize>,
    /// Nodes right below it; none where leaves are.
    pub(crate) nodes: Vec<usize>,
    /// Tasks in its queue, for those who do not hold the lock.
    pub(crate) queued: AtomicUsize,
    /// Leaves right below it that wait to be given something, or nodes below which some do.
    pub(crate) idle: Presence,
    /// The same of workers that look for tasks. Those who have some read none of this line.
    pub(crate) looking: CachePadded<Presence>,
    pub(crate) idle_workers: CachePadded<IdleWorkers>,
    pub(crate) state: Mutex<State>,
}

/// Workers right below a node that have nothing to run.
#[derive(Default)]
pub(crate) struct IdleWorkers {
    /// All of them. Creators read it.
    pub(crate) any: AtomicUsize,
    /// Those that have looked for long enough.
    pub(crate) asleep: AtomicUsize,
}

impl IdleWorkers {
    /// Whether all have something to run.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> bool {
        self.any.load(Ordering::Relaxed) == 0
    }
}

/// Whether somebody is there, below a node.
///
/// Only who comes first and who leaves last tells the node above: a counter that all workers of a
/// large machine change would cost each of them a fight for its line. (A non-zero indicator: Ellen,
/// Lev, Luchangco, Moir, PODC 2007.)
#[derive(Default)]
pub(crate) struct Presence(AtomicUsize);

impl Presence {
    /// Whether somebody is there; or was, and is about to have left.
    pub(crate) fn is_some(&self) -> bool {
        // Pairs with `joins`: who is there is so with all that it did before.
        self.0.load(Ordering::Acquire) > 0
    }

    /// One more is there, if somebody is: then those above know.
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

    /// One is there, if nobody was: those above have been told.
    pub(crate) fn begins(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// One more is there. Returns whether it is the first, who is to tell those above.
    pub(crate) fn arrives(&self) -> bool {
        self.0.fetch_add(1, Ordering::AcqRel) == 0
    }

    /// One leaves. Returns whether it was the last.
    pub(crate) fn departs(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// What the lock of a node protects.
pub(crate) struct State {
    pub(crate) queue: Ring,
    /// Its own leaves that wait to be given something, the latest last. Empty where nodes are
    /// below.
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

    /// Works on its queue, and tells those who do not hold the lock what is left.
    pub(crate) fn with_queue<R>(&self, work: impl FnOnce(&mut Ring) -> R) -> R {
        self.work_on(lock(&self.state), work)
    }

    /// The same unless somebody else does: for one who can look elsewhere.
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
