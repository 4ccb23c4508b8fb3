//! What the thread that ran a `single` gives the others to copy from.
//!
//! It lies on that thread's stack, which waits until all have copied. Barriers say so; but where
//! the region was cancelled nobody waits at one, and threads that left will not come. There every
//! thread says itself how far it is.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::Member;
use crate::cancel::used::is_used;
use crate::wait;

/// As far as no `single` is: it is at the region's end.
pub(super) const LEFT: u64 = u64::MAX;

impl Member {
    /// Gives the others what the `single` that this thread has run is to give them.
    pub(crate) fn gives(&self, data: *mut c_void) {
        let region = self.region();
        region.broadcast.set(data);
        // Pairs with `given`.
        region.given.store(self.singles.get(), Ordering::Release);
    }

    /// What was given, when `barrier` has told whether the region is cancelled. The thread copies
    /// from it until [`Member::has_copied`], or until its next barrier.
    pub(crate) fn given(&self, is_cancelled: bool) -> *mut c_void {
        let region = self.region();
        if is_cancelled {
            let single = self.singles.get();
            // Whoever runs it cannot leave the region inside.
            wait::until(|| region.given.load(Ordering::Acquire) == single);
            self.copies.set(single);
        }
        region.broadcast.get()
    }

    /// This thread has copied, if it was about to.
    #[inline]
    pub(crate) fn has_copied(&self) {
        if self.copies.get() > 0 {
            self.is_past(self.copies.replace(0));
        }
    }

    /// It is at the end of its region, which may be cancelled.
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

    /// Waits until all others have copied what this thread has given in a region that is cancelled.
    pub(crate) fn waits_for_copies(&self) {
        let (Some(team), single) = (self.team(), self.singles.get()) else { return };
        for other in (0..self.region().size).filter(|&other| other != self.number) {
            wait::until(|| team.past(other).load(Ordering::Acquire) >= single);
        }
    }
}
