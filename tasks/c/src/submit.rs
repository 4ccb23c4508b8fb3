//! Submits a created task to the scheduler.

use std::ffi::c_int;
use std::ptr;

use evenkeel_runtime::internal::{Access, RangeAccess, Uses};

use crate::dependence::{Dependence, Plan};
use crate::error::{Result, code};
use crate::run::function_of;
use crate::task::{CTask, Here};

/// Submits a task that the running one has created.
pub(crate) fn submit(here: &Here, handle: *const CTask) -> Result<()> {
    let (worker, creator) = (here.worker(), here.task());
    // Checked again: merging two dependences on one address may turn both into a write.
    let task = creator.created(handle)?;
    // SAFETY: the task is alive, only its creator uses it, and its plan is null or initialised.
    let (plan, dependences) = unsafe {
        let plan = Plan::of(&*task).get();
        (plan, &*Plan::all(plan))
    };
    dependences.iter().try_for_each(|dependence| dependence.check(here))?;
    creator.take_created(handle)?;
    creator.raw().creates();
    // SAFETY: the task left the list of unsubmitted ones, so this is its only submission; this
    // worker runs its creator.
    unsafe {
        Plan::of(&*task).set(ptr::null_mut());
        if (*task).is_deferred() {
            creator.defers();
        }
        if dependences.is_empty() {
            let may_run = !(*task).is_deferred()
                && worker.inlines(function_of(task.cast()))
                && !((*task).is_wide() && worker.avoids_wide());
            if may_run {
                worker.run_now(task.cast());
            } else {
                worker.submit_free(task.cast());
            }
        } else {
            if dependences.iter().any(|dependence| dependence.range().is_some()) {
                submit_with_ranges(here, task, dependences);
                Plan::free(plan, worker);
                return Ok(());
            }
            let accesses = dependences.iter().map(Dependence::access);
            if creator.may_help() {
                worker.submit_ordered(task.cast(), creator.raw(), accesses);
            } else {
                worker.queue_ordered(task.cast(), creator.raw(), accesses);
            }
            Plan::free(plan, worker);
        }
    }
    Ok(())
}

/// Submits a task that uses ranges, and perhaps addresses.
///
/// # Safety
/// The running task created `task`, and this is its only submission.
unsafe fn submit_with_ranges(here: &Here, task: *mut CTask, dependences: &[Dependence]) {
    let ranges: Vec<RangeAccess> = dependences.iter().filter_map(Dependence::range).collect();
    let plain = dependences.iter().filter(|dependence| dependence.range().is_none());
    let accesses: Vec<Access> = plain.map(Dependence::access).collect();
    let uses = Uses { accesses: &accesses, ranges: &ranges };
    let creator = here.task();
    // SAFETY: the task is submitted once, by the worker that runs its creator.
    unsafe {
        here.worker().submit_with_ranges(task.cast(), creator.raw(), uses, creator.may_help());
    }
}

/// Submits a task, which runs when its dependences allow.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_submit(task: *mut CTask) -> c_int {
    code(Here::get().and_then(|here| submit(&here, task)))
}
