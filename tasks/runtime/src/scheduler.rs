//! Which task runs next, and where: the schedulers.
//!
//! A scheduler keeps ready tasks and runs none. Workers add tasks that became ready and take the
//! tasks that they run; each worker uses the leaf of its CPU.
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
#[doc(hidden)]
pub use steps::StepsSum;
pub(crate) use threshold::Threshold;
use tree::Tree;

use crate::queued::Queued;
use crate::sync::{AsymmetricFence, Ordering};
use crate::topology::Topology;

/// Keeps the ready tasks of all workers of a runtime.
///
/// The variant never changes, so that a match costs a branch that the CPU always predicts.
pub(crate) enum Scheduler {
    Tree(Tree),
    Central(Central),
}

impl Scheduler {
    /// The scheduler of a machine. A worker with `full` queued tasks may inline the next.
    pub(crate) fn new(
        machine: &Topology,
        config: SchedulerConfig,
        full: usize,
        fence: AsymmetricFence,
    ) -> Self {
        match config {
            SchedulerConfig::Tree(config) => Self::Tree(Tree::new(machine, config, full, fence)),
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
    /// The caller is the leaf's worker; the task is alive, in no queue, and may run on any worker.
    #[inline]
    pub(crate) unsafe fn add(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: this thread is the leaf's worker, and the task is in no queue.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add(leaf, task),
                Self::Central(central) => central.add(task),
            }
        }
    }

    /// Adds a task that became ready at this leaf, and that may have a priority.
    ///
    /// # Safety
    /// The caller is the leaf's worker; the task is alive, in no queue, and may run on any worker.
    #[inline]
    pub(crate) unsafe fn add_by_priority(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: this thread is the leaf's worker, and the task is in no queue.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add_by_priority(leaf, task),
                Self::Central(central) => central.add(task),
            }
        }
    }

    /// Adds a task that became ready as another finished at this leaf.
    ///
    /// # Safety
    /// The caller is the leaf's worker; the task is alive, in no queue, and may run on any worker.
    #[inline]
    pub(crate) unsafe fn add_successor(&self, leaf: &Leaf, task: *mut Queued) {
        // SAFETY: this thread is the leaf's worker, and the task is in no queue.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add_by_priority(leaf, task),
                Self::Central(central) => central.add_successor(leaf, task),
            }
        }
    }

    /// Moves the immediate successor of this leaf to the queue, where every worker finds it: the
    /// code that goes on here may take no task for long. A tree has no immediate successors.
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    #[inline]
    pub(crate) unsafe fn hand_on(&self, leaf: &Leaf) {
        if let Self::Central(central) = self {
            // SAFETY: this thread is the leaf's worker.
            unsafe { central.hand_on(leaf) };
        }
    }

    /// The threshold, 0 where the scheduler has none, and the number of tasks in queues.
    pub(crate) fn threshold_and_queued(&self) -> (usize, usize) {
        match self {
            Self::Tree(tree) => tree.threshold_and_queued(),
            Self::Central(central) => (0, central.queued()),
        }
    }

    /// Steps of all leaves until now.
    pub(crate) fn steps(&self) -> StepsSum {
        match self {
            Self::Tree(tree) => tree.steps(),
            Self::Central(central) => central.steps(),
        }
    }

    /// Whether this leaf's worker may inline the next task: its queue is full.
    #[inline]
    pub(crate) fn is_full(&self, leaf: &Leaf) -> bool {
        match self {
            Self::Tree(tree) => leaf.is_full(tree.threshold()),
            Self::Central(central) => central.is_full(),
        }
    }

    /// Whether this leaf has `enough` tasks to steal, and no worker sleeps for want of one.
    #[inline]
    pub(crate) fn has(&self, leaf: &Leaf, enough: usize) -> bool {
        match self {
            Self::Tree(tree) => leaf.has(tree.threshold(), enough),
            Self::Central(central) => central.has(enough),
        }
    }

    /// Tasks in the queues above a leaf, or in the central queue.
    pub(crate) fn queued_above(&self, leaf: &Leaf) -> usize {
        match self {
            Self::Tree(tree) => tree.queued_above(leaf),
            Self::Central(central) => central.queued(),
        }
    }

    /// Whether a queue seems to have a task; the queues are not locked.
    pub(crate) fn has_any(&self, leaf: usize) -> bool {
        match self {
            Self::Tree(tree) => tree.has_any(leaf),
            Self::Central(central) => central.has(1),
        }
    }

    /// Adds a task from a thread that is no worker.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub(crate) unsafe fn add_from_outside(&self, task: *mut Queued) {
        // SAFETY: the task is alive and in no queue.
        unsafe {
            match self {
                Self::Tree(tree) => tree.add_from_outside(task),
                Self::Central(central) => central.add(task),
            }
        }
    }

    /// Takes a task of this leaf, or of the central queue.
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    #[inline]
    pub(crate) unsafe fn take(&self, leaf: &Leaf) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            match self {
                Self::Tree(tree) => tree.take(leaf),
                Self::Central(central) => central.take(leaf),
            }
        }
    }

    /// Takes a task that is wanted, from any queue, and leaves all other tasks where they are.
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    pub(crate) unsafe fn take_if(
        &self,
        leaf: usize,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            match self {
                Self::Tree(tree) => tree.take_if(leaf, wanted),
                Self::Central(central) => central.take_if(leaf, wanted),
            }
        }
    }

    /// Whether a worker without tasks waits without searching, since waiting polls its slot.
    pub(crate) fn has_slots(&self) -> bool {
        match self {
            Self::Tree(_) => false,
            Self::Central(central) => central.has_slots(),
        }
    }

    /// The leaf's worker begins to search for tasks, until [`Scheduler::found`] or
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

    /// The count of idle workers that creators at this leaf read. A tree counts the workers of the
    /// leaf's node, so that not every creator reads the line that every idle worker writes.
    pub(crate) fn idle_workers(&self, leaf: &Leaf) -> &IdleWorkers {
        match self {
            Self::Tree(tree) => tree.idle_workers(leaf),
            Self::Central(central) => central.idle_workers(),
        }
    }

    /// The worker of this leaf has nothing to run from here on.
    pub(crate) fn set_idle(&self, leaf: &Leaf) {
        self.idle_workers(leaf).any.fetch_add(1, Ordering::Relaxed);
    }

    /// The worker of this leaf has a task again.
    pub(crate) fn set_busy(&self, leaf: &Leaf) {
        self.idle_workers(leaf).any.fetch_sub(1, Ordering::Relaxed);
    }

    /// The worker of this leaf has searched for as long as its patience lasts, and parks.
    pub(crate) fn falls_asleep(&self, leaf: &Leaf) {
        // Pairs with `count_asleep`: of several, the last sees all.
        self.idle_workers(leaf).asleep.fetch_add(1, Ordering::SeqCst);
    }

    /// The worker of this leaf searches again.
    pub(crate) fn wakes_up(&self, leaf: &Leaf) {
        self.idle_workers(leaf).asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// Workers that have nothing to run.
    pub(crate) fn count_idle(&self) -> usize {
        self.count_idle_workers(|idle| idle.any.load(Ordering::Relaxed))
    }

    /// Idle workers that have stopped searching.
    pub(crate) fn count_asleep(&self) -> usize {
        self.count_idle_workers(|idle| idle.asleep.load(Ordering::SeqCst))
    }

    fn count_idle_workers(&self, count: impl Fn(&IdleWorkers) -> usize) -> usize {
        match self {
            Self::Tree(tree) => tree.all_idle_workers().map(count).sum(),
            Self::Central(central) => count(central.idle_workers()),
        }
    }

    /// The worker of this leaf ends its search with a task.
    pub(crate) fn found(&self, leaf: usize) {
        if let Self::Tree(tree) = self {
            tree.found(leaf);
        }
    }

    /// The worker of this leaf ends its search without a task, for other work.
    pub(crate) fn gives_up(&self, leaf: usize) {
        match self {
            Self::Tree(tree) => tree.gives_up(leaf),
            Self::Central(central) => central.gives_up(),
        }
    }

    /// Steals: asks the nodes above, then other leaves. The central scheduler has neither.
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    pub(crate) unsafe fn seek(&self, leaf: usize) -> Option<*mut Queued> {
        match self {
            // SAFETY: this thread is the leaf's worker.
            Self::Tree(tree) => unsafe { tree.seek(leaf) },
            Self::Central(_) => None,
        }
    }

    /// Steals once, before the worker counts as searching.
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    pub(crate) unsafe fn try_steal_once(&self, leaf: usize) -> Option<*mut Queued> {
        match self {
            // SAFETY: this thread is the leaf's worker.
            Self::Tree(tree) => unsafe { tree.try_steal_once(leaf) },
            Self::Central(_) => None,
        }
    }

    /// Waits, at last parked, until the leaf is given tasks or `stop` holds; the thread that makes
    /// `stop` hold unparks the leaf.
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    pub(crate) unsafe fn wait(&self, leaf: usize, stop: impl Fn() -> bool) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            match self {
                Self::Tree(tree) => tree.wait(leaf, stop),
                Self::Central(central) => central.wait(leaf, stop),
            }
        }
    }

    /// Moves all tasks of the leaf up, where every worker finds the one that it wants.
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    pub(crate) unsafe fn expose(&self, leaf: usize) {
        if let Self::Tree(tree) = self {
            // SAFETY: this thread is the leaf's worker.
            unsafe { tree.expose(leaf) };
        }
    }

    /// Whether the leaf's worker sleeps, and was not unparked.
    pub(crate) fn is_asleep(&self, leaf: usize) -> bool {
        self.leaf(leaf).parker.is_asleep()
    }

    /// Wakes all workers that sleep: the conditions that they wait for may hold now.
    pub(crate) fn wake_all(&self) {
        match self {
            Self::Tree(tree) => tree.wake_all(),
            Self::Central(central) => central.wake_all(),
        }
    }

    /// Moves all tasks of the leaf up, as its CPU is taken away (N 4.1.5).
    ///
    /// # Safety
    /// The caller is the leaf's worker.
    pub(crate) unsafe fn disable(&self, leaf: usize) {
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            match self {
                Self::Tree(tree) => tree.disable(leaf),
                Self::Central(central) => central.hand_on(central.leaf(leaf)),
            }
        }
    }
}
