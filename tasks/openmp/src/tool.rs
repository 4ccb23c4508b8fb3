//! Calls of the program to an OMPT tool.

mod inquiry;
pub(crate) mod lookup;
pub(crate) mod mutexes;

use std::ffi::{CString, c_int, c_void};

use crate::ompt::caller::Caller;
use crate::ompt::records::ThreadRecord;
use crate::ompt::{callbacks, find, is_on};
use crate::registration::current_thread;
use lookup::lookup;

/// `omp_control_tool_notool`.
const NO_TOOL: c_int = -2;
/// `omp_control_tool_nocallback`.
const NO_CALLBACK: c_int = -1;

/// Asks the tool for something, as the program does with `omp_control_tool`.
pub(crate) fn control(command: c_int, modifier: c_int, argument: *mut c_void) -> c_int {
    // The first call of the program may be this one.
    find::start(lookup);
    if !is_on() {
        return NO_TOOL;
    }
    current_thread();
    let Some(function) = callbacks::CONTROL_TOOL.function() else { return NO_CALLBACK };
    let caller = Caller::find();
    let task = ThreadRecord::known().and_then(ThreadRecord::task);
    if let Some(task) = task {
        task.enters(caller);
    }
    // SAFETY: the tool's function takes this.
    let answer = unsafe { function(command as u64, modifier as u64, argument, caller.code) };
    if let Some(task) = task {
        task.returns();
    }
    answer
}

/// The program says that something is wrong.
pub(crate) fn error(severity: c_int, message: &[u8]) {
    callbacks::ERROR_DIRECTIVE.tell(|function| {
        current_thread();
        let text = CString::new(message).unwrap_or_default();
        // SAFETY: the tool's function takes this.
        unsafe { function(severity, text.as_ptr(), message.len(), Caller::find().code) };
    });
}
