//! Where a worker sleeps.

#[cfg(all(test, loom))]
mod loom_tests;

use std::time::Duration;

use crate::sync::{AtomicU32, Ordering};

const AWAKE: u32 = 0;
const NOTIFIED: u32 = 1;
const ASLEEP: u32 = 2;

/// A place for one sleeper; a wake-up that comes too early is kept, and is not counted.
#[derive(Default)]
pub struct Parker {
    state: AtomicU32,
}

impl Parker {
    /// A parker without a sleeper.
    #[must_use]
    pub fn new() -> Self {
        Self { state: AtomicU32::new(AWAKE) }
    }

    /// Sleeps until woken; returns at once after an earlier wake-up. May return without reason.
    pub fn park(&self) {
        self.park_for(None);
    }

    /// Sleeps until woken, at most for a while.
    pub(crate) fn park_for(&self, at_most: Option<Duration>) {
        // Both pair with `unpark`: the sleeper sees the waker's writes. Either may consume the
        // wake-up, which may come between the two. A thread that was notified never counts as
        // asleep.
        let order = (Ordering::AcqRel, Ordering::Acquire);
        if self.state.compare_exchange(AWAKE, ASLEEP, order.0, order.1).is_ok() {
            wait(&self.state, at_most);
        }
        self.state.swap(AWAKE, Ordering::Acquire);
    }

    /// Whether a thread sleeps here that was not notified.
    pub(crate) fn is_asleep(&self) -> bool {
        // Pairs with `park`: the caller sees the sleeper's writes before falling asleep.
        self.state.load(Ordering::SeqCst) == ASLEEP
    }

    /// Wakes the sleeper, or keeps the thread from falling asleep.
    pub fn unpark(&self) {
        if self.state.swap(NOTIFIED, Ordering::Release) == ASLEEP {
            wake(&self.state);
        }
    }
}

/// Sleeps while the state is `ASLEEP`, or for no reason less.
#[cfg(not(any(loom, evenkeel_model)))]
fn wait(state: &AtomicU32, at_most: Option<Duration>) {
    let at_most = at_most.map(|time| libc::timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    });
    // SAFETY: the word and the time outlive the call; the kernel compares the word before sleeping.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            state.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            ASLEEP,
            at_most.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
        );
    }
}

#[cfg(not(any(loom, evenkeel_model)))]
fn wake(state: &AtomicU32) {
    // SAFETY: the address is ours; the kernel only looks the address up.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            state.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        );
    }
}

#[cfg(loom)]
fn wait(state: &AtomicU32, _at_most: Option<Duration>) {
    while state.load(Ordering::Relaxed) == ASLEEP {
        crate::sync::yield_now();
    }
}

#[cfg(loom)]
fn wake(_state: &AtomicU32) {}

#[cfg(evenkeel_model)]
fn wait(state: &AtomicU32, at_most: Option<Duration>) {
    crate::sync::futex_wait(state, ASLEEP, at_most);
}

#[cfg(evenkeel_model)]
fn wake(state: &AtomicU32) {
    crate::sync::futex_wake(state);
}
