//! From created to submitted.

use std::ffi::c_int;
use std::ptr;

use crate::dependence::{Dependence, Plan};
use crate::error::{Result, code};
use crate::task::{CTask, Here, run};

/// Submits a task that the running one has created.
pub(crate) fn submit(here: &Here, handle: *const CTask) -> Result<()> {
    let (worker, creator) = (here.worker(), here.task());
    // A merged dependence may say more than each that was checked.
    let task = creator.created(handle)?;
    // SAFETY: the task is alive, and the running one's alone; its plan is null or whole.
    let (plan, dependences) = unsafe {
        let plan = (*task).plan().get();
        (plan, &*Plan::all(plan))
    };
    dependences.iter().try_for_each(|dependence| dependence.check(here))?;
    creator.take_created(handle)?;
    creator.raw().creates();
    // SAFETY: it was created, and is now submitted, once; this worker runs its creator.
    unsafe {
        (*task).plan().set(ptr::null_mut());
        if (*task).is_deferred() {
            creator.defers();
        }
        if dependences.is_empty() {
            let may_run =
                !(*task).is_deferred() && worker.may_run_at_once(run as *const () as usize);
            if may_run {
                worker.run_now(task.cast());
            } else {
                worker.submit_free(task.cast());
            }
        } else {
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

/// Submits a task: it runs when its dependences allow it.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_submit(task: *mut CTask) -> c_int {
    code(Here::get().and_then(|here| submit(&here, task)))
}
