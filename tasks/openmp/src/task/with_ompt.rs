//! Tasks of which an OMPT tool hears. Every task has a record at the end of its block then.
//!
//! A tool hears of the program's tasks; those that this library makes for itself, to make other
//! tasks or to be told when they could run, are hidden from it.

use evenkeel_runtime::internal::Access;

use super::header::OmpTask;
use super::{Dependences, Plan, When};
use crate::ompt::{self, CodeEnd, RECORD_BYTES};
use crate::region::{Member, known_member};

/// [`OmpTask::create`] with a record.
#[cold]
#[inline(never)]
pub(super) fn create(member: &Member, plan: &Plan) -> *mut OmpTask {
    let plan = Plan { bytes: plan.bytes + RECORD_BYTES, is_final: plan.is_final };
    let task = OmpTask::create_as::<true>(member, &plan);
    // SAFETY: the block has room for the record, behind the program's bytes.
    unsafe { ompt::write_record(task.cast()) };
    task
}

/// [`OmpTask::submit`] for a task with a record.
///
/// # Safety
/// The conditions of [`OmpTask::submit`] hold; [`create`] made the task.
#[cold]
#[inline(never)]
pub(super) unsafe fn submit(
    this: *mut OmpTask,
    member: &Member,
    dependences: Dependences<'_>,
    when: When,
) {
    // SAFETY: the task is whole, was not added before, and has a record.
    unsafe {
        let is_undeferred =
            when == When::Now || member.task().is_final.get() || member.team().is_none();
        let is_reported = (*this).code.get().is_of_program();
        let (is_final, all): (bool, &[Access]) = ((*this).is_final.get(), dependences.all);
        let around =
            is_reported.then(|| ompt::creates(this.cast(), is_undeferred, is_final, all)).flatten();
        OmpTask::submit_without_ompt(this, member, dependences, when);
        if let Some(around) = around {
            around.returns();
        }
    }
}

/// The calling thread begins to run a task, unless that was cancelled before. Returns whether
/// [`ends`] is to be called.
///
/// # Safety
/// [`create`] made the task.
#[cold]
#[inline(never)]
pub(super) unsafe fn begins(task: *const OmpTask, is_cancelled: bool) -> bool {
    let number = known_member().map_or(0, |member| member.number);
    // SAFETY: the task has a record.
    unsafe { (*task).code.get().is_of_program() && ompt::begins(task.cast(), is_cancelled, number) }
}

/// The thread has run the code of a task.
///
/// # Safety
/// [`begins`] has returned true for the task.
#[cold]
#[inline(never)]
pub(super) unsafe fn ends(task: *const OmpTask) {
    // SAFETY: the task has a record.
    unsafe { ompt::ends(task.cast(), code_end(&*task)) };
}

fn code_end(task: &OmpTask) -> CodeEnd {
    // SAFETY: an event that was not fulfilled lives, and one that was is gone from the task.
    match unsafe { task.event.get().as_ref() } {
        Some(event) if !event.is_fulfilled() => CodeEnd::Detached,
        _ if task.is_cancelled() => CodeEnd::Cancelled,
        _ => CodeEnd::Complete,
    }
}

/// The program begins to run a new task itself, on the thread of this number.
///
/// # Safety
/// [`create`] made the task.
pub(super) unsafe fn if0_begins(task: *const OmpTask, number: u32) {
    // SAFETY: the task has a record.
    unsafe { ompt::if0_begins(task.cast(), (*task).is_final.get(), number) };
}

/// The program has run the task.
///
/// # Safety
/// [`if0_begins`] was called for the task.
pub(super) unsafe fn if0_ends(task: *const OmpTask) {
    // SAFETY: the task has a record.
    unsafe { ompt::if0_ends(task.cast(), code_end(&*task)) };
}
