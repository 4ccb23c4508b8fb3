//! Tasks of a tree that have a priority: they come before all other tasks of every queue.

use super::classes::Classes;
use crate::queued::Queued;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// One queue for the whole tree: nearly every other task waits for a task with a priority, and so
/// such tasks are few.
pub(super) struct Urgent {
    /// Length of the queue, for workers that do not hold the lock.
    queued: AtomicUsize,
    classes: Mutex<Classes>,
}

impl Urgent {
    pub(super) fn new() -> Self {
        Self { queued: AtomicUsize::new(0), classes: Mutex::new(Classes::new()) }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queued.load(Ordering::Relaxed) == 0
    }

    /// # Safety
    /// The task is alive, and in no queue.
    pub(super) unsafe fn add(&self, task: *mut Queued) {
        // SAFETY: the task is alive.
        self.with(|classes| unsafe { classes.add(task, (*task).priority) });
    }

    /// The oldest of the highest priority.
    #[cold]
    pub(super) fn one(&self) -> Option<*mut Queued> {
        self.with(Classes::one)
    }

    /// The first task by priority that is wanted.
    pub(super) fn one_if(&self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        if self.is_empty() {
            return None;
        }
        self.with(|classes| classes.one_if(wanted))
    }

    fn with<R>(&self, work: impl FnOnce(&mut Classes) -> R) -> R {
        let mut classes = lock(&self.classes);
        let result = work(&mut classes);
        self.queued.store(classes.len(), Ordering::Relaxed);
        result
    }
}
