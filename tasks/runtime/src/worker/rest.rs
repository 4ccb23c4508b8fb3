//! Workers that rest, as their CPUs are wanted elsewhere, and work again later (N 4.1.5).

use super::Worker;
use crate::shared::WorkerMode;
use crate::sync::Ordering;

impl Worker {
    /// Whether the worker is set to work.
    #[inline]
    pub(super) fn works(&self) -> bool {
        self.mode() == WorkerMode::Work as u32
    }

    pub(super) fn stops(&self) -> bool {
        self.mode() == WorkerMode::Stop as u32
    }

    /// Whether the worker is set to rest.
    #[inline]
    pub(super) fn rests(&self) -> bool {
        self.mode() == WorkerMode::Rest as u32
    }

    #[inline]
    fn mode(&self) -> u32 {
        self.shared.modes[self.leaf].load(Ordering::Relaxed)
    }

    /// Sleeps while the worker is set to rest, and no task on its stacks is resumed.
    #[cold]
    pub(super) fn rest(&self) {
        let shared = &*self.shared;
        self.notify();
        self.stops_searching();
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
