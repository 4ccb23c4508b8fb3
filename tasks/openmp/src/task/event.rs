//! Events: a task with one ends when its code has ended and the program has fulfilled the event.
//!
//! A task that is cancelled before its code begins ends right then: mostly that code would have had
//! the event fulfilled. A later call that fulfils the event finds the event, and no task.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use evenkeel_runtime::internal::{Task, Team};

/// The task's code has ended.
pub(super) const ENDED: u32 = 1;
/// The event was fulfilled.
pub(super) const FULFILLED: u32 = 2;
/// A thread begins to fulfil the event, and may read the task until the event is fulfilled.
pub(super) const MET: u32 = 4;
/// The task has ended without the event.
pub(super) const DISCARDED: u32 = 8;

/// The event of a task.
pub struct Event {
    pub(super) state: AtomicU32,
    /// The flag of a thread that waits for the task's code; null if none does.
    waiter: Cell<*const AtomicBool>,
    pub(super) task: *const Task,
    /// The tree of the worker that ran the task's creator.
    pub(super) tree: *const Team,
}

impl Event {
    /// The event of a task that has not been added. `tree` is that of the creator's worker.
    pub(super) fn new(task: *const Task, tree: *const Team) -> Self {
        Self { state: AtomicU32::new(0), waiter: Cell::new(ptr::null()), task, tree }
    }

    /// Whether the event was fulfilled.
    pub(crate) fn is_fulfilled(&self) -> bool {
        self.state.load(Ordering::Relaxed) & FULFILLED != 0
    }

    /// Sets the flag of a thread that waits for the task's code, before the task is added.
    pub(crate) fn tells(&self, waiter: &AtomicBool) {
        self.waiter.set(waiter);
    }

    /// The task's code has ended. Returns whether the task has; if not, the thread that fulfils the
    /// event ends the task.
    ///
    /// # Safety
    /// The event is that of the task, and is not used after this call.
    pub(crate) unsafe fn code_ended(this: *mut Self) -> bool {
        // SAFETY: the event goes when both have happened; a waiting thread keeps its flag until
        // that is set.
        unsafe {
            let waiter = (*this).waiter.get();
            let has_ended = (*this).state.fetch_or(ENDED, Ordering::AcqRel) & FULFILLED > 0;
            if has_ended {
                drop(Box::from_raw(this));
            }
            if let Some(waiter) = waiter.as_ref() {
                waiter.store(true, Ordering::Release);
            }
            has_ended
        }
    }

    /// The task was cancelled, and its code will not run: the task ends without its event. Returns
    /// whether the task has ended; if not, the thread that fulfils the event ends the task.
    ///
    /// # Safety
    /// The event is that of the task, and is not used after this call.
    #[cold]
    pub(crate) unsafe fn discarded(this: *mut Self) -> bool {
        // SAFETY: the event is that of the task; a later call that fulfils it frees it.
        unsafe {
            let waiter = (*this).waiter.get();
            let before = (*this).state.fetch_or(ENDED | DISCARDED, Ordering::AcqRel);
            if before & FULFILLED != 0 {
                drop(Box::from_raw(this));
            }
            if let Some(waiter) = waiter.as_ref() {
                waiter.store(true, Ordering::Release);
            }
            before & (MET | FULFILLED) != MET
        }
    }
}
