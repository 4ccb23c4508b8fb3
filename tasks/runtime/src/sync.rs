//! Atomics and locks: of the standard library, of loom, or of the model of many workers.
//!
//! All state that several workers touch uses these names, so that loom can run every order of its
//! steps, and the model can charge each of them.

mod asymmetric_fence;
#[cfg(evenkeel_model)]
pub(crate) mod charged;

pub(crate) use asymmetric_fence::AsymmetricFence;
pub use asymmetric_fence::register_membarrier;
#[cfg(evenkeel_model)]
pub(crate) use charged::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Condvar, Instant, Mutex,
    MutexGuard, cycles, fence, futex_wait, futex_wake, membarrier, reads, sleep, spin_loop,
    stack_low, writes, yield_now,
};
#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Condvar, Mutex, MutexGuard},
    thread::yield_now,
};
#[cfg(evenkeel_model)]
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(any(loom, evenkeel_model)))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Condvar, Mutex, MutexGuard},
    thread::yield_now,
};

use std::sync::{PoisonError, TryLockError};
use std::time::Duration;
#[cfg(not(evenkeel_model))]
pub(crate) use std::{thread::sleep, time::Instant};

/// Begins to fetch the cache line of an address, for writing. Any address is valid.
#[inline]
pub(crate) fn prefetch<T>(address: *const T) {
    // SAFETY: the instruction changes nothing, and faults nowhere.
    #[cfg(all(target_arch = "x86_64", not(any(loom, evenkeel_model))))]
    unsafe {
        std::arch::asm!(
            "prefetchw [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, evenkeel_model)))))]
    let _ = address;
}

/// Locks, unless another thread holds the lock: for callers that can look elsewhere.
#[cfg_attr(evenkeel_model, track_caller)]
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Locks; a panic with the lock held is a bug of ours that was reported already.
#[cfg_attr(evenkeel_model, track_caller)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // ThreadSanitizer does not see how the standard library waits, which is compiled already.
    #[cfg(evenkeel_tsan)]
    loop {
        if let Some(guard) = try_lock(mutex) {
            return guard;
        }
        yield_now();
    }
    #[cfg(not(evenkeel_tsan))]
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a lock that is taken too rarely to be explored or charged.
pub fn lock_std<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    #[cfg(evenkeel_tsan)]
    return lock(mutex);
    #[cfg(not(evenkeel_tsan))]
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits to be notified, but not longer than this, with the lock released meanwhile.
pub(crate) fn wait_for<'a, T>(
    condvar: &Condvar,
    mutex: &'a Mutex<T>,
    guard: MutexGuard<'a, T>,
    longest: Duration,
) -> MutexGuard<'a, T> {
    // ThreadSanitizer does not see the steps of the standard library on the lock meanwhile.
    if cfg!(evenkeel_tsan) {
        drop(guard);
        yield_now();
        return lock(mutex);
    }
    condvar.wait_timeout(guard, longest).unwrap_or_else(PoisonError::into_inner).0
}
