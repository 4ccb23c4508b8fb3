//! Workers that are told to rest, as their CPUs are wanted elsewhere, and to work again (N 4.1.5).

use crossbeam_utils::CachePadded;

use super::Worker;
use crate::pool::{Runtime, Shared};
use crate::sync::{AtomicU32, Ordering};

/// What a worker is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Order {
    /// Run tasks.
    Work,
    /// Run none; stacks that are resumed go on, since no other thread can run them.
    Rest,
    /// End, as there are no tasks any more.
    Stop,
}

impl Runtime {
    /// Lets only so many workers run tasks from here on, counting the thread that a scope is
    /// called on: that one always does, so that 0 is as 1, and more than there are is all of them.
    ///
    /// A worker that is to rest ends the task that it runs, leaves its others to the rest, and
    /// sleeps until it is told to work again. What waits on its thread goes on there even so.
    ///
    /// ```
    /// use evenkeel_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().workers(4).build()?;
    /// runtime.set_workers(2); // somebody else needs two CPUs
    /// runtime.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
    /// runtime.set_workers(4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_workers(&self, workers: usize) {
        for worker in 1..self.workers() {
            self.set_working(worker, worker < workers);
        }
    }

    /// Says whether one worker runs tasks. They are numbered in the order of the machine's CPUs;
    /// number 0 is whoever calls a scope, and always does.
    ///
    /// # Panics
    /// There is no such worker.
    #[track_caller]
    pub fn set_working(&self, worker: usize, works: bool) {
        let workers = self.workers();
        assert!((1..workers).contains(&worker), "worker {worker} of {workers}; 0 always works");
        self.shared().tell(worker, if works { Order::Work } else { Order::Rest });
    }

    /// How many workers were told to run tasks, counting the thread that a scope is called on.
    #[must_use]
    pub fn working(&self) -> usize {
        let rests =
            |order: &&CachePadded<AtomicU32>| order.load(Ordering::Relaxed) == Order::Rest as u32;
        self.workers() - self.shared().orders.iter().filter(rests).count()
    }
}

impl Shared {
    /// Tells a worker what to do.
    pub(crate) fn tell(&self, leaf: usize, order: Order) {
        // Pairs with `unpark`, and so with whoever wakes up.
        self.orders[leaf].store(order as u32, Ordering::SeqCst);
        self.ready.leaf(leaf).parker.unpark();
    }
}

impl Worker {
    /// Whether it was told to work.
    #[inline]
    pub(super) fn works(&self) -> bool {
        self.order() == Order::Work as u32
    }

    pub(super) fn stops(&self) -> bool {
        self.order() == Order::Stop as u32
    }

    /// Whether it was told to rest.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.order() == Order::Rest as u32
    }

    #[inline]
    fn order(&self) -> u32 {
        self.shared.orders[self.leaf].load(Ordering::Relaxed)
    }

    /// Sleeps while it is told to rest, and nobody on its stacks is resumed.
    #[cold]
    pub(super) fn rest(&self) {
        let shared = &*self.shared;
        self.tell();
        self.leaves_place();
        shared.resting.fetch_add(1, Ordering::SeqCst);
        shared.present.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: this thread is the leaf's worker.
        unsafe { shared.ready.disable(self.leaf) };
        while self.rests() && !self.has_resumed() {
            shared.ready.leaf(self.leaf).parker.park();
        }
        shared.present.fetch_add(1, Ordering::SeqCst);
        shared.resting.fetch_sub(1, Ordering::SeqCst);
    }
}
