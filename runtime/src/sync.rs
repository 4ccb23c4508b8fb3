//! Atomics and locks, of the standard library or of whoever explores or counts them.
//!
//! Everything that several workers touch uses these names, so that loom can run every order of
//! its steps, and the model of many workers can charge each of them.

mod barrier;

#[cfg(evenkeel_model)]
pub(crate) use crate::model::{
    charged::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Condvar, Instant,
        Mutex, MutexGuard, fence, futex_wait, futex_wake, membarrier, reads, sleep, spin_loop,
        writes, yield_now,
    },
    machine::{cycles, stack_low},
};
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

#[cfg(not(evenkeel_model))]
pub(crate) use std::{thread::sleep, time::Instant};

/// Locks; a panic while it was held is a bug of ours that has been told already.
#[cfg_attr(evenkeel_model, track_caller)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
