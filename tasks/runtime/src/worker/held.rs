//! Events that have not happened hold up tasks whose code has ended.

use std::ptr;

use super::Worker;
use crate::sync::{AtomicUsize, Ordering};
use crate::task::Task;

/// The events of one task.
pub(crate) struct Held {
    task: *const Task,
    /// Events that have not happened, and one for the task's code.
    left: AtomicUsize,
}

impl Held {
    /// # Safety
    /// `this` came from a box, and the caller uses the address no more.
    pub(crate) unsafe fn one_less(this: *const Self) -> Option<*const Task> {
        // SAFETY: `this` is alive until the last event has happened.
        unsafe {
            // Pairs with itself: the thread that finishes the task sees all writes before any
            // event.
            if (*this).left.fetch_sub(1, Ordering::AcqRel) > 1 {
                return None;
            }
            Some(Box::from_raw(this.cast_mut()).task)
        }
    }
}

impl Worker {
    /// One more event of a task whose code runs here.
    pub(crate) fn hold(&self, task: &Task) -> *const Held {
        if task.is_root() {
            // A thread that waits for the scope waits for this as for a task.
            task.children.create();
            return Box::into_raw(Box::new(Held { task, left: AtomicUsize::new(1) }));
        }
        let mut held = self.held.borrow_mut();
        let known = held.iter().find(|(of, _)| ptr::eq(*of, task)).map(|&(_, held)| held);
        let held = known.unwrap_or_else(|| {
            let new = Box::into_raw(Box::new(Held { task, left: AtomicUsize::new(1) }));
            held.push((task, new));
            new
        });
        // SAFETY: `held` is alive while the task's code runs.
        unsafe { (*held).left.fetch_add(1, Ordering::Relaxed) };
        held
    }

    /// The code of a task has ended. Returns whether an event that has not happened holds the task
    /// up: the last event finishes the task.
    #[inline]
    pub fn is_held(&self, task: *const Task) -> bool {
        if self.held.borrow().is_empty() {
            return false;
        }
        let mut all = self.held.borrow_mut();
        let Some(place) = all.iter().position(|(of, _)| ptr::eq(*of, task)) else { return false };
        let (_, held) = all.swap_remove(place);
        // SAFETY: its code has ended just now.
        unsafe { Held::one_less(held).is_none() }
    }
}
