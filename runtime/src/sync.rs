//! Atomics and locks, of the standard library or of whoever explores or counts them.
//!
//! Everything that several workers touch uses these names, so that loom can run every order of
//! its steps.

mod barrier;

pub(crate) use barrier::Barrier;
#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Condvar, Mutex, MutexGuard},
    thread::yield_now,
};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    },
    sync::{Condvar, Mutex, MutexGuard},
    thread::yield_now,
};

/// Locks; a panic while it was held is a bug of ours that has been told already.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
