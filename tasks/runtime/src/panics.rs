//! Panics of tasks: the first one of a scope is kept for the thread that waits for the scope.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Mutex, lock};

/// Panics of panics' payloads that are dropped, each while the one before is.
const DROPS_MAX: u32 = 8;

/// The first panic of the tasks of a scope.
pub(crate) struct Panics {
    first: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Panics {
    pub(crate) fn none() -> Self {
        Self { first: Mutex::new(None) }
    }

    /// The first, if a task has panicked.
    pub(crate) fn take(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.first).take()
    }

    /// Keeps the first panic, and drops later ones.
    pub(crate) fn keep(&self, panic: Box<dyn Any + Send>) {
        let mut first = lock(&self.first);
        if first.is_none() {
            *first = Some(panic);
            return;
        }
        drop(first);
        drop_panic(panic);
    }
}

/// Drops a panic that is reported to no caller. Dropping may panic in turn, which is not reported
/// either; after `DROPS_MAX` panics the last one leaks.
pub(crate) fn drop_panic(panic: Box<dyn Any + Send>) {
    let mut left = panic;
    for _ in 0..DROPS_MAX {
        match catch_unwind(AssertUnwindSafe(|| drop(left))) {
            Ok(()) => return,
            Err(another) => left = another,
        }
    }
    std::mem::forget(left);
}
