//! A task: the runtime's header, the function and, behind, its arguments, in one block.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::{self, NonNull};

use evenkeel_runtime::internal::{Task, Worker, current_worker};

use crate::error::{Error, Result};

/// The function of a task. An exception that leaves the function ends the process.
pub type Code = unsafe extern "C-unwind" fn(*mut c_void);

/// `EKRT_DEFERRED`: the task never runs before `ekrt_submit` returns.
pub(crate) const DEFERRED: u32 = 1;
/// `EKRT_WIDE`: the task runs 512-bit instructions.
pub(crate) const WIDE: u32 = 2;
/// The task has submitted deferred children.
const DEFERS: u32 = 4;
/// A task. The meaning of `created` and `attached` changes when the task is submitted.
#[repr(C, align(32))]
pub struct CTask {
    task: Task,
    pub(crate) code: Code,
    /// Before the task is submitted: the next older task that its creator has not submitted.
    /// Afterwards: the newest child that the task itself has created and not submitted.
    created: Cell<*mut CTask>,
    /// Before the task is submitted: its dependences. Afterwards: its events. Null at first.
    attached: Cell<*mut c_void>,
    flags: Cell<u32>,
}

const _: () = assert!(offset_of!(CTask, task) == 0 && size_of::<CTask>() == 96);

/// The worker of this thread, and through it the task whose code calls.
pub(crate) struct Here {
    worker: NonNull<Worker>,
}

impl Here {
    /// For a call from any thread: an error if the thread runs no task.
    pub(crate) fn get() -> Result<Self> {
        current_worker().map(|worker| Self { worker }).ok_or(Error::Outside)
    }

    /// For the code of a scope, around the first task.
    pub(crate) fn of_scope() -> Self {
        Self { worker: current_worker().expect("a scope's code runs on a worker") }
    }

    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: the worker of this thread lives longer than a call from its task.
        unsafe { self.worker.as_ref() }
    }

    /// The running task, always a [`CTask`]: only `run` of `run.rs` calls the program's code.
    pub(crate) fn task(&self) -> &CTask {
        // SAFETY: the running task is a `CTask`, and alive while its code runs.
        unsafe { &*self.worker().current_task().cast() }
    }
}

impl CTask {
    /// A task with this header, in no list; the caller puts its arguments behind.
    pub(crate) fn new(task: Task, code: Code, flags: u32) -> Self {
        let (created, attached) = (Cell::new(ptr::null_mut()), Cell::new(ptr::null_mut()));
        Self { task, code, created, attached, flags: Cell::new(flags) }
    }

    /// The runtime's part of the task.
    pub(crate) fn raw(&self) -> &Task {
        &self.task
    }

    /// Sets the priority.
    pub(crate) fn set_priority(&mut self, priority: i8) {
        self.task.set_priority(priority);
    }

    pub(crate) fn is_deferred(&self) -> bool {
        self.flags.get() & DEFERRED > 0
    }

    /// Whether the task was declared to run 512-bit instructions.
    pub(crate) fn is_wide(&self) -> bool {
        self.task.is_wide()
    }

    /// Notes that a child is deferred.
    pub(crate) fn defers(&self) {
        self.flags.set(self.flags.get() | DEFERS);
    }

    /// Whether the task may run its children on its own stack while it creates more: none of them
    /// is deferred.
    pub(crate) fn may_help(&self) -> bool {
        self.flags.get() & DEFERS == 0
    }

    /// The task's arguments.
    pub(crate) fn arguments(this: *mut Self) -> *mut c_void {
        this.wrapping_add(1).cast()
    }

    /// The address of the task's dependences or events: see [`CTask::attached`].
    pub(crate) fn attached(&self) -> &Cell<*mut c_void> {
        &self.attached
    }

    /// Empties the list of created and unsubmitted tasks; returns the newest, linked to the rest.
    pub(crate) fn take_all_created(&self) -> *mut CTask {
        self.created.replace(ptr::null_mut())
    }

    /// The next older task in the creator's list.
    pub(crate) fn created_before(&self) -> *mut CTask {
        self.created.get()
    }

    /// Adds a new child, which is not submitted, to the list.
    pub(crate) fn adds(&self, child: &CTask) {
        child.created.set(self.created.replace(ptr::from_ref(child).cast_mut()));
    }

    /// The task with this handle, if the list of created and unsubmitted tasks has it. Such a task
    /// is alive, and only this one uses it.
    pub(crate) fn created(&self, handle: *const CTask) -> Result<*mut CTask> {
        self.place_of(handle).map(Cell::get)
    }

    /// Takes the task with this handle out of the list.
    pub(crate) fn take_created(&self, handle: *const CTask) -> Result<*mut CTask> {
        let place = self.place_of(handle)?;
        let task = place.get();
        // SAFETY: tasks in the list are alive.
        place.set(unsafe { (*task).created.replace(ptr::null_mut()) });
        Ok(task)
    }

    /// The link of the list that points to a task. The handle itself is never dereferenced.
    fn place_of(&self, handle: *const CTask) -> Result<&Cell<*mut CTask>> {
        let mut place = &self.created;
        while !ptr::eq(place.get(), handle) {
            // SAFETY: tasks in the list are alive.
            place = unsafe { place.get().as_ref() }.map(|task| &task.created).ok_or(Error::Task)?;
        }
        if handle.is_null() { Err(Error::Task) } else { Ok(place) }
    }
}
