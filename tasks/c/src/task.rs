//! A task: the runtime's header, what it runs, and its arguments behind, in one block.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::{self, NonNull};

use evenkeel_runtime::internal::{Task, Worker, current_worker};

use crate::error::{Error, Result};

/// What a task runs. An exception that leaves it ends the process.
pub type Code = unsafe extern "C-unwind" fn(*mut c_void);

/// `EKRT_DEFERRED`: it never runs before `ekrt_submit` returns.
pub(crate) const DEFERRED: u32 = 1;
/// `EKRT_WIDE`: it runs 512-bit instructions.
pub(crate) const WIDE: u32 = 2;
/// It has submitted deferred tasks.
const DEFERS: u32 = 4;
/// A task. What it is attached to, and what it is linked by, changes when it is submitted.
#[repr(C, align(32))]
pub struct CTask {
    task: Task,
    pub(crate) code: Code,
    /// Until it is submitted: the one that its creator created before, and has not submitted
    /// either. From then on: the last that it has itself created and not submitted.
    created: Cell<*mut CTask>,
    /// Until it is submitted: its dependences. From then on: its events. Null at first.
    attached: Cell<*mut c_void>,
    flags: Cell<u32>,
}

const _: () = assert!(offset_of!(CTask, task) == 0 && size_of::<CTask>() == 96);

/// The worker that calls, and the task whose code does.
pub(crate) struct Here {
    worker: NonNull<Worker>,
}

impl Here {
    /// Of a call from any thread.
    pub(crate) fn get() -> Result<Self> {
        current_worker().map(|worker| Self { worker }).ok_or(Error::Outside)
    }

    /// Of the code of a scope, around the first task.
    pub(crate) fn of_scope() -> Self {
        Self { worker: current_worker().expect("a scope's code runs on a worker") }
    }

    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: the worker of this thread lives longer than a call from its task.
        unsafe { self.worker.as_ref() }
    }

    /// Code of the program runs in tasks of ours alone: around it is always `run` of `run.rs`.
    pub(crate) fn task(&self) -> &CTask {
        // SAFETY: as said; it is alive while its code runs.
        unsafe { &*self.worker().current_task().cast() }
    }
}

impl CTask {
    /// A task of this header, with the arguments behind, in no list.
    pub(crate) fn new(task: Task, code: Code, flags: u32) -> Self {
        let (created, attached) = (Cell::new(ptr::null_mut()), Cell::new(ptr::null_mut()));
        Self { task, code, created, attached, flags: Cell::new(flags) }
    }

    /// What the runtime knows of it.
    pub(crate) fn raw(&self) -> &Task {
        &self.task
    }

    /// Says how soon it is to run.
    pub(crate) fn set_priority(&mut self, priority: i8) {
        self.task.set_priority(priority);
    }

    pub(crate) fn is_deferred(&self) -> bool {
        self.flags.get() & DEFERRED > 0
    }

    /// Whether it was said to run 512-bit instructions.
    pub(crate) fn is_wide(&self) -> bool {
        self.task.is_wide()
    }

    /// One of its children is to be deferred.
    pub(crate) fn defers(&self) {
        self.flags.set(self.flags.get() | DEFERS);
    }

    /// Whether its children may be run on its stack while it creates others: none is deferred.
    pub(crate) fn may_help(&self) -> bool {
        self.flags.get() & DEFERS == 0
    }

    /// Its arguments.
    pub(crate) fn arguments(this: *mut Self) -> *mut c_void {
        this.wrapping_add(1).cast()
    }

    /// Its dependences or its events, as an address: see [`CTask::attached`].
    pub(crate) fn attached(&self) -> &Cell<*mut c_void> {
        &self.attached
    }

    /// The last task that this one has created and not submitted, taken out with all before it.
    pub(crate) fn take_all_created(&self) -> *mut CTask {
        self.created.replace(ptr::null_mut())
    }

    /// The task that the same creator created before.
    pub(crate) fn created_before(&self) -> *mut CTask {
        self.created.get()
    }

    /// A new child, which is not submitted.
    pub(crate) fn adds(&self, child: &CTask) {
        child.created.set(self.created.replace(ptr::from_ref(child).cast_mut()));
    }

    /// The task with this handle, of those that this one has created and not submitted: it is
    /// alive, and this task's alone.
    pub(crate) fn created(&self, handle: *const CTask) -> Result<*mut CTask> {
        self.place_of(handle).map(Cell::get)
    }

    /// The same, taken out of the list.
    pub(crate) fn take_created(&self, handle: *const CTask) -> Result<*mut CTask> {
        let place = self.place_of(handle)?;
        let task = place.get();
        // SAFETY: it is in the list, and so alive.
        place.set(unsafe { (*task).created.replace(ptr::null_mut()) });
        Ok(task)
    }

    /// Where the list has a task. A handle is only followed when it was found.
    fn place_of(&self, handle: *const CTask) -> Result<&Cell<*mut CTask>> {
        let mut place = &self.created;
        while !ptr::eq(place.get(), handle) {
            // SAFETY: what is in the list is alive.
            place = unsafe { place.get().as_ref() }.map(|task| &task.created).ok_or(Error::Task)?;
        }
        if handle.is_null() { Err(Error::Task) } else { Ok(place) }
    }
}
