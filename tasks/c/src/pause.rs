//! A task that stops until somebody lets it go on.

use std::ffi::{c_int, c_void};

use evenkeel_runtime::Resume;

use crate::error::{Error, code};
use crate::run::call;
use crate::task::Here;

/// `struct ekrt_paused`: the right to let a task go on, once.
pub struct Paused {
    resume: Resume,
}

/// Is told how the task is resumed, before it stops.
pub type Start = unsafe extern "C-unwind" fn(*mut Paused, *mut c_void);

/// Stops the running task until `ekrt_resume`.
///
/// # Safety
/// `start` may be called with this data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_pause(start: Option<Start>, data: *mut c_void) -> c_int {
    let paused = || {
        let start = start.ok_or(Error::Null("`start`"))?;
        let here = Here::get()?;
        if !here.task().is_deferred() {
            return Err(Error::Deferred);
        }
        here.worker().pause(|resume| {
            let paused = Box::into_raw(Box::new(Paused { resume }));
            // SAFETY: the caller's promise.
            call(|| unsafe { start(paused, data) });
        });
        Ok(())
    };
    code(paused())
}

/// Lets a task go on. From any thread.
///
/// # Safety
/// `ekrt_pause` gave it, and it was not used before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_resume(paused: *mut Paused) -> c_int {
    if paused.is_null() {
        return code(Err(Error::Null("`paused`")));
    }
    // SAFETY: the caller's promise: it came from a box.
    unsafe { Box::from_raw(paused) }.resume.resume();
    code(Ok(()))
}
