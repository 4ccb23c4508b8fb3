//! A worker without tasks asks the nodes above, looks at other leaves, and at last waits.

use super::Feed;
use super::leaf::{Leaf, POLLS};
use super::local::Ring;
use super::node::Node;
use super::tree::Tree;
use crate::queued::Queued;
use crate::sync::{Ordering, fence, lock, spin_loop};

/// Leaves of a level that one search looks at, if the level has more.
const LOOKED_AT: usize = 32;
/// A worker wakes one more worker for every two tasks that the search finds, up to two workers.
const TASKS_TO_WAKE_FOR: usize = 2;
/// See [`TASKS_TO_WAKE_FOR`].
const WAKES_MAX: usize = 2;

impl Tree {
    /// The leaf's worker begins to search, until [`Tree::found`] or [`Tree::gives_up`].
    pub(crate) fn looks(&self, leaf: usize) {
        self.begins_to_look(self.leaf(leaf).parent);
    }

    /// The leaf's worker ends its search, and wakes other workers if tasks are left behind.
    pub(crate) fn found(&self, leaf: usize) {
        if self.config.feed != Feed::Pull {
            return;
        }
        self.wake_for(leaf);
        if !self.ends_to_look(self.leaf(leaf).parent) {
            return;
        }
        // Pairs with `add`: an adder whose task we do not see here sees that the tree is hungry.
        self.fence.heavy();
        if self.has_any(leaf) {
            self.wake_one();
        }
    }

    /// Wakes workers for the tasks that a leaf has beside the one that runs: if each worker wakes
    /// two, the largest machine is awake after a few steps.
    fn wake_for(&self, leaf: usize) {
        let found = self.leaf(leaf).local.len();
        for _ in 0..(found / TASKS_TO_WAKE_FOR).min(WAKES_MAX) {
            let mut above = self.from(self.leaf(leaf).parent);
            let Some(asleep) = above.find_map(|node| self.claim_free(node, leaf)) else { return };
            self.hand(asleep, &mut Vec::new());
        }
    }

    /// The leaf's worker ends its search without a task, for other work.
    pub(crate) fn gives_up(&self, leaf: usize) {
        self.found(leaf);
    }

    /// Makes one whole pass over nodes and leaves, while the worker still counts as busy. Mostly a
    /// task is found, and no counter of a node changes: workers that change one wait for its cache
    /// line.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn try_steal_once(&self, leaf: usize) -> Option<*mut Queued> {
        if self.config.feed != Feed::Pull {
            return None;
        }
        // SAFETY: this thread is the leaf's worker.
        let found = unsafe { self.seek(leaf) }?;
        self.wake_for(leaf);
        // Pairs with `wait`, as in `add`: a worker that fell asleep meanwhile did not see the set.
        self.fence.light();
        if self.threshold.is_hungry() && self.leaf(leaf).local.len() > 0 {
            self.wake_one();
        }
        Some(found)
    }

    /// Asks the nodes above, the nearest first; if the root has no task either, lowers the
    /// threshold for all workers and takes from leaves that are now above it (N 4.1.2, 4.2). Each
    /// call lowers the threshold once.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn seek(&self, leaf: usize) -> Option<*mut Queued> {
        // SAFETY: only the leaf's worker uses `moved`, in one function at a time.
        let moved = unsafe { &mut *self.leaf(leaf).moved.get() };
        let steps = &self.leaf(leaf).steps;
        steps.requests.add(1);
        if self.from(self.leaf(leaf).parent).any(|node| self.ask(node, moved)) {
            steps.fetches.add(1);
            // SAFETY: this thread is the leaf's worker.
            return unsafe { self.keep(self.leaf(leaf), moved) };
        }
        let fell = self.threshold.fall();
        steps.falls.add(usize::from(fell));
        match self.config.feed {
            Feed::Pull => {
                self.pull(leaf, moved);
                steps.pulls.add(usize::from(!moved.is_empty()));
                // SAFETY: this thread is the leaf's worker.
                unsafe { self.keep(self.leaf(leaf), moved) }
            }
            Feed::Give { rebalance } => {
                if fell && rebalance {
                    self.rebalance(moved);
                }
                None
            }
        }
    }

    /// Takes one task that `wanted` accepts: the leaf's youngest, one of a node above, or the
    /// oldest of another leaf. Moves no other task.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn take_if(
        &self,
        leaf: usize,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        let at = self.leaf(leaf);
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            if let Some(one) = self.take(at) {
                if wanted(one) {
                    return Some(one);
                }
                self.add_by_priority(at, one);
            }
        }
        if let Some(one) = self.urgent.one_if(&wanted) {
            return Some(one);
        }
        let above = self.from(at.parent).filter(|node| node.has_queued());
        for node in above {
            if let Some(one) = node.with_queue(|queue| queue.one_if(&wanted)) {
                return Some(one);
            }
        }
        let others = (leaf + 1..self.leaves.len()).chain(0..leaf);
        let one = others.into_iter().find_map(|other| self.leaf(other).local.oldest_if(&wanted));
        if one.is_none() {
            // While we looked at the only task of a queue, the queue seemed empty, and its worker
            // may have gone to sleep. Pairs with `wait`: the worker sees the task again, or we see
            // that the tree is hungry.
            self.fence.light();
            if self.threshold.is_hungry() && self.has_any(leaf) {
                self.wake_one();
            }
        }
        one
    }

    /// Moves a set of a node's queue to `moved`; returns whether the queue had any task.
    fn ask(&self, node: &Node, moved: &mut Vec<*mut Queued>) -> bool {
        let most = self.threshold.value().max(1);
        let take = |queue: &mut Ring| queue.set(self.batch(queue.len()).min(most), moved);
        node.has_queued() && node.with_free_queue(take).is_some_and(|taken| taken > 0)
    }

    /// Puts a set into the leaf's queue and takes a task from it.
    pub(super) unsafe fn keep(
        &self,
        leaf: &Leaf,
        set: &mut Vec<*mut Queued>,
    ) -> Option<*mut Queued> {
        leaf.steps.moved.add(set.len());
        for task in set.drain(..) {
            // SAFETY: the caller is the leaf's worker.
            unsafe { leaf.local.push(task) };
        }
        // SAFETY: this thread is the leaf's worker.
        unsafe { leaf.local.one() }
    }

    /// Takes tasks above the threshold from a leaf, at most half of its tasks. The nearest leaves
    /// come first; of each level at most `LOOKED_AT` leaves, and the next search begins with the
    /// following ones: a look at a queue takes the cache line from its owner.
    fn pull(&self, leaf: usize, moved: &mut Vec<*mut Queued>) {
        let threshold = self.threshold.value();
        let mut seen = leaf..leaf + 1;
        let first = self.leaf(leaf).next_victim.get();
        self.leaf(leaf).next_victim.set(first.wrapping_add(LOOKED_AT));
        let has_inboxes = self.sent.load(Ordering::Relaxed) > 0;
        for node in self.from(self.leaf(leaf).parent) {
            let around = node.leaves.clone();
            let skipped = first % around.len();
            let order = (around.start + skipped..around.end).chain(around.clone().take(skipped));
            for victim in order.filter(|victim| !seen.contains(victim)).take(LOOKED_AT) {
                let at = self.leaf(victim);
                let len = at.local.len();
                if len > threshold && (len > 1 || self.has_waited(victim)) {
                    at.local.set_unless_taken(self.half(len).min(len - threshold), moved);
                }
                if has_inboxes {
                    self.empty_inbox(at, moved);
                }
                if !moved.is_empty() {
                    return;
                }
            }
            seen = around;
        }
    }

    /// Whether a leaf's only task has been in the queue since a thief last looked. A worker that
    /// creates a task and waits for its end would otherwise lose the task just before running it.
    fn has_waited(&self, leaf: usize) -> bool {
        let leaf = self.leaf(leaf);
        let pushes = leaf.local.pushes();
        // Where nothing is new, nothing is written: the cache line stays shared.
        let is_seen = leaf.noticed.load(Ordering::Relaxed) == pushes;
        if !is_seen {
            leaf.noticed.store(pushes, Ordering::Relaxed);
        }
        is_seen
    }

    /// Takes tasks that threads left in an inbox whose worker has not looked there yet.
    pub(super) fn empty_inbox(&self, leaf: &Leaf, moved: &mut Vec<*mut Queued>) {
        let mut next = leaf.inbox.take_all();
        while !next.is_null() {
            self.sent.fetch_sub(1, Ordering::Relaxed);
            moved.push(next);
            // SAFETY: a list that was taken belongs to this worker; its tasks are alive.
            next = unsafe { (*next).next.get() };
        }
    }

    /// The threshold fell: queues over the threshold move the excess to the node above (N 4.2.2).
    fn rebalance(&self, moved: &mut Vec<*mut Queued>) {
        let threshold = self.threshold.value();
        for leaf in &self.leaves {
            let over = leaf.local.len().saturating_sub(threshold);
            if leaf.local.set(over, moved) > 0 {
                self.add_set(leaf.parent, moved);
            }
        }
        for node in self.nodes.iter().skip(1).rev() {
            let over = node.queued.load(Ordering::Relaxed).saturating_sub(threshold);
            if over == 0 {
                continue;
            }
            node.with_queue(|queue| queue.set(queue.len().saturating_sub(threshold), moved));
            self.add_set(node.parent.unwrap_or(0), moved);
        }
    }

    /// Whether any queue has a task, by counts read without locks; the leaf's own queue first.
    pub(super) fn has_any(&self, leaf: usize) -> bool {
        let holds =
            |leaf: usize| self.leaf(leaf).local.len() > 0 || !self.leaf(leaf).inbox.is_empty();
        holds(leaf)
            || !self.urgent.is_empty()
            || self.nodes.iter().any(|node| node.has_queued())
            || (0..self.leaves.len()).any(holds)
    }

    /// Whether a queue that this leaf may ask has a task.
    fn has_above(&self, leaf: usize) -> bool {
        self.from(self.leaf(leaf).parent).any(Node::has_queued)
            || !self.leaf(leaf).inbox.is_empty()
            || !self.urgent.is_empty()
    }

    /// Waits, asleep, for a task to be given, or until `stop` holds; the thread that makes `stop`
    /// hold unparks the leaf.
    ///
    /// In either case the worker looks for tasks again after the return. Given tasks have been put
    /// into the queue of the leaf, except for the one returned.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn wait(&self, leaf: usize, stop: impl Fn() -> bool) -> Option<*mut Queued> {
        let at = self.leaf(leaf);
        self.begins_to_wait(at.parent);
        at.steps.waits.add(1);
        lock(&self.nodes[at.parent].state).idle.push(leaf);
        let pulls = self.config.feed == Feed::Pull;
        let last = pulls && self.ends_to_look(at.parent);
        if last || !pulls {
            // Pairs with `add`, `add_set`, `add_from_outside`, `add_urgent`, `try_steal_once`
            // and `take_if`.
            self.fence.heavy();
        } else {
            // A worker that still searches finds tasks that are added. Pairs with `wake_all`.
            fence(Ordering::SeqCst);
        }
        let mut stops = if pulls { last && self.has_any(leaf) } else { self.has_above(leaf) };
        let mut polls = if pulls { 0 } else { POLLS };
        loop {
            if let Some(list) = at.given() {
                at.steps.gifts.add(1);
                // SAFETY: this thread is the leaf's worker, and the list was given to this leaf.
                return unsafe { self.take_list(at, list) };
            }
            if stops || stop() {
                if self.withdraw(leaf) {
                    return None;
                }
                // Another worker has claimed this leaf and will give a task, and would wake us for
                // nothing later.
                at.await_gift();
                continue;
            }
            stops = false;
            if polls > 0 {
                polls -= 1;
                spin_loop();
            } else {
                at.parker.park();
            }
        }
    }

    /// Removes the leaf from the waiting leaves; fails if another worker has claimed this one.
    fn withdraw(&self, leaf: usize) -> bool {
        let node = self.leaf(leaf).parent;
        let mut state = lock(&self.nodes[node].state);
        let Some(place) = state.idle.iter().position(|&idle| idle == leaf) else {
            return false;
        };
        state.idle.swap_remove(place);
        drop(state);
        self.depart(node, |node| &node.idle);
        self.begins_to_look(node);
        true
    }

    /// Moves the tasks of all leaves to the root, where each waiting worker finds its descendants.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn expose(&self, leaf: usize) {
        // SAFETY: only the leaf's worker uses `moved`, in one function at a time.
        let moved = unsafe { &mut *self.leaf(leaf).moved.get() };
        for other in &self.leaves {
            if other.local.len() > 0 && other.local.set(usize::MAX, moved) > 0 {
                self.add_set(0, moved);
            }
        }
    }

    /// Wakes every sleeping leaf, since the awaited event may have happened.
    pub(crate) fn wake_all(&self) {
        // Pairs with `wait`: the leaf sees the event, or we see that the leaf sleeps.
        fence(Ordering::SeqCst);
        if self.nodes[0].idle.is_some() {
            self.leaves.iter().for_each(|leaf| leaf.parker.unpark());
        }
    }

    /// Moves all tasks of the leaf to the node above, since its worker is to rest (N 4.1.5).
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn disable(&self, leaf: usize) {
        // SAFETY: only the leaf's worker uses `moved`, in one function at a time.
        let moved = unsafe { &mut *self.leaf(leaf).moved.get() };
        self.leaf(leaf).local.set(usize::MAX, moved);
        self.empty_inbox(self.leaf(leaf), moved);
        if !moved.is_empty() {
            self.add_set(self.leaf(leaf).parent, moved);
        }
    }
}
