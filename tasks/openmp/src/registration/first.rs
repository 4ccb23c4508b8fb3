//! Whether any thread of the process has called the library.
//!
//! The first call finds out what the process knows once (settings, the machine, a tool). Until it
//! is done, [`STARTING`] is held, so that fork(2) cannot copy half of it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use evenkeel_runtime::internal::lock_std;

/// Whether a thread has been registered, and so all is known that is found out once.
static STARTED: AtomicBool = AtomicBool::new(false);
/// Held by each thread that registers until [`STARTED`] is set.
static STARTING: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether this thread holds [`STARTING`].
    static STARTS: Cell<bool> = const { Cell::new(false) };
}

/// While this guard lives no other thread is the first to register.
pub(crate) struct Starting(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, ()>);

impl Drop for Starting {
    fn drop(&mut self) {
        STARTS.set(false);
    }
}

/// A thread registers. `None` once another thread has been registered, and where this thread holds
/// the lock already: a tool calls the library from inside.
pub(crate) fn starting() -> Option<Starting> {
    if STARTED.load(Ordering::Acquire) || STARTS.replace(true) {
        return None;
    }
    Some(Starting(lock_std(&STARTING)))
}

/// A thread has been registered.
pub(crate) fn has_started() {
    STARTED.store(true, Ordering::Release);
}
