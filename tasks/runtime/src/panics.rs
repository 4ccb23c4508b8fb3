//! Panics of tasks: the first of a scope is kept for whoever waits for the scope.

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

    /// Others than the first are dropped.
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

/// Drops a panic that nobody is told of, which may panic in turn: nobody is told of that either.
/// Who panics again and again is left as it is.
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
