//! Items that other threads leave for a worker, which takes all of them at once.

use std::cell::Cell;
use std::ptr;

use crate::sync::{AtomicPtr, Ordering};

/// An item of an inbox, with room for the link.
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

    /// Adds an item.
    ///
    /// # Safety
    /// `one` is alive until taken, and in no other list.
    pub(crate) unsafe fn push(&self, one: *mut T) {
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: only the caller has `one` until the exchange below publishes the item.
            unsafe { (*one).next().set(top) };
            // Pairs with `take_all`: the taker sees the whole item.
            match self.top.compare_exchange_weak(top, one, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Takes everything: a list, the latest first, or null.
    pub(crate) fn take_all(&self) -> *mut T {
        if self.is_empty() {
            return ptr::null_mut();
        }
        self.top.swap(ptr::null_mut(), Ordering::Acquire)
    }
}
