//! The queue of the central scheduler.

use super::super::Form;
use super::super::classes::Classes;
use super::super::local::Ring;
use crate::queued::Queued;

/// A queue that is used with the lock held.
pub(super) enum Queue {
    /// The youngest or the oldest first.
    Ring(Ring),
    /// The highest priority first.
    Classes(Classes),
}

impl Queue {
    /// The queue of a form.
    pub(super) fn new(form: Form) -> Self {
        match form {
            Form::Plain(order) | Form::Polling(order) | Form::Successor(order) => {
                Self::Ring(Ring::new(order))
            }
            Form::Priority => Self::Classes(Classes::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ring(ring) => ring.len(),
            Self::Classes(classes) => classes.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// # Safety
    /// The task is alive.
    pub(super) unsafe fn add(&mut self, task: *mut Queued) {
        match self {
            Self::Ring(ring) => ring.add([task]),
            // SAFETY: the task is alive.
            Self::Classes(classes) => classes.add(task, unsafe { (*task).priority }),
        }
    }

    pub(super) fn one(&mut self) -> Option<*mut Queued> {
        match self {
            Self::Ring(ring) => ring.one(),
            Self::Classes(classes) => classes.one(),
        }
    }

    /// Takes a task that is wanted, at any position.
    pub(super) fn one_if(&mut self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        match self {
            Self::Ring(ring) => ring.one_if(wanted),
            Self::Classes(classes) => classes.one_if(wanted),
        }
    }
}
