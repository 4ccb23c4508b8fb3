//! Locks, critical sections, atomic operations that need a lock, and `ordered`.

use super::lookup::lookup;
use crate::ompt::abi::{Endpoint, FUTEX, state};
use crate::ompt::callbacks::{
    LOCK_DESTROY, LOCK_INIT, MUTEX_ACQUIRE, MUTEX_ACQUIRED, MUTEX_RELEASED, NEST_LOCK,
};
use crate::ompt::caller::Caller;
use crate::ompt::records::ThreadRecord;
use crate::ompt::{find, is_on};
use crate::registration::current_thread;

/// The kind of a lock: `ompt_mutex_t`. As with libomp 14, an attempt is reported as an acquisition.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutex {
    Lock = 1,
    NestLock = 3,
    Critical = 5,
    Atomic = 6,
    Ordered = 7,
}

impl Mutex {
    fn state(self) -> i32 {
        match self {
            Self::Lock | Self::NestLock => state::LOCK,
            Self::Critical => state::CRITICAL,
            Self::Atomic => state::ATOMIC,
            Self::Ordered => state::ORDERED,
        }
    }
}

/// How a nest lock was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nest {
    /// Not: another task owns the lock.
    Not,
    /// The owner changes: to the running task, or to none.
    First,
    /// The owner stays.
    Again,
}

/// A lock is made, perhaps by the first call of the program.
pub(crate) fn lock_made<T>(mutex: Mutex, hint: u32, lock: *const T) {
    find::start(lookup);
    if is_on() {
        current_thread();
        LOCK_INIT.tell(|function| {
            let (id, code) = (lock.addr() as u64, Caller::find().code);
            // SAFETY: the tool's function takes this.
            unsafe { function(mutex as i32, hint, FUTEX as u32, id, code) };
        });
    }
}

/// A lock is destroyed.
pub(crate) fn lock_destroyed<T>(mutex: Mutex, lock: *const T) {
    if is_on() {
        current_thread();
        LOCK_DESTROY.tell(|function| {
            // SAFETY: the tool's function takes this.
            unsafe { function(mutex as i32, lock.addr() as u64, Caller::find().code) };
        });
    }
}

/// Calls `take`, which takes something.
#[inline(always)]
pub(crate) fn taken<T>(mutex: Mutex, id: *const T, take: impl FnOnce()) {
    if is_on() {
        taken_with_ompt(mutex, id.addr(), || {
            take();
            Nest::First
        });
    } else {
        take();
    }
}

/// Calls `take`, which may fail or take a nest lock once more. Returns its result.
#[inline(always)]
pub(crate) fn taken_so<T>(mutex: Mutex, id: *const T, take: impl FnOnce() -> Nest) -> Nest {
    if is_on() { taken_with_ompt(mutex, id.addr(), take) } else { take() }
}

#[cold]
#[inline(never)]
fn taken_with_ompt(mutex: Mutex, id: usize, take: impl FnOnce() -> Nest) -> Nest {
    current_thread();
    let (thread, id) = (ThreadRecord::known(), id as u64);
    let code = Caller::find().code;
    // SAFETY: the tool's function takes this.
    MUTEX_ACQUIRE.tell(|function| unsafe { function(mutex as i32, 0, FUTEX as u32, id, code) });
    let before = thread.and_then(|thread| thread.waits(Some(mutex.state()), id));
    let how = take();
    if let Some(thread) = thread {
        thread.waits(before, 0);
    }
    match how {
        Nest::Not => {}
        // SAFETY: the tool's function takes this.
        Nest::First => MUTEX_ACQUIRED.tell(|function| unsafe { function(mutex as i32, id, code) }),
        // SAFETY: the tool's function takes this.
        Nest::Again => NEST_LOCK.tell(|function| unsafe { function(Endpoint::Begin, id, code) }),
    }
    how
}

/// Calls `give`, which gives something back.
#[inline(always)]
pub(crate) fn given<T>(mutex: Mutex, id: *const T, give: impl FnOnce()) {
    if is_on() {
        given_with_ompt(mutex, id.addr(), || {
            give();
            Nest::First
        });
    } else {
        give();
    }
}

/// Calls `give`, after which the running task may still own the lock.
#[inline(always)]
pub(crate) fn given_so<T>(mutex: Mutex, id: *const T, give: impl FnOnce() -> Nest) {
    if is_on() {
        given_with_ompt(mutex, id.addr(), give);
    } else {
        give();
    }
}

#[cold]
#[inline(never)]
fn given_with_ompt(mutex: Mutex, id: usize, give: impl FnOnce() -> Nest) {
    current_thread();
    let how = give();
    let (id, code) = (id as u64, Caller::find().code);
    match how {
        // SAFETY: the tool's function takes this.
        Nest::Again => NEST_LOCK.tell(|function| unsafe { function(Endpoint::End, id, code) }),
        // SAFETY: the tool's function takes this.
        _ => MUTEX_RELEASED.tell(|function| unsafe { function(mutex as i32, id, code) }),
    }
}
