//! Create, copy arguments, declare dependences and submit, in one call.

use std::ffi::{c_int, c_void};

use crate::dependence::{CDependence, Dependence, Plan, read_all};
use crate::error::{Error, Result, code};
use crate::run::create;
use crate::submit::submit;
use crate::task::{CTask, Code, Here};

/// Creates and submits a task whose dependences were read.
///
/// # Safety
/// The pointer to the arguments has the given number of readable bytes.
unsafe fn spawn(
    here: &Here,
    function: Code,
    (arguments, bytes): (*const c_void, usize),
    dependences: &[Dependence],
    flags: u32,
) -> Result<()> {
    // Checks before the creation, since a refused task would have to be freed.
    dependences.iter().try_for_each(|dependence| dependence.check(here))?;
    let task = create(here, function, bytes, flags)?;
    // SAFETY: the task has room for `bytes` bytes, and `arguments` has as many to read.
    unsafe {
        if bytes > 0 {
            CTask::arguments(task).cast::<u8>().copy_from(arguments.cast(), bytes);
        }
        for &dependence in dependences {
            Plan::add(&*task, here.worker(), dependence);
        }
    }
    submit(here, task)
}

/// Creates and submits a task with a copy of its arguments.
///
/// # Safety
/// `arguments` points to `bytes` bytes, and `dependences` to `number` dependences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_spawn(
    function: Option<Code>,
    arguments: *const c_void,
    bytes: usize,
    dependences: *const CDependence,
    number: usize,
    flags: u32,
) -> c_int {
    let spawned = || {
        let here = Here::get()?;
        let function = function.ok_or(Error::Null("`function`"))?;
        if arguments.is_null() && bytes > 0 {
            return Err(Error::Null("`arguments`"));
        }
        // SAFETY: `dependences` has `number` elements, and `arguments` has `bytes` bytes.
        unsafe {
            let dependences = read_all(dependences, number)?;
            spawn(&here, function, (arguments, bytes), &dependences, flags)
        }
    };
    code(spawned())
}
