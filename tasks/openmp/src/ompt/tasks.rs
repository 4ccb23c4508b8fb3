//! Tasks are created, run and end.
//!
//! Every task that a tool can hear of has a record; those that the runtime makes for itself, to
//! make others or to be told when they could run, are not told.

use std::ptr;

use evenkeel_runtime::internal::Access;

use super::abi::{status, task};
use super::callbacks::{CANCEL, TASK_CREATE, TASK_SCHEDULE};
use super::caller::Caller;
use super::dependences;
use super::records::{TaskRecord, ThreadRecord};
use crate::region::Member;
use crate::task::{Code, OmpTask, Orders, Plan, When};

/// `ompt_cancel_taskgroup | ompt_cancel_discarded_task`.
const DISCARDED: i32 = 0x48;

/// Where a task's record is: at the end of its block.
///
/// # Safety
/// The task is of [`create`].
unsafe fn record(task: *const OmpTask) -> *mut TaskRecord {
    // SAFETY: the caller's promise: there is room for it.
    unsafe {
        let bytes = (*task).raw().bytes() - size_of::<TaskRecord>();
        task.cast_mut().byte_add(bytes).cast()
    }
}

/// Whether a tool hears of a task of such code.
fn is_told(code: Code) -> bool {
    matches!(code, Code::Kmp(_) | Code::Gomp(..))
}

/// What [`OmpTask::create`] does, with a record.
#[cold]
#[inline(never)]
pub(crate) fn create(member: &Member, bytes: usize, is_final: bool) -> *mut OmpTask {
    let plan = Plan { bytes: bytes + size_of::<TaskRecord>(), is_final };
    let task = OmpTask::create_as::<true>(member, &plan);
    let around = ThreadRecord::known().and_then(ThreadRecord::task);
    let region = around.map_or(ptr::null(), |around| around.region.get());
    // SAFETY: the block has room for it, behind what the program has asked for.
    unsafe {
        let record = record(task);
        record.write(TaskRecord::new(task::EXPLICIT, region, ptr::null()));
        (*record).block.set((task.cast(), (*task).raw().bytes() - size_of::<TaskRecord>()));
    }
    task
}

/// The program says that a task is untied.
///
/// # Safety
/// It is of [`create`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn is_untied(task: *const OmpTask) {
    // SAFETY: the caller's promise.
    let flags = unsafe { &(*record(task)).flags };
    flags.set(flags.get() | task::UNTIED);
}

/// Tells that the running task creates another here. Returns it and whom to tell when it goes on.
///
/// # Safety
/// The new task is of [`create`], and whole.
unsafe fn created(
    new: *const OmpTask,
    is_undeferred: bool,
    dependences: &[Access],
) -> Option<(&'static ThreadRecord, &'static TaskRecord, Caller)> {
    let (thread, around) = ThreadRecord::running()?;
    let caller = Caller::find();
    around.enters(caller);
    // SAFETY: the caller's promise.
    let (record, is_final) = unsafe { (&*record(new), (*new).is_final.get()) };
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
        dependences::told(around, record, dependences);
    }
}

/// What [`OmpTask::submit`] does, told.
///
/// # Safety
/// As of that; the task is of [`create`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn submit(this: *mut OmpTask, member: &Member, orders: Orders<'_>, when: When) {
    // SAFETY: the caller's promise.
    unsafe {
        let is_undeferred =
            when == When::Now || member.task().is_final.get() || member.team().is_none();
        let told = is_told((*this).code.get());
        let told = told.then(|| created(this, is_undeferred, orders.all)).flatten();
        OmpTask::submit_untold(this, member, orders, when);
        if let Some((_, around, _)) = told {
            around.returns();
        }
    }
}

/// A thread begins to run a task, unless that was cancelled before. Returns whether [`ends`] is to
/// be called.
///
/// # Safety
/// The task is of [`create`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn begins(task: *const OmpTask, is_cancelled: bool) -> bool {
    // SAFETY: the caller's promise.
    let (record, code) = unsafe { (&*record(task), (*task).code.get()) };
    let Some(thread) = ThreadRecord::known().filter(|_| is_told(code)) else { return false };
    if is_cancelled {
        dependences::ended(record);
        // SAFETY: the tool's function takes this.
        CANCEL.tell(|function| unsafe { function(record.data.get(), DISCARDED, ptr::null()) });
        return false;
    }
    push(thread, record);
    true
}

fn push(thread: &ThreadRecord, record: &TaskRecord) {
    record.number.set(crate::thread::member().number);
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

/// It has run the task's code.
///
/// # Safety
/// As of [`begins`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn ends(task: *const OmpTask) {
    // SAFETY: the caller's promise.
    let (record, status) = unsafe {
        let event = (*task).event.get().as_ref();
        let status = match event {
            Some(event) if !event.is_fulfilled() => status::DETACH,
            _ if (*task).is_cancelled() => status::CANCEL,
            _ => status::COMPLETE,
        };
        (&*record(task), status)
    };
    let Some(thread) = ThreadRecord::known() else { return };
    dependences::ended(record);
    record.frame.exit.set(ptr::null_mut());
    thread.current.set(record.below.get());
    thread.state.set(record.waited.get());
    schedule(Some(record), status, thread.task());
}

/// The program begins to run a new task itself.
///
/// # Safety
/// As of [`submit`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn if0_begins(task: *const OmpTask) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some((thread, _, caller)) = created(task, true, &[]) {
            let record = &*record(task);
            record.frame.exit.set(caller.own_frame);
            push(thread, record);
        }
    }
}

/// It has run it.
///
/// # Safety
/// As of [`if0_begins`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn if0_ends(task: *const OmpTask) {
    // SAFETY: the caller's promise.
    unsafe { ends(task) };
    if let Some((_, around)) = ThreadRecord::running() {
        around.returns();
    }
}

/// A task's event is fulfilled, after its code has ended or before.
///
/// # Safety
/// The task is of [`create`].
#[cold]
#[inline(never)]
pub(crate) unsafe fn fulfils(task: *const OmpTask, has_ended: bool) {
    ThreadRecord::current();
    let status = if has_ended { status::LATE_FULFILL } else { status::EARLY_FULFILL };
    // SAFETY: the caller's promise.
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
