//! Which task runs next, and where: the schedulers.
//!
//! A scheduler holds tasks that are ready and decides nothing else: it never runs one. Workers add
//! what became ready and take what they run; each uses the leaf of its CPU as the way in.
//!
//! Of this, programs see what [`crate::Rules`] are made of.

mod central;
mod classes;
mod deque;
#[cfg(all(test, loom))]
mod explored;
mod inbox;
mod leaf;
mod local;
mod node;
mod parker;
mod scheduler;
mod seek;
mod steps;
mod threshold;
mod tree;
mod urgent;

use std::cell::Cell;
use std::ptr;

use central::Central;
pub(crate) use inbox::{Inbox, Linked};
pub(crate) use leaf::Leaf;
pub(crate) use node::Away;
#[doc(hidden)]
pub use parker::Parker;
pub(crate) use scheduler::Ready;
pub(crate) use steps::StepsSum;
pub(crate) use threshold::Threshold;
use tree::Tree;

use crate::task::Task;
use crate::worker::Worker;

/// Runs something that was queued, and frees what it occupied.
#[doc(hidden)]
pub type Run = unsafe fn(*mut Queued, &Worker);

/// Tells the kind of a task that is queued, or is about to be run: the address of the program's
/// function, or [`OWN_KIND`].
#[doc(hidden)]
pub type KindOf = unsafe fn(*const Queued) -> usize;

/// The kind of what runs none of the program's code. Whoever watches is not told of it.
#[doc(hidden)]
pub const OWN_KIND: usize = 1;

/// What a queue knows of a task: the head of every task, and of everything else that is run once.
#[doc(hidden)]
#[repr(C)]
pub struct Queued {
    pub(crate) run: Run,
    /// The next of a chain that is on its way from one worker to another.
    pub(crate) next: Cell<*mut Queued>,
    /// The task that created it; only what has one is a [`Task`].
    pub(crate) parent: *const Task,
}

impl Queued {
    /// In no chain.
    pub(crate) fn new(run: Run, parent: *const Task) -> Self {
        Self { run, next: Cell::new(ptr::null_mut()), parent }
    }

    /// Its priority; 0 where it is no task.
    ///
    /// # Safety
    /// It is alive.
    pub(crate) unsafe fn priority_of(queued: *mut Self) -> i8 {
        // SAFETY: the caller's promise; what has a parent is the head of a task.
        unsafe { if (*queued).parent.is_null() { 0 } else { (*queued.cast::<Task>()).priority } }
    }
}

impl Linked for Queued {
    fn next(&self) -> &Cell<*mut Self> {
        &self.next
    }
}

/// Which scheduler a runtime has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Queues in the shape of the machine (N ch. 4).
    Tree(Rules),
    /// One queue for all workers (N ch. 3).
    Central(Form),
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::Tree(Rules::default())
    }
}

/// The forms of the central scheduler (N 3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A queue. A worker without tasks asks it again and again, and then sleeps.
    Plain(Order),
    /// And polling slots: a worker without tasks waits for one to be put there.
    Polling(Order),
    /// And the immediate successor: the first task that a finished one makes ready runs next on
    /// its CPU.
    Successor(Order),
    /// The same with a queue by priority, among equals the oldest first.
    Priority,
}

impl Form {
    fn has_slots(self) -> bool {
        !matches!(self, Self::Plain(_))
    }

    fn has_successor(self) -> bool {
        matches!(self, Self::Successor(_) | Self::Priority)
    }
}

/// Which end of a queue is taken first (N 3.1.2, 4.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A single task is the youngest, a set the oldest.
    Lifo,
    /// A single task is the oldest, a set the youngest.
    Fifo,
}

/// How many tasks move at once: N says half the queue (4.1.1) and half the threshold (4.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Half of the tasks of the queue that overflows or is asked.
    HalfQueue,
    /// Half of the threshold.
    HalfThreshold,
}

/// How many tasks a queue holds before it overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Always the same (N 4.1.3).
    Static(usize),
    /// From 0; doubled by an overflow at the root, halved by a request there (N 4.2.1).
    Dynamic,
}

/// How tasks get to workers that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// A worker without tasks waits in its polling slot; tasks over the threshold go up and to it.
    Give {
        /// Whether queues over a threshold that fell give the rest away (N 4.2.2).
        rebalance: bool,
    },
    /// It looks for tasks above and beside it, and is given some only once it sleeps.
    Pull,
}

/// What can be chosen of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Which end of a queue is taken first.
    pub order: Order,
    /// How many tasks move at once.
    pub batch: Batch,
    /// When a queue overflows.
    pub limit: Limit,
    /// How workers without tasks get some.
    pub feed: Feed,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            order: Order::Lifo,
            batch: Batch::HalfQueue,
            limit: Limit::Dynamic,
            feed: Feed::Pull,
        }
    }
}
