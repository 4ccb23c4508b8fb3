//! Workers that rest, as their CPUs are wanted elsewhere, and work again later (N 4.1.5).

use super::Worker;
use crate::shared::Order;
use crate::sync::Ordering;

impl Worker {
    /// Whether the worker's order is to work.
    #[inline]
    pub(super) fn works(&self) -> bool {
        self.order() == Order::Work as u32
    }

    pub(super) fn stops(&self) -> bool {
        self.order() == Order::Stop as u32
    }

    /// Whether the worker's order is to rest.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.order() == Order::Rest as u32
    }

    #[inline]
    fn order(&self) -> u32 {
        self.shared.orders[self.leaf].load(Ordering::Relaxed)
    }

    /// Sleeps while the worker's order is to rest, and no task on its stacks is resumed.
    #[cold]
    pub(super) fn rest(&self) {
        let shared = &*self.shared;
        self.notify();
        self.leaves_place();
        shared.resting.fetch_add(1, Ordering::SeqCst);
        shared.present.fetch_sub(1, Ordering::SeqCst);
        // SAFETY: this thread is the leaf's worker.
        unsafe { shared.scheduler.disable(self.leaf) };
        while self.rests() && !self.has_resumed() {
            shared.scheduler.leaf(self.leaf).parker.park();
        }
        shared.present.fetch_add(1, Ordering::SeqCst);
        shared.resting.fetch_sub(1, Ordering::SeqCst);
    }
}
