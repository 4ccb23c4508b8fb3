//! What others leave for a worker, taken all at once.

use std::cell::Cell;
use std::ptr;

use crate::sync::{AtomicPtr, Ordering};

/// What can be put in an inbox: it has room for the link.
pub(crate) trait Linked {
    /// The one below.
    fn next(&self) -> &Cell<*mut Self>;
}

/// A stack that anybody may push to, and that is emptied as a whole.
///
/// Treiber's stack without its pop, and so without the trouble of reused addresses.
pub(crate) struct Inbox<T> {
    top: AtomicPtr<T>,
}

impl<T: Linked> Inbox<T> {
    pub(crate) fn new() -> Self {
        Self { top: AtomicPtr::new(ptr::null_mut()) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.top.load(Ordering::Relaxed).is_null()
    }

    /// Adds one.
    ///
    /// # Safety
    /// `one` is alive until it has been taken, and in no other list.
    pub(crate) unsafe fn push(&self, one: *mut T) {
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: the caller has it to itself until it is published below.
            unsafe { (*one).next().set(top) };
            // Pairs with `take_all`: what is in `one` is whole before it is seen.
            match self.top.compare_exchange_weak(top, one, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Takes everything: a chain, the latest first, or null.
    pub(crate) fn take_all(&self) -> *mut T {
        if self.is_empty() {
            return ptr::null_mut();
        }
        self.top.swap(ptr::null_mut(), Ordering::Acquire)
    }
}
