//! A task that stops until a thread resumes it.

use std::ffi::{c_int, c_void};

use evenkeel_runtime::Resume;

use crate::error::{Error, code};
use crate::run::call;
use crate::task::Here;

/// `struct ekrt_paused`: the right to resume a task, once.
pub struct Paused {
    resume: Resume,
}

/// Receives, before the task stops, the handle that resumes the task.
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
            // SAFETY: `start` may be called with this data, and `paused` is a new handle.
            call(|| unsafe { start(paused, data) });
        });
        Ok(())
    };
    code(paused())
}

/// Resumes a task. Any thread may call this.
///
/// # Safety
/// `paused` is null, or came from `ekrt_pause` and was not used before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_resume(paused: *mut Paused) -> c_int {
    if paused.is_null() {
        return code(Err(Error::Null("`paused`")));
    }
    // SAFETY: `ekrt_pause` made the handle from a box, and this is its only use.
    unsafe { Box::from_raw(paused) }.resume.resume();
    code(Ok(()))
}
