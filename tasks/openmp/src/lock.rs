//! Locks.
//!
//! The `omp.h` headers give a lock few bytes: 4 for a lock (gcc; clang has 8), 8 for a nest lock
//! (clang, and gcc before OpenMP 3.0; gcc has 16 now). So a lock is one word of a futex, and a nest
//! lock is two words: every version of a function is the same code.

mod kmp;
mod word;

use std::ffi::c_int;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::registration::member;
use crate::tool::mutexes::{self, Mutex, Nest};

use word::{FREE, OWNERS, give, take, try_take};

/// The word of a simple lock that is taken; that of a nest lock is its owner's number.
const TAKEN: u32 = 1;

/// `omp_lock_t`.
#[repr(C)]
pub struct Lock {
    word: AtomicU32,
}

impl Lock {
    /// A free one.
    pub(crate) const fn new() -> Self {
        Self { word: AtomicU32::new(FREE) }
    }

    /// Takes the lock, and waits until that is possible.
    pub(crate) fn set(&self) {
        take(&self.word, TAKEN);
    }

    /// Releases the lock.
    pub(crate) fn unset(&self) {
        give(&self.word);
    }
}

/// `omp_nest_lock_t`.
#[repr(C)]
pub struct NestLock {
    /// The number of the owner, a task; free without one.
    word: AtomicU32,
    /// How often the owner has taken the lock; only the owner reads this.
    depth: AtomicU32,
}

/// The number of the running task as an owner of nest locks: from 1 to [`OWNERS`]. After
/// [`OWNERS`] tasks the numbers begin again; by then the tasks with low numbers have ended.
fn caller() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let owner = &member().task().owner;
    while owner.get() == 0 {
        owner.set(NEXT.fetch_add(1, Relaxed) & OWNERS);
    }
    owner.get()
}

/// Makes a lock.
///
/// # Safety
/// `lock` points to the room of an `omp_lock_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_lock(lock: *mut Lock) {
    // SAFETY: `lock` points to the room of an `omp_lock_t`.
    unsafe { lock.write(Lock::new()) };
    mutexes::lock_made(Mutex::Lock, 0, lock);
}

/// Makes a lock; the hint changes nothing.
///
/// # Safety
/// `lock` points to the room of an `omp_lock_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_lock_with_hint(lock: *mut Lock, hint: u32) {
    // SAFETY: `lock` points to the room of an `omp_lock_t`.
    unsafe { lock.write(Lock::new()) };
    mutexes::lock_made(Mutex::Lock, hint, lock);
}

/// Ends a lock, which holds nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn omp_destroy_lock(lock: *mut Lock) {
    mutexes::lock_destroyed(Mutex::Lock, lock);
}

/// Waits for a lock.
///
/// # Safety
/// The program has initialised the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_set_lock(lock: *const Lock) {
    // SAFETY: the program has initialised the lock.
    mutexes::taken(Mutex::Lock, lock, || unsafe { (*lock).set() });
}

/// Takes a lock if the lock is free.
///
/// # Safety
/// The program has initialised the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_test_lock(lock: *const Lock) -> c_int {
    // SAFETY: the program has initialised the lock.
    let word = unsafe { &(*lock).word };
    let how = || if try_take(word, TAKEN) { Nest::First } else { Nest::Not };
    (mutexes::taken_so(Mutex::Lock, lock, how) == Nest::First).into()
}

/// Releases a lock.
///
/// # Safety
/// The program has initialised the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_unset_lock(lock: *const Lock) {
    // SAFETY: the program has initialised the lock.
    mutexes::given(Mutex::Lock, lock, || unsafe { (*lock).unset() });
}

/// Makes a nest lock.
///
/// # Safety
/// `lock` points to the room of an `omp_nest_lock_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_nest_lock(lock: *mut NestLock) {
    // SAFETY: `lock` points to the room of an `omp_nest_lock_t`.
    unsafe { omp_init_nest_lock_with_hint(lock, 0) };
}

/// Makes a nest lock; the hint changes nothing.
///
/// # Safety
/// `lock` points to the room of an `omp_nest_lock_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_nest_lock_with_hint(lock: *mut NestLock, hint: u32) {
    let free = NestLock { word: AtomicU32::new(FREE), depth: AtomicU32::new(0) };
    // SAFETY: `lock` points to the room of an `omp_nest_lock_t`.
    unsafe { lock.write(free) };
    mutexes::lock_made(Mutex::NestLock, hint, lock);
}

/// Ends a nest lock, which holds nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn omp_destroy_nest_lock(lock: *mut NestLock) {
    mutexes::lock_destroyed(Mutex::NestLock, lock);
}

/// Takes a nest lock, and waits for another owner.
///
/// # Safety
/// The program has initialised the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_set_nest_lock(lock: *const NestLock) {
    // SAFETY: the program has initialised the lock.
    let lock = unsafe { &*lock };
    mutexes::taken_so(Mutex::NestLock, lock, || {
        let is_had = word::owner(&lock.word) == caller();
        if !is_had {
            take(&lock.word, caller());
        }
        lock.depth.store(lock.depth.load(Relaxed) + 1, Relaxed);
        if is_had { Nest::Again } else { Nest::First }
    });
}

/// Takes a nest lock without another owner. Returns how often the caller has taken the lock; 0 if
/// another task owns the lock.
///
/// # Safety
/// The program has initialised the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_test_nest_lock(lock: *const NestLock) -> c_int {
    // SAFETY: the program has initialised the lock.
    let lock = unsafe { &*lock };
    let mut depth = 0;
    mutexes::taken_so(Mutex::NestLock, lock, || {
        let is_had = word::owner(&lock.word) == caller();
        if !is_had && !try_take(&lock.word, caller()) {
            return Nest::Not;
        }
        depth = lock.depth.load(Relaxed) + 1;
        lock.depth.store(depth, Relaxed);
        if is_had { Nest::Again } else { Nest::First }
    });
    depth as c_int
}

/// Undoes one acquisition of a nest lock; the last call releases the lock.
///
/// # Safety
/// The program has initialised the lock, and the running task owns the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_unset_nest_lock(lock: *const NestLock) {
    // SAFETY: the program has initialised the lock.
    let lock = unsafe { &*lock };
    mutexes::given_so(Mutex::NestLock, lock, || {
        let depth = lock.depth.load(Relaxed).saturating_sub(1);
        lock.depth.store(depth, Relaxed);
        if depth > 0 {
            return Nest::Again;
        }
        give(&lock.word);
        Nest::First
    });
}

#[cfg(test)]
mod tests;
