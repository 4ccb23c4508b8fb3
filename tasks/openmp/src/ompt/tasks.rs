//! Tasks are created, run and end.
//!
//! Every task of the program has a record. Tasks that the runtime makes for itself, to create other
//! tasks or to wait for dependences, are not reported.

use std::ptr;

use evenkeel_runtime::internal::{Access, Task};

use super::abi::{status, task};
use super::callbacks::{CANCEL, TASK_CREATE, TASK_SCHEDULE};
use super::caller::Caller;
use super::dependences;
use super::records::{TaskRecord, ThreadRecord};

/// `ompt_cancel_taskgroup | ompt_cancel_discarded_task`.
const DISCARDED: i32 = 0x48;

/// Bytes at the end of a task's block for its record.
pub(crate) const RECORD_BYTES: usize = size_of::<TaskRecord>();

/// Where a task's record is: at the end of its block.
///
/// # Safety
/// The task's block ends with [`RECORD_BYTES`] for it.
unsafe fn record(task: *const Task) -> *mut TaskRecord {
    // SAFETY: the block has this many bytes, the last of which are the record's.
    unsafe {
        let bytes = (*task).bytes() - RECORD_BYTES;
        task.cast_mut().byte_add(bytes).cast()
    }
}

/// Writes the record of a new task of the running one.
///
/// # Safety
/// The task's header is written, and its block ends with [`RECORD_BYTES`] for the record.
#[cold]
#[inline(never)]
pub(crate) unsafe fn write_record(task: *mut Task) {
    let around = ThreadRecord::known().and_then(ThreadRecord::task);
    let region = around.map_or(ptr::null(), |around| around.region.get());
    // SAFETY: the block ends with room for the record.
    unsafe {
        let record = record(task);
        record.write(TaskRecord::new(task::EXPLICIT, region, ptr::null()));
        (*record).block.set((task.cast(), (*task).bytes() - RECORD_BYTES));
    }
}

/// The program says that a task is untied.
///
/// # Safety
/// The task has a record of [`write_record`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn is_untied(task: *const Task) {
    // SAFETY: the task has a record of `write_record`.
    let flags = unsafe { &(*record(task)).flags };
    flags.set(flags.get() | task::UNTIED);
}

/// The running task creates another one here. Returns the running task, which
/// [returns](TaskRecord::returns) when it goes on.
///
/// # Safety
/// The new task has a record of [`write_record`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn creates(
    new: *const Task,
    is_undeferred: bool,
    is_final: bool,
    dependences: &[Access],
) -> Option<&'static TaskRecord> {
    // SAFETY: the new task has a record.
    unsafe { created(new, is_undeferred, is_final, dependences) }.map(|(_, around, _)| around)
}

/// # Safety
/// The new task has a record of [`write_record`].
unsafe fn created(
    new: *const Task,
    is_undeferred: bool,
    is_final: bool,
    dependences: &[Access],
) -> Option<(&'static ThreadRecord, &'static TaskRecord, Caller)> {
    let (thread, around) = ThreadRecord::running()?;
    let caller = Caller::find();
    around.enters(caller);
    // SAFETY: the new task has a record.
    let record = unsafe { &*record(new) };
    let undeferred = if is_undeferred { task::UNDEFERRED } else { 0 };
    let last = if is_final { task::FINAL } else { 0 };
    record.flags.set(record.flags.get() | undeferred | last);
    tell_created(around, record, dependences, caller);
    Some((thread, around, caller))
}

fn tell_created(around: &TaskRecord, record: &TaskRecord, dependences: &[Access], caller: Caller) {
    TASK_CREATE.tell(|function| {
        let (data, frame) = (around.data.get(), &raw const around.frame);
        let (flags, depends) = (record.flags.get() as i32, i32::from(!dependences.is_empty()));
        // SAFETY: the tool's function takes this.
        unsafe { function(data, frame, record.data.get(), flags, depends, caller.code) };
    });
    if !dependences.is_empty() {
        dependences::tell(around, record, dependences);
    }
}

/// The thread of this number in its region begins to run a task, unless that was cancelled before.
/// Returns whether [`ends`] is to be called.
///
/// # Safety
/// The task has a record of [`write_record`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn begins(task: *const Task, is_cancelled: bool, number: u32) -> bool {
    // SAFETY: the task has a record.
    let record = unsafe { &*record(task) };
    let Some(thread) = ThreadRecord::known() else { return false };
    if is_cancelled {
        dependences::ended(record);
        // SAFETY: the tool's function takes this.
        CANCEL.tell(|function| unsafe { function(record.data.get(), DISCARDED, ptr::null()) });
        return false;
    }
    push(thread, record, number);
    true
}

fn push(thread: &ThreadRecord, record: &TaskRecord, number: u32) {
    record.number.set(number);
    record.below.set(thread.current.get());
    schedule(thread.task(), status::SWITCH, Some(record));
    record.waited.set(thread.state.take());
    thread.current.set(record);
}

fn schedule(prior: Option<&TaskRecord>, status: i32, next: Option<&TaskRecord>) {
    let data =
        |record: Option<&TaskRecord>| record.map_or(ptr::null_mut(), |record| record.data.get());
    // SAFETY: the tool's function takes this.
    TASK_SCHEDULE.tell(|function| unsafe { function(data(prior), status, data(next)) });
}

/// How a task's code has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeEnd {
    /// The task goes on until its event is fulfilled.
    Detached,
    Cancelled,
    Complete,
}

impl CodeEnd {
    /// `ompt_task_status_t`.
    fn status(self) -> i32 {
        match self {
            Self::Detached => status::DETACH,
            Self::Cancelled => status::CANCEL,
            Self::Complete => status::COMPLETE,
        }
    }
}

/// The thread has run the task's code.
///
/// # Safety
/// [`begins`] has returned true for the task.
#[cold]
#[inline(never)]
pub(crate) unsafe fn ends(task: *const Task, end: CodeEnd) {
    // SAFETY: the task has a record, since it has begun.
    let record = unsafe { &*record(task) };
    let Some(thread) = ThreadRecord::known() else { return };
    dependences::ended(record);
    record.frame.exit.set(ptr::null_mut());
    thread.current.set(record.below.get());
    thread.state.set(record.waited.get());
    schedule(Some(record), end.status(), thread.task());
}

/// The program begins to run a new task itself, on the thread of this number in its region.
///
/// # Safety
/// The task has a record of [`write_record`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn if0_begins(task: *const Task, is_final: bool, number: u32) {
    // SAFETY: the task has a record.
    unsafe {
        if let Some((thread, _, caller)) = created(task, true, is_final, &[]) {
            let record = &*record(task);
            record.frame.exit.set(caller.own_frame);
            push(thread, record, number);
        }
    }
}

/// The program has run the task.
///
/// # Safety
/// [`if0_begins`] was called for the task.
#[cold]
#[inline(never)]
pub(crate) unsafe fn if0_ends(task: *const Task, end: CodeEnd) {
    // SAFETY: the task has a record, since it has begun.
    unsafe { ends(task, end) };
    if let Some((_, around)) = ThreadRecord::running() {
        around.returns();
    }
}

/// A task's event is fulfilled, after its code has ended or before.
///
/// # Safety
/// The task has a record of [`write_record`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn fulfils(task: *const Task, has_ended: bool) {
    let status = if has_ended { status::LATE_FULFILL } else { status::EARLY_FULFILL };
    // SAFETY: the task has a record.
    schedule(Some(unsafe { &*record(task) }), status, None);
}

/// Calls `wait`, which waits for these dependences as a task would.
#[cold]
#[inline(never)]
pub(crate) fn taskwait_depends(dependences: &[Access], wait: impl FnOnce()) {
    let Some((_, around)) = ThreadRecord::running() else { return wait() };
    let caller = Caller::find();
    around.enters(caller);
    let flags = task::TASKWAIT | task::UNDEFERRED | task::MERGEABLE;
    let record = TaskRecord::new(flags, around.region.get(), around);
    tell_created(around, &record, dependences, caller);
    wait();
    dependences::ended(&record);
    schedule(Some(&record), status::TASKWAIT_COMPLETE, None);
    around.returns();
}
