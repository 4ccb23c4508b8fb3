//! The scheduler of the thesis: queues in the shape of the machine (N ch. 4).
//!
//! Each CPU has a leaf, each cache and NUMA domain a node, and the machine the root. Tasks go up
//! from a queue over the threshold, and down to a worker without tasks. The steps are N's;
//! Ours are [`Feed::Pull`] and the rule that a leaf's queue belongs to its worker.

use std::ptr;

use crossbeam_utils::CachePadded;

use super::leaf::{LOOK, Leaf};
use super::node::{IdleWorkers, Node, Presence, State};
use super::threshold::Threshold;
use super::urgent::Urgent;
use super::{Batch, Feed, StepsSum, TreeConfig};
use crate::queued::Queued;
use crate::sync::{AsymmetricFence, AtomicUsize, Ordering, lock, try_lock};
use crate::topology::Topology;

/// The most tasks that one reply or one overflow moves.
const BATCH_MAX: usize = 4096;
/// While a worker searches, a leaf keeps this many tasks, where the searcher finds them: moving
/// each task up would take a lock for each.
const KEPT: usize = 16;

/// A tree of queues of ready tasks.
pub(crate) struct Tree {
    pub(super) leaves: Box<[CachePadded<Leaf>]>,
    /// The root is the first.
    pub(super) nodes: Box<[CachePadded<Node>]>,
    pub(super) threshold: CachePadded<Threshold>,
    pub(super) config: TreeConfig,
    pub(super) fence: AsymmetricFence,
    /// The leaf of the next task from a thread that is no worker: in cyclic order, not at random.
    outside: CachePadded<AtomicUsize>,
    /// Tasks in inboxes.
    pub(super) sent: CachePadded<AtomicUsize>,
    pub(super) urgent: CachePadded<Urgent>,
}

// SAFETY: fields that are neither atomic nor under a lock are used by a leaf's worker alone, in
// unsafe functions that require this. Any worker may run a queued task: `add` requires this.
unsafe impl Sync for Tree {}
// SAFETY: a tree holds queued tasks, which any worker may run, and nothing bound to a thread.
unsafe impl Send for Tree {}

impl Tree {
    /// The tree of a machine. A leaf with `full` tasks is full: its worker may inline the next.
    pub(crate) fn new(
        machine: &Topology,
        config: TreeConfig,
        full: usize,
        fence: AsymmetricFence,
    ) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut wider: Vec<usize> = Vec::new();
        for groups in machine.levels.iter().rev() {
            let first = nodes.len();
            for group in groups {
                let parent =
                    wider.iter().copied().find(|&node| nodes[node].leaves.contains(&group.start));
                if let Some(parent) = parent {
                    let this = nodes.len();
                    nodes[parent].nodes.push(this);
                }
                nodes.push(Node::new(parent, group.clone(), config.order));
            }
            wider = (first..nodes.len()).collect();
        }
        let parent_of = |leaf: usize| {
            wider.iter().copied().find(|&node| nodes[node].leaves.contains(&leaf)).unwrap_or(0)
        };
        let kept = if config.feed == Feed::Pull { KEPT } else { 0 };
        let leaf = |number: usize| Leaf::new(number, parent_of(number), config.order);
        Self {
            leaves: (0..machine.cpus()).map(|number| CachePadded::new(leaf(number))).collect(),
            nodes: nodes.into_iter().map(CachePadded::new).collect(),
            threshold: CachePadded::new(Threshold::new(config.limit, kept, full)),
            config,
            fence,
            outside: CachePadded::new(AtomicUsize::new(0)),
            sent: CachePadded::new(AtomicUsize::new(0)),
            urgent: CachePadded::new(Urgent::new()),
        }
    }

    #[inline]
    pub(crate) fn leaf(&self, leaf: usize) -> &Leaf {
        &self.leaves[leaf]
    }

    /// Adds a task that became ready at this leaf (N 4.1.1).
    ///
    /// # Safety
    /// The caller is the leaf's worker; the task is alive, in no queue, and may run on any worker.
    #[inline]
    pub(crate) unsafe fn add(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: this thread is the leaf's worker, and the task is in no queue.
        let len = unsafe { leaf.local.push(task) };
        // Pairs with `wait`: either the sleeper sees the task, or we see that the tree is hungry.
        self.fence.light();
        if len > self.threshold.of_leaf() {
            // SAFETY: this thread is the leaf's worker.
            unsafe { self.overflow(leaf, len) };
        }
    }

    /// Adds a task that became ready at this leaf, and that may have a priority.
    ///
    /// # Safety
    /// The caller is the leaf's worker; the task is alive, in no queue, and may run on any worker.
    #[inline]
    pub(crate) unsafe fn add_by_priority(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: the task is alive and in no queue, and this thread is the leaf's worker.
        unsafe {
            match (*task).priority {
                1.. => self.add_urgent(task),
                _ => self.add(leaf, task),
            }
        }
    }

    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    #[cold]
    unsafe fn add_urgent(&self, task: *mut Queued) {
        // SAFETY: the task is alive and in no queue.
        unsafe { self.urgent.add(task) };
        // Pairs with `wait`, as in `add`.
        self.fence.light();
        if self.threshold.is_hungry() {
            self.wake_one();
        }
    }

    /// The threshold, and about how many tasks lie in queues, which are not locked for the count.
    pub(crate) fn threshold_and_queued(&self) -> (usize, usize) {
        let at_leaves: usize = self.leaves.iter().map(|leaf| leaf.local.len()).sum();
        let above = self.nodes.iter().map(|node| node.queued.load(Ordering::Relaxed));
        (self.threshold.value(), at_leaves + above.sum::<usize>())
    }

    /// Tasks in the queues above a leaf.
    pub(crate) fn queued_above(&self, leaf: &Leaf) -> usize {
        let first = &self.nodes[leaf.parent];
        let above = std::iter::successors(Some(first), |node| Some(&self.nodes[node.parent?]));
        above.map(|node| node.queued.load(Ordering::Relaxed)).sum()
    }

    /// Steps of all leaves until now.
    pub(crate) fn steps(&self) -> StepsSum {
        let all = self.leaves.iter().fold(StepsSum::default(), |sum, leaf| sum.of(&leaf.steps));
        StepsSum { rises: self.threshold.rises(), ..all }
    }

    pub(crate) fn threshold(&self) -> &Threshold {
        &self.threshold
    }

    /// The count of idle workers of the leaf's node.
    #[inline]
    pub(crate) fn idle_workers(&self, leaf: &Leaf) -> &IdleWorkers {
        &self.nodes[leaf.parent].idle_workers
    }

    /// The counts of all nodes.
    pub(crate) fn all_idle_workers(&self) -> impl Iterator<Item = &IdleWorkers> {
        self.nodes.iter().map(|node| &*node.idle_workers)
    }

    /// Adds a task from a thread that is no worker: to a leaf that waits, or to any (N 4.1.1).
    ///
    /// # Safety
    /// The task may be run by any worker.
    pub(crate) unsafe fn add_from_outside(&self, task: *mut Queued) {
        if let Some(leaf) = self.claim(&self.nodes[0]) {
            self.hand(leaf, &mut vec![task]);
            return;
        }
        if let Feed::Give { .. } = self.config.feed {
            // No worker takes from the inbox of a leaf that has no worker now.
            return self.add_set(0, &mut vec![task]);
        }
        let any = self.outside.fetch_add(1, Ordering::Relaxed) % self.leaves.len();
        self.sent.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the task is alive and in no other list.
        unsafe { self.leaf(any).inbox.push(task) };
        // Pairs with `wait`.
        self.fence.heavy();
        self.wake_one();
    }

    /// Takes a task that is already here: given, queued, or left in the inbox.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    #[inline]
    pub(crate) unsafe fn take(&self, leaf: &Leaf) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            if !self.urgent.is_empty()
                && let Some(one) = self.urgent.one()
            {
                return Some(one);
            }
            let one = leaf.local.one();
            if one.is_some() || leaf.inbox.is_empty() {
                return one;
            }
            self.take_sent(leaf)
        }
    }

    #[cold]
    unsafe fn take_sent(&self, leaf: &Leaf) -> Option<*mut Queued> {
        // SAFETY: only the leaf's worker uses `moved`, in one function at a time.
        let moved = unsafe { &mut *leaf.moved.get() };
        self.empty_inbox(leaf, moved);
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.keep(leaf, moved) }
    }

    /// Puts a list into the leaf's queue and takes a task from it.
    pub(super) unsafe fn take_list(&self, leaf: &Leaf, list: *mut Queued) -> Option<*mut Queued> {
        let mut next = list;
        while !next.is_null() && next != LOOK {
            let task = next;
            // SAFETY: a list was given to this worker alone; its tasks are alive.
            unsafe {
                next = (*task).next.get();
                leaf.local.push(task);
            }
        }
        // SAFETY: the caller is the leaf's worker.
        unsafe { leaf.local.one() }
    }

    /// Sends part of the leaf's queue to its parent.
    #[cold]
    unsafe fn overflow(&self, leaf: &Leaf, len: usize) {
        // SAFETY: only the leaf's worker uses `moved`, in one function at a time.
        let moved = unsafe { &mut *leaf.moved.get() };
        leaf.local.set(self.batch(len), moved);
        if !moved.is_empty() {
            leaf.steps.overflows.add(1);
            self.add_set(leaf.parent, moved);
        }
    }

    /// How many of `len` tasks move at once.
    pub(super) fn batch(&self, len: usize) -> usize {
        self.half(len).min(BATCH_MAX)
    }

    /// Half of `len` tasks, or of the threshold, by the configuration; `BATCH_MAX` is no limit.
    pub(super) fn half(&self, len: usize) -> usize {
        match self.config.batch {
            Batch::HalfQueue => len.div_ceil(2),
            Batch::HalfThreshold => (self.threshold.value() / 2).max(1),
        }
    }

    /// A node, and those above it.
    pub(super) fn from(&self, node: usize) -> impl Iterator<Item = &Node> {
        let parent = |node: &&Node| node.parent.map(|parent| &*self.nodes[parent]);
        std::iter::successors(Some(&*self.nodes[node]), parent)
    }

    /// Gives a set to a leaf below `node` that waits, or else keeps the set in `node`, or sends
    /// half on.
    pub(super) fn add_set(&self, node: usize, set: &mut Vec<*mut Queued>) {
        let mut next = Some(node);
        while let Some(node) = next {
            if let Some(leaf) = self.claim(&self.nodes[node]) {
                return self.hand(leaf, set);
            }
            let at = &self.nodes[node];
            next = at.with_queue(|queue| {
                queue.add(set.drain(..));
                if queue.len() <= self.threshold.value() {
                    return None;
                }
                match at.parent {
                    Some(_) => _ = queue.set(self.batch(queue.len()), set),
                    None => self.threshold.rise(),
                }
                at.parent
            });
        }
        // A leaf that began to wait meanwhile has not seen these tasks, or we see the leaf now.
        self.fence.light();
        if self.nodes[0].idle.is_some() {
            self.wake_one();
        }
    }

    /// Wakes a waiting leaf, if any, so that its worker looks for tasks.
    pub(super) fn wake_one(&self) {
        if let Some(leaf) = self.claim(&self.nodes[0]) {
            self.hand(leaf, &mut Vec::new());
        }
    }

    /// Takes a leaf below `node` out of those that wait; the caller must then give the leaf a set.
    pub(super) fn claim(&self, node: &Node) -> Option<usize> {
        if !node.idle.is_some() {
            return None;
        }
        if !node.nodes.is_empty() {
            return node.nodes.iter().find_map(|&below| self.claim(&self.nodes[below]));
        }
        self.claim_one(&mut lock(&node.state))
    }

    /// Claims a waiting leaf below `node` as `claim` does, but skips nodes whose lock is
    /// held; the choice among several depends on the number of the caller's leaf.
    pub(super) fn claim_free(&self, node: &Node, number: usize) -> Option<usize> {
        if !node.idle.is_some() {
            return None;
        }
        if node.nodes.is_empty() {
            let mut state = try_lock(&node.state)?;
            return self.claim_one(&mut state);
        }
        let from = number % node.nodes.len();
        let order = node.nodes[from..].iter().chain(&node.nodes[..from]);
        order.into_iter().find_map(|&below| self.claim_free(&self.nodes[below], number))
    }

    fn claim_one(&self, state: &mut State) -> Option<usize> {
        let leaf = state.idle.pop()?;
        let parent = self.leaf(leaf).parent;
        self.depart(parent, |node| &node.idle);
        self.begins_to_look(parent);
        Some(leaf)
    }

    /// A leaf right below a node waits. Where one does, all nodes above have counted that already:
    /// a thread that has a task for the leaf, or ends its wait, looks at the root alone.
    pub(super) fn begins_to_wait(&self, node: usize) {
        let here = &self.nodes[node].idle;
        let Some(parent) = self.nodes[node].parent else {
            here.arrives();
            return;
        };
        while !here.joins() {
            self.begins_to_wait(parent);
            if here.begins() {
                return;
            }
            self.depart(parent, |node| &node.idle);
        }
    }

    /// One member leaves. Returns whether none is left below the root.
    pub(super) fn depart(&self, node: usize, of: fn(&Node) -> &Presence) -> bool {
        self.from(node).all(|node| of(node).departs())
    }

    /// One more worker right below a node looks for tasks.
    pub(super) fn begins_to_look(&self, node: usize) {
        if self.config.feed == Feed::Pull {
            // A second worker goes on before the first has told the nodes above. If a worker then
            // reads that none searches, one sleeper too many is woken.
            self.from(node).take_while(|node| node.looking.arrives()).for_each(drop);
            self.threshold.is_looked_for();
        }
    }

    /// A worker stops looking. Returns whether now none looks, and some sleep.
    pub(super) fn ends_to_look(&self, node: usize) -> bool {
        let starves = self.depart(node, |node| &node.looking) && self.nodes[0].idle.is_some();
        if starves {
            self.threshold.starves();
        }
        starves
    }

    /// Gives a set, which may be empty, to a leaf that was claimed.
    pub(super) fn hand(&self, leaf: usize, set: &mut Vec<*mut Queued>) {
        let mut list = LOOK;
        for task in set.drain(..).rev() {
            // SAFETY: the tasks of `set` are alive, and belong to this worker until they are given.
            unsafe { (*task).next.set(if list == LOOK { ptr::null_mut() } else { list }) };
            list = task;
        }
        self.leaf(leaf).give(list);
    }
}
