//! The head of everything that waits in a queue to be run once: a task, or the half of a join.
//!
//! Queues see this head alone. The worker that runs the work and the task that created it are
//! opaque here, so that the scheduler depends on neither.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::inbox::Linked;

/// The address of the worker that runs queued work; `Worker::of` returns the worker.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Runner<'a>(NonNull<()>, PhantomData<&'a ()>);

impl<'a> Runner<'a> {
    /// The address of a worker.
    #[inline(always)]
    pub(crate) fn new<W>(worker: &'a W) -> Self {
        Self(NonNull::from(worker).cast(), PhantomData)
    }

    /// The worker again.
    ///
    /// # Safety
    /// The address is that of a `W`.
    #[inline(always)]
    pub(crate) unsafe fn get<W>(self) -> &'a W {
        // SAFETY: `new` took the address from a reference that lives as long as `'a`.
        unsafe { self.0.cast().as_ref() }
    }
}

/// Runs queued work, and frees the memory of its head.
pub type Run = unsafe fn(*mut Queued, Runner<'_>);

/// Returns the address of the program's function that queued work runs, or [`NO_FUNCTION`].
pub type FunctionOf = unsafe fn(*const Queued) -> usize;

/// Stands for work that runs none of the program's code. Instrumentation does not count such work.
pub const NO_FUNCTION: usize = 1;

/// The head of queued work.
#[repr(C)]
pub struct Queued {
    pub(crate) run: Run,
    /// The next of a list that is on its way from one worker to another.
    pub(crate) next: Cell<*mut Queued>,
    /// The task that created this one; null where the work is not a task. No queue reads this
    /// field.
    pub(crate) parent: *const (),
    /// The higher, the sooner the task runs, where the scheduler knows priorities.
    pub(crate) priority: i8,
    /// Of a task: see [`crate::task`], as are the next two. No queue reads them; they fill the
    /// head, so that a task's header remains a cache line.
    pub(crate) is_shallow: bool,
    pub(crate) depth: u16,
    pub(crate) bytes: u32,
}

impl Queued {
    /// Work of priority 0 that is no task, in no list.
    #[inline(always)]
    pub(crate) fn new(run: Run) -> Self {
        Self::of_task(run, ptr::null(), 0, 0)
    }

    /// The head of a task of priority 0, in no list.
    #[inline(always)]
    pub(crate) fn of_task(run: Run, parent: *const (), bytes: u32, depth: u16) -> Self {
        let next = Cell::new(ptr::null_mut());
        Self { run, next, parent, priority: 0, is_shallow: false, depth, bytes }
    }
}

impl Linked for Queued {
    fn next(&self) -> &Cell<*mut Self> {
        &self.next
    }
}
