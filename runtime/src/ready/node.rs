//! An inner node of the tree: what its children share.

use std::ops::Range;

use super::Order;
use super::local::Ring;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// An inner node: a cache, a NUMA domain, or the whole machine.
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    /// All leaves below it.
    pub(crate) leaves: Range<usize>,
    /// Nodes right below it; none where leaves are.
    pub(crate) nodes: Vec<usize>,
    /// Tasks in its queue, for those who do not hold the lock.
    pub(crate) queued: AtomicUsize,
    /// Leaves below it that wait to be given something.
    pub(crate) idle: AtomicUsize,
    pub(crate) state: Mutex<State>,
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
            idle: AtomicUsize::new(0),
            state: Mutex::new(State { queue: Ring::new(order), idle: Vec::new() }),
        }
    }

    /// Works on its queue, and tells those who do not hold the lock what is left.
    pub(crate) fn with_queue<R>(&self, work: impl FnOnce(&mut Ring) -> R) -> R {
        let mut state = lock(&self.state);
        let result = work(&mut state.queue);
        self.queued.store(state.queue.len(), Ordering::Relaxed);
        result
    }

    /// Whether its queue seems to have a task.
    pub(crate) fn has_queued(&self) -> bool {
        self.queued.load(Ordering::Relaxed) > 0
    }
}
