//! The options of a scheduler.

/// Which scheduler a runtime has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerConfig {
    /// Queues in the shape of the machine (N ch. 4).
    Tree(TreeConfig),
    /// One queue for all workers (N ch. 3).
    Central(Form),
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self::Tree(TreeConfig::default())
    }
}

/// The forms of the central scheduler (N 3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A queue. A worker without tasks asks the queue again and again, and then sleeps.
    Plain(Order),
    /// A queue with polling slots: a worker without tasks waits for one in its slot.
    Polling(Order),
    /// And the immediate successor: the first task that a finished one makes ready runs next on
    /// its CPU.
    Successor(Order),
    /// Polling slots and a queue by priority, among equals the oldest first.
    Priority,
}

impl Form {
    pub(super) fn has_slots(self) -> bool {
        !matches!(self, Self::Plain(_))
    }

    pub(super) fn has_successor(self) -> bool {
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

/// How many tasks a queue holds before overflowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Constant (N 4.1.3).
    Static(usize),
    /// Begins with 0; doubled by an overflow at the root, halved by a request there (N 4.2.1).
    Dynamic,
}

/// How tasks get to workers that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// A worker without tasks waits in its polling slot; tasks over the threshold go up and to a
    /// slot.
    Give {
        /// Whether queues over a threshold that fell give the rest away (N 4.2.2).
        rebalance: bool,
    },
    /// A worker looks for tasks above and beside its leaf, and is given some only when asleep.
    Pull,
}

/// The options of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeConfig {
    /// Which end of a queue is taken first.
    pub order: Order,
    /// How many tasks move at once.
    pub batch: Batch,
    /// When a queue overflows.
    pub limit: Limit,
    /// How workers without tasks get some.
    pub feed: Feed,
}

impl Default for TreeConfig {
    fn default() -> Self {
        Self {
            order: Order::Lifo,
            batch: Batch::HalfQueue,
            limit: Limit::Dynamic,
            feed: Feed::Pull,
        }
    }
}
