//! The state that the threads of a team share of a work-sharing construct.
//!
//! Threads may be several constructs apart, where these end without a barrier: a ring has
//! [`SHARES`] of these states. A share can be used again when all threads have left it: a thread
//! that meets a construct checks for that, and one that leaves is counted.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::unsupported::abort_with;
use crate::wait;

/// Constructs that threads can be apart.
const SHARES: u64 = 8;

/// A pointer that the first thread which needs it makes.
#[derive(Default)]
pub(crate) struct Once(AtomicPtr<c_void>);

/// In the place of a pointer that is being made.
const BUSY: *mut c_void = ptr::without_provenance_mut(1);

impl Once {
    /// The pointer, which the first call makes.
    pub(crate) fn get(&self, make: impl FnOnce() -> *mut c_void) -> *mut c_void {
        let made = self.0.load(Ordering::Acquire);
        if !made.is_null() && made != BUSY {
            return made;
        }
        let order = (Ordering::Relaxed, Ordering::Relaxed);
        if self.0.compare_exchange(ptr::null_mut(), BUSY, order.0, order.1).is_ok() {
            let made = make();
            // Pairs with the loads here.
            self.0.store(made, Ordering::Release);
            return made;
        }
        wait::until(|| self.0.load(Ordering::Relaxed) != BUSY);
        self.0.load(Ordering::Acquire)
    }

    fn take(&self) -> *mut c_void {
        let made = self.0.load(Ordering::Relaxed);
        if !made.is_null() {
            self.0.store(ptr::null_mut(), Ordering::Relaxed);
        }
        made
    }
}

/// Zeros for all threads of a construct.
pub(crate) fn zeros(bytes: usize) -> *mut c_void {
    // SAFETY: no arguments are wrong.
    let zeros = unsafe { libc::calloc(bytes.max(1), 1) };
    if zeros.is_null() {
        abort_with(b"evenkeel: no memory for a loop\n");
    }
    zeros
}

/// One construct, and later another.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Share {
    /// Iterations that were given out; in the end more than the loop has.
    pub next: AtomicU64,
    /// Iterations whose `ordered` regions have passed.
    pub next_ordered: AtomicU64,
    /// How often all threads have left this share.
    rounds: AtomicU64,
    left: AtomicU32,
    zeros: Once,
    /// The task reductions of the first thread.
    pub reductions: Once,
}

impl Share {
    /// So many zero bytes, for as long as a thread is here.
    pub(crate) fn zeros(&self, bytes: usize) -> *mut c_void {
        self.zeros.get(|| zeros(bytes))
    }

    /// A thread leaves. The last of `size` threads clears the share.
    pub(crate) fn leave(&self, size: u32) {
        // Pairs with itself: the last thread sees all writes before the others left.
        if self.left.fetch_add(1, Ordering::AcqRel) + 1 < size {
            return;
        }
        // SAFETY: the memory came from `calloc`, and all threads have left.
        unsafe { libc::free(self.zeros.take()) };
        self.reductions.take();
        self.next.store(0, Ordering::Relaxed);
        self.next_ordered.store(0, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
        let rounds = self.rounds.load(Ordering::Relaxed);
        // Pairs with `Ring::meet`.
        self.rounds.store(rounds + 1, Ordering::Release);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // SAFETY: the memory came from `calloc`.
        unsafe { libc::free(self.zeros.take()) };
    }
}

/// The shares of a team.
#[derive(Default)]
pub(crate) struct Ring {
    shares: [Share; SHARES as usize],
    /// Constructs that each thread had met when the last region ended. Only the primary thread
    /// writes this, between regions.
    pub met: Cell<u64>,
}

impl Ring {
    /// The share of a construct before which the thread has met `met` others; `None` if the thread
    /// gives up first.
    pub(crate) fn meet(&self, met: u64, gives_up: impl Fn() -> bool) -> Option<&Share> {
        let share = &self.shares[(met % SHARES) as usize];
        let round = met / SHARES;
        let is_new = || share.rounds.load(Ordering::Acquire) == round;
        if !is_new() {
            wait::until(|| is_new() || gives_up());
        }
        is_new().then_some(share)
    }

    /// Clears all shares: threads left the last region early.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_new_when_all_have_left_it() {
        let ring = Ring::default();
        for met in 0..3 * SHARES {
            let first = ring.meet(met, || true).unwrap();
            assert_eq!(first.next.fetch_add(3, Ordering::Relaxed), 0);
            let zeros = first.zeros(8).cast::<u64>();
            // SAFETY: the share has 8 such bytes.
            assert_eq!(unsafe { zeros.replace(1) }, 0);
            first.leave(2);
            let second = ring.meet(met, || true).unwrap();
            assert_eq!(second.next.load(Ordering::Relaxed), 3);
            second.leave(2);
        }
    }

    #[test]
    fn a_thread_that_runs_ahead_is_held_back() {
        let ring = Ring::default();
        for met in 0..SHARES {
            ring.meet(met, || true).unwrap().leave(2);
        }
        assert!(ring.meet(SHARES, || true).is_none());
        ring.meet(0, || true).unwrap().leave(2);
        assert!(ring.meet(SHARES, || true).is_some());
    }
}
