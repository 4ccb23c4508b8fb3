//! Waiting for children, without keeping a thread.

use std::ffi::c_int;

use evenkeel_runtime::Resume;
use evenkeel_runtime::internal::{Access, Until};

use crate::dependence::{CDependence, Dependence, Plan, read_all};
use crate::error::{Error, Result, code};
use crate::run::{create, resume};
use crate::submit::submit;
use crate::task::{CTask, Here};

/// Waits for all descendants of the running task.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_wait() -> c_int {
    code(Here::get().map(|here| {
        here.worker().wait_for_children(here.task().raw(), Until::Children(0));
    }))
}

/// Submits a task with these dependences, which resumes the running one, and pauses meanwhile.
fn wait_on(here: &Here, dependences: &[Dependence]) -> Result<()> {
    dependences.iter().try_for_each(|dependence| dependence.check(here))?;
    if dependences.iter().any(|dependence| dependence.is_weak) {
        return Err(Error::Range("`kind`", 8, "one without EKRT_WEAK: a task that waits is here"));
    }
    let (worker, waiter) = (here.worker(), here.task());
    let accesses: Vec<Access> = dependences.iter().map(Dependence::access).collect();
    // SAFETY: this worker runs the waiter.
    if unsafe { worker.are_free(waiter.raw(), &accesses) } {
        return Ok(());
    }
    let task = create(here, resume, size_of::<Resume>(), 0)?;
    // SAFETY: the task was just created, and only this function has it.
    let task = unsafe { &mut *task };
    dependences.iter().for_each(|&dependence| Plan::add(task, worker, dependence));
    let mut submitted = Ok(());
    worker.pause(|resume| {
        // SAFETY: the task was created with room for a `Resume`.
        unsafe { CTask::arguments(task).cast::<Resume>().write(resume) };
        submitted = submit(here, task);
    });
    submitted
}

/// Waits until a child with these dependences could run.
///
/// # Safety
/// `dependences` points to `number` dependences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_wait_on(dependences: *const CDependence, number: usize) -> c_int {
    let waited = || {
        let here = Here::get()?;
        // SAFETY: `dependences` points to `number` dependences.
        wait_on(&here, &unsafe { read_all(dependences, number) }?)
    };
    code(waited())
}
