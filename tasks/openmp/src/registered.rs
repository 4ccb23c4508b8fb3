//! A thread that has called the library, with the pools of threads that help it in its regions.

use std::cell::{Cell, RefCell};

use evenkeel_runtime::internal::forks;

use crate::here::here;
use crate::region::thread_pool::ThreadPool;
use crate::thread::Thread;

/// The record of a thread, from its first call until its end.
#[repr(C)]
pub(crate) struct Registered {
    /// The part that lower modules know, through [`Thread::known`].
    pub thread: Thread,
    /// The threads that help in the regions that this thread begins: one pool for each region
    /// inside another.
    pub pools: RefCell<Vec<ThreadPool>>,
    /// The last result of [`forks`]: threads of pools from before are not in this process.
    forks: Cell<u32>,
}

impl Registered {
    /// The record of a thread that calls for the first time.
    pub(crate) fn new() -> Self {
        Self { thread: Thread::new(), pools: RefCell::default(), forks: Cell::new(forks()) }
    }

    /// That of the calling thread; `None` before its first call.
    #[inline(always)]
    pub(crate) fn known() -> Option<&'static Self> {
        // SAFETY: the pointer is null or was set from a `Registered` of this thread, which lives
        // until the thread ends; no caller keeps the reference.
        unsafe { here().thread.get().cast::<Self>().as_ref() }
    }

    /// Ends the threads of the pools. The owner must be in none of their regions.
    pub(crate) fn dismiss(&self) {
        self.keep_pools();
        self.pools.take();
    }

    /// Forgets pools whose threads fork(2) has not copied into this process.
    pub(crate) fn keep_pools(&self) {
        if self.forks.replace(forks()) != forks() {
            std::mem::forget(self.pools.take());
        }
    }
}
