//! `copyprivate`: the thread that ran a `single` gives the other threads data to copy.
//!
//! The data lie on that thread's stack, so the thread waits until all have copied: at a barrier.
//! But in a cancelled region no thread waits at a barrier, and threads that have left do not come.
//! In such a region every thread publishes how many `single` constructs are behind.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::Member;
use crate::cancel::used::is_used;
use crate::wait;

/// The number of a thread at the region's end: above that of any `single`.
pub(super) const LEFT: u64 = u64::MAX;

impl Member {
    /// Gives the other threads the data of the `single` that this thread has run.
    pub(crate) fn gives(&self, data: *mut c_void) {
        let region = self.region();
        region.broadcast.set(data);
        // Pairs with `given`.
        region.given.store(self.singles.get(), Ordering::Release);
    }

    /// The data that were given, after a barrier that returned `is_cancelled`. The thread copies
    /// until [`Member::has_copied`], or until its next barrier.
    pub(crate) fn given(&self, is_cancelled: bool) -> *mut c_void {
        let region = self.region();
        if is_cancelled {
            let single = self.singles.get();
            // The thread that runs the `single` cannot leave the region inside.
            wait::until(|| region.given.load(Ordering::Acquire) == single);
            self.copies.set(single);
        }
        region.broadcast.get()
    }

    /// This thread has copied the data, if any were given.
    #[inline]
    pub(crate) fn has_copied(&self) {
        if self.copies.get() > 0 {
            self.is_past(self.copies.replace(0));
        }
    }

    /// The thread is at the end of its region, which may be cancelled.
    pub(super) fn has_left(&self) {
        if is_used() && self.region().is_cancelled.load(Ordering::Relaxed) {
            self.is_past(LEFT);
        }
    }

    fn is_past(&self, single: u64) {
        if let Some(team) = self.team() {
            // Pairs with `waits_for_copies`.
            team.past(self.number).store(single, Ordering::Release);
        }
    }

    /// Waits in a cancelled region until all other threads have copied the data of this one.
    pub(crate) fn waits_for_copies(&self) {
        let (Some(team), single) = (self.team(), self.singles.get()) else { return };
        for other in (0..self.region().size).filter(|&other| other != self.number) {
            wait::until(|| team.past(other).load(Ordering::Acquire) >= single);
        }
    }
}
