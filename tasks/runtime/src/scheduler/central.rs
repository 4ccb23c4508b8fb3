//! The scheduler before the thesis: one queue under one lock (N ch. 3).
//!
//! The lock holds the queue and the list of leaves that wait. A leaf waits only while the queue is
//! empty, and a thread that adds a task looks at both in one step, so that no leaf is forgotten.
//! The [forms](Form) differ in small steps, each checked at its place.

mod queue;

use std::ptr;

use crossbeam_utils::CachePadded;

use self::queue::Queue;
use super::leaf::{LOOK, Leaf, POLLS};
use super::node::IdleWorkers;
use super::{Form, Order, StepsSum};
use crate::queued::Queued;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, lock, spin_loop};

/// One queue of ready tasks for all workers.
///
/// Of a leaf, the scheduler uses three parts: slot, parker, and inbox for the immediate successor.
pub(crate) struct Central {
    leaves: Box<[CachePadded<Leaf>]>,
    state: CachePadded<Mutex<State>>,
    /// Tasks in the queue, for workers that do not hold the lock.
    queued: CachePadded<AtomicUsize>,
    idle_workers: CachePadded<IdleWorkers>,
    form: Form,
    /// How many tasks make the queue full.
    full: usize,
}

/// State under the lock.
struct State {
    queue: Queue,
    /// Leaves that wait, the latest last: those that still poll are taken before those that sleep.
    waiting: Vec<usize>,
}

// SAFETY: a task in the queue or in an inbox belongs to the worker that takes the task, and any
// worker may run the task: `add` requires this. All else is atomic or under the lock.
unsafe impl Sync for Central {}
// SAFETY: queued tasks may be run by any worker, and nothing else is bound to a thread.
unsafe impl Send for Central {}

impl Central {
    /// A queue for `workers` workers, which is full with `full` tasks.
    pub(crate) fn new(workers: usize, form: Form, full: usize) -> Self {
        let leaf = |number| CachePadded::new(Leaf::new(number, 0, Order::Lifo));
        let state = State { queue: Queue::new(form), waiting: Vec::with_capacity(workers) };
        Self {
            leaves: (0..workers).map(leaf).collect(),
            state: CachePadded::new(Mutex::new(state)),
            queued: CachePadded::new(AtomicUsize::new(0)),
            idle_workers: CachePadded::default(),
            form,
            full,
        }
    }

    pub(crate) fn leaf(&self, leaf: usize) -> &Leaf {
        &self.leaves[leaf]
    }

    /// Whether workers without tasks wait in a slot instead of asking again and again (N 3.1.1).
    pub(crate) fn has_slots(&self) -> bool {
        self.form.has_slots()
    }

    /// Adds a task: to a polling slot, or to the queue and then wakes a waiting worker (N 3.1.1).
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    #[inline(never)]
    pub(crate) unsafe fn add(&self, task: *mut Queued) {
        let mut state = lock(&self.state);
        let waiting = state.waiting.pop();
        let gift = if waiting.is_some() && self.form.has_slots() {
            // SAFETY: the caller has the task; a list of one.
            unsafe { (*task).next.set(ptr::null_mut()) };
            task
        } else {
            // SAFETY: the task is alive and in no queue.
            unsafe { state.queue.add(task) };
            self.tell_length(&state);
            LOOK
        };
        drop(state);
        if let Some(leaf) = waiting {
            self.leaf(leaf).give(gift);
        }
    }

    /// Adds a task that became ready as another one finished here: the first runs next (N 3.1.2).
    ///
    /// # Safety
    /// The caller is the leaf's worker; the task is alive, in no queue, and may run on any worker.
    #[inline(never)]
    pub(crate) unsafe fn add_successor(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: this thread is the leaf's worker, and the task is in no queue.
        unsafe {
            if self.form.has_successor() && leaf.inbox.is_empty() {
                leaf.inbox.push(task);
            } else {
                self.add(task);
            }
        }
    }

    /// Other code goes on here: the immediate successor moves to the queue, for all workers.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    #[inline(never)]
    pub(crate) unsafe fn hand_on(&self, leaf: &Leaf) {
        let successor = leaf.inbox.take_all();
        if !successor.is_null() {
            // SAFETY: this worker took the task from the inbox; nothing else has the task.
            unsafe { self.add(successor) };
        }
    }

    /// Takes the immediate successor, or else a task of the queue.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    #[inline(never)]
    pub(crate) unsafe fn take(&self, leaf: &Leaf) -> Option<*mut Queued> {
        let successor = leaf.inbox.take_all();
        if !successor.is_null() {
            return Some(successor);
        }
        self.one(&mut lock(&self.state))
    }

    /// Takes a task that is wanted: the leaf's successor, one of the queue, or another leaf's
    /// successor.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn take_if(
        &self,
        leaf: usize,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        // SAFETY: this worker took the task from an inbox; nothing else has the task.
        let successor_of = |leaf: usize| unsafe {
            let one = self.leaf(leaf).inbox.take_all();
            if one.is_null() || wanted(one) {
                return (!one.is_null()).then_some(one);
            }
            self.add(one);
            None
        };
        let queued = || {
            let mut state = lock(&self.state);
            let one = state.queue.one_if(&wanted);
            self.tell_length(&state);
            one
        };
        let others = (leaf + 1..self.leaves.len()).chain(0..leaf);
        successor_of(leaf).or_else(queued).or_else(|| others.into_iter().find_map(successor_of))
    }

    /// Workers that have nothing to run.
    pub(crate) fn idle_workers(&self) -> &IdleWorkers {
        &self.idle_workers
    }

    /// How many tasks lie in the queue, as far as one can see.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Steps of all leaves until now.
    pub(crate) fn steps(&self) -> StepsSum {
        self.leaves.iter().fold(StepsSum::default(), |sum, leaf| sum.of(&leaf.steps))
    }

    /// Whether the next task may be run at once.
    pub(crate) fn is_full(&self) -> bool {
        self.queued.load(Ordering::Relaxed) >= self.full
    }

    /// Whether the queue has as many tasks as `enough`; then no worker waits for one.
    pub(crate) fn has(&self, enough: usize) -> bool {
        self.queued.load(Ordering::Relaxed) >= enough
    }

    /// A worker that was notified of a task has other work, and notifies another worker.
    pub(crate) fn gives_up(&self) {
        let mut state = lock(&self.state);
        if state.queue.is_empty() {
            return;
        }
        let waiting = state.waiting.pop();
        drop(state);
        if let Some(leaf) = waiting {
            self.leaf(leaf).give(LOOK);
        }
    }

    /// Waits for a task, in a slot or asleep, or until `stop` holds; the thread that makes `stop`
    /// hold unparks the leaf. Given no task, the worker looks for tasks again.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn wait(&self, leaf: usize, stop: impl Fn() -> bool) -> Option<*mut Queued> {
        let mut state = lock(&self.state);
        if let Some(one) = self.one(&mut state) {
            return Some(one);
        }
        state.waiting.push(leaf);
        drop(state);
        let at = self.leaf(leaf);
        at.steps.waits.add(1);
        let mut polls = if self.form.has_slots() { POLLS } else { 0 };
        loop {
            if let Some(gift) = at.given() {
                at.steps.gifts.add(1);
                return (gift != LOOK).then_some(gift);
            }
            if stop() {
                if self.withdraw(leaf) {
                    return None;
                }
                // Another worker has claimed this leaf and will give a task, and would wake us for
                // nothing later.
                at.await_gift();
            } else if polls > 0 {
                polls -= 1;
                spin_loop();
            } else {
                at.parker.park();
            }
        }
    }

    /// Wakes all sleeping workers.
    pub(crate) fn wake_all(&self) {
        self.leaves.iter().for_each(|leaf| leaf.parker.unpark());
    }

    /// Removes the leaf from the waiting leaves; fails if another worker has claimed this one.
    fn withdraw(&self, leaf: usize) -> bool {
        let mut state = lock(&self.state);
        let place = state.waiting.iter().position(|&waiting| waiting == leaf);
        place.map(|place| state.waiting.remove(place)).is_some()
    }

    fn one(&self, state: &mut MutexGuard<'_, State>) -> Option<*mut Queued> {
        let one = state.queue.one()?;
        self.tell_length(state);
        Some(one)
    }

    /// Stores the length of the queue for workers that do not hold the lock.
    fn tell_length(&self, state: &State) {
        self.queued.store(state.queue.len(), Ordering::Relaxed);
    }
}
