//! Which task runs next, and where: the schedulers.
//!
//! A scheduler holds tasks that are ready and decides nothing else: it never runs one. Workers add
//! what became ready and take what they run; each uses the leaf of its CPU as the way in.
//!
//! Programs see the parts of [`crate::Config`].

mod central;
mod classes;
mod config;
mod deque;
mod leaf;
mod local;
#[cfg(all(test, loom))]
mod loom_tests;
mod node;
mod seek;
mod steps;
mod threshold;
mod tree;
mod urgent;

use central::Central;
pub use config::{Batch, Feed, Form, Limit, Order, SchedulerConfig, TreeConfig};
pub(crate) use leaf::Leaf;
pub(crate) use node::IdleWorkers;
pub(crate) use steps::StepsSum;
pub(crate) use threshold::Threshold;
use tree::Tree;

use crate::queued::Queued;
use crate::sync::{Barrier, Ordering};
use crate::topology::Topology;

/// Holds the tasks that are ready, for all workers of a runtime.
///
/// The variant never changes, so that a match costs a branch that the CPU always predicts.
pub(crate) enum Scheduler {
    Tree(Tree),
    Central(Central),
}

impl Scheduler {
    /// The scheduler of a machine. A worker with `full` tasks has enough for others.
    pub(crate) fn new(
        machine: &Topology,
        config: SchedulerConfig,
        full: usize,
        barrier: Barrier,
    ) -> Self {
        match config {
            SchedulerConfig::Tree(config) => Self::Tree(Tree::new(machine, config, full, barrier)),
            SchedulerConfig::Central(form) => {
                Self::Central(Central::new(machine.cpus(), form, full))
            }
        }
    }

    #[inline]
    pub(crate) fn leaf(&self, leaf: usize) -> &Leaf {
        match self {
            Self::Tree(tree) => tree.leaf(leaf),
            Self::Central(central) => central.leaf(leaf),
        }
    }

    /// Adds a task that became ready at this leaf.
    ///
    /// # Safety
    /// Only the leaf's worker may call it; the task is alive, in no queue, and may be run by any
    /// worker.
    #[inline]
    pub(crate) unsafe fn add(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add(leaf, task),
                Self::Central(central) => central.add(task),
            }
        }
    }

    /// The same of a task that may have a priority.
    ///
    /// # Safety
    /// As of [`Scheduler::add`].
    #[inline]
    pub(crate) unsafe fn add_in_turn(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add_in_turn(leaf, task),
                Self::Central(central) => central.add(task),
            }
        }
    }

    /// Adds a task that became ready as another finished at this leaf.
    ///
    /// # Safety
    /// As of [`Scheduler::add`].
    #[inline]
    pub(crate) unsafe fn add_successor(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add_in_turn(leaf, task),
                Self::Central(central) => central.add_successor(leaf, task),
            }
        }
    }

    /// Code goes on at this leaf that may take no task for long: what only its worker would find is
    /// given to all. In a tree there is nothing that others do not find.
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    #[inline]
    pub(crate) unsafe fn hand_on(&self, leaf: &Leaf) {
        if let Self::Central(central) = self {
            // SAFETY: the caller's promise.
            unsafe { central.hand_on(leaf) };
        }
    }

    /// The threshold, 0 where there is none, and how many tasks lie in queues.
    pub(crate) fn level_and_queued(&self) -> (usize, usize) {
        match self {
            Self::Tree(tree) => tree.level_and_queued(),
            Self::Central(central) => (0, central.queued()),
        }
    }

    /// What it has done until now.
    pub(crate) fn steps(&self) -> StepsSum {
        match self {
            Self::Tree(tree) => tree.steps(),
            Self::Central(central) => central.steps(),
        }
    }

    /// Whether the next task of this leaf may be run at once.
    #[inline]
    pub(crate) fn is_full(&self, leaf: &Leaf) -> bool {
        match self {
            Self::Tree(tree) => leaf.is_full(tree.threshold()),
            Self::Central(central) => central.is_full(),
        }
    }

    /// Whether others find as many tasks here as `enough`, and nobody sleeps for want of one.
    #[inline]
    pub(crate) fn has(&self, leaf: &Leaf, enough: usize) -> bool {
        match self {
            Self::Tree(tree) => leaf.has(tree.threshold(), enough),
            Self::Central(central) => central.has(enough),
        }
    }

    /// How many tasks lie above a leaf, or in the queue of all workers.
    pub(crate) fn queued_above(&self, leaf: &Leaf) -> usize {
        match self {
            Self::Tree(tree) => tree.queued_above(leaf),
            Self::Central(central) => central.queued(),
        }
    }

    /// Whether any queue has a task, as far as one can see.
    pub(crate) fn has_any(&self, leaf: usize) -> bool {
        match self {
            Self::Tree(tree) => tree.has_any(leaf),
            Self::Central(central) => central.has(1),
        }
    }

    /// Adds a task from a thread that is no worker.
    ///
    /// # Safety
    /// The task may be run by any worker.
    pub(crate) unsafe fn add_from_outside(&self, task: *mut Queued) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add_from_outside(task),
                Self::Central(central) => central.add(task),
            }
        }
    }

    /// Takes a task that is already here.
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    #[inline]
    pub(crate) unsafe fn take(&self, leaf: &Leaf) -> Option<*mut Queued> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.take(leaf),
                Self::Central(central) => central.take(leaf),
            }
        }
    }

    /// Takes a task that is wanted, wherever it is. Moves no others away from workers that look.
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    pub(crate) unsafe fn take_if(
        &self,
        leaf: usize,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.take_if(leaf, wanted),
                Self::Central(central) => central.take_if(leaf, wanted),
            }
        }
    }

    /// Whether a worker without tasks is to wait at once, since it polls while it waits.
    pub(crate) fn has_slots(&self) -> bool {
        match self {
            Self::Tree(_) => false,
            Self::Central(central) => central.has_slots(),
        }
    }

    /// A worker begins to search for tasks; the search ends with [`Scheduler::found`] or
    /// [`Scheduler::gives_up`].
    pub(crate) fn looks(&self, leaf: usize) {
        if let Self::Tree(tree) = self {
            tree.looks(leaf);
        }
    }

    /// The threshold of a tree.
    pub(crate) fn threshold(&self) -> Option<&Threshold> {
        match self {
            Self::Tree(tree) => Some(tree.threshold()),
            Self::Central(_) => None,
        }
    }

    /// Workers near this leaf that have nothing to run: where to look whether anybody has. In a
    /// tree those of its node, so that creators do not all read what every idle worker writes.
    pub(crate) fn idle_workers(&self, leaf: &Leaf) -> &IdleWorkers {
        match self {
            Self::Tree(tree) => tree.idle_workers(leaf),
            Self::Central(central) => central.idle_workers(),
        }
    }

    /// The worker of this leaf has nothing to run.
    pub(crate) fn set_idle(&self, leaf: &Leaf) {
        self.idle_workers(leaf).any.fetch_add(1, Ordering::Relaxed);
    }

    /// It has again.
    pub(crate) fn set_busy(&self, leaf: &Leaf) {
        self.idle_workers(leaf).any.fetch_sub(1, Ordering::Relaxed);
    }

    /// It has looked for long enough.
    pub(crate) fn falls_asleep(&self, leaf: &Leaf) {
        // Pairs with `count_asleep`: of several, the last sees all.
        self.idle_workers(leaf).asleep.fetch_add(1, Ordering::SeqCst);
    }

    /// It looks again.
    pub(crate) fn wakes_up(&self, leaf: &Leaf) {
        self.idle_workers(leaf).asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// How many workers have nothing to run.
    pub(crate) fn count_idle(&self) -> usize {
        self.count_idle_workers(|idle| idle.any.load(Ordering::Relaxed))
    }

    /// How many of them have looked for long enough.
    pub(crate) fn count_asleep(&self) -> usize {
        self.count_idle_workers(|idle| idle.asleep.load(Ordering::SeqCst))
    }

    fn count_idle_workers(&self, count: impl Fn(&IdleWorkers) -> usize) -> usize {
        match self {
            Self::Tree(tree) => tree.all_idle_workers().map(count).sum(),
            Self::Central(central) => count(central.idle_workers()),
        }
    }

    /// It found some.
    pub(crate) fn found(&self, leaf: usize) {
        if let Self::Tree(tree) = self {
            tree.found(leaf);
        }
    }

    /// It found none, and has something else to do.
    pub(crate) fn gives_up(&self, leaf: usize) {
        match self {
            Self::Tree(tree) => tree.gives_up(leaf),
            Self::Central(central) => central.gives_up(),
        }
    }

    /// Asks others for tasks; there are none but a tree's.
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    pub(crate) unsafe fn seek(&self, leaf: usize) -> Option<*mut Queued> {
        match self {
            // SAFETY: the caller's promise.
            Self::Tree(tree) => unsafe { tree.seek(leaf) },
            Self::Central(_) => None,
        }
    }

    /// Asks others once, before it is said that the worker looks.
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    pub(crate) unsafe fn try_steal_once(&self, leaf: usize) -> Option<*mut Queued> {
        match self {
            // SAFETY: the caller's promise.
            Self::Tree(tree) => unsafe { tree.try_steal_once(leaf) },
            Self::Central(_) => None,
        }
    }

    /// Waits to be given tasks, at last asleep, or until `stop` holds; whoever makes it hold
    /// unparks the leaf.
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    pub(crate) unsafe fn wait(&self, leaf: usize, stop: impl Fn() -> bool) -> Option<*mut Queued> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.wait(leaf, stop),
                Self::Central(central) => central.wait(leaf, stop),
            }
        }
    }

    /// Puts all tasks where everybody finds the one that it wants.
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    pub(crate) unsafe fn expose(&self, leaf: usize) {
        if let Self::Tree(tree) = self {
            // SAFETY: the caller's promise.
            unsafe { tree.expose(leaf) };
        }
    }

    /// Whether the leaf's worker sleeps, and was not told anything.
    pub(crate) fn is_asleep(&self, leaf: usize) -> bool {
        self.leaf(leaf).parker.is_asleep()
    }

    /// Wakes all who sleep, since what they wait for may have happened.
    pub(crate) fn wake_all(&self) {
        match self {
            Self::Tree(tree) => tree.wake_all(),
            Self::Central(central) => central.wake_all(),
        }
    }

    /// Gives all its tasks to others, as its CPU is taken away (N 4.1.5).
    ///
    /// # Safety
    /// Only the leaf's worker may call it.
    pub(crate) unsafe fn disable(&self, leaf: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Tree(tree) => tree.disable(leaf),
                Self::Central(central) => central.hand_on(central.leaf(leaf)),
            }
        }
    }
}
