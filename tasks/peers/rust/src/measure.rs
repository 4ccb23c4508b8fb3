//! How long did a program run, with which parameters, and was its result right? `measure.h`.

use std::ffi::{CStr, CString, c_char, c_int, c_long};
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

unsafe extern "C" {
    fn measure_open(
        program: *const c_char,
        model: *const c_char,
        argc: c_int,
        argv: *const *const c_char,
    );
    fn measure_parameter(
        name: *const c_char,
        otherwise: c_long,
        least: c_long,
        most: c_long,
    ) -> c_long;
    fn measure_text(name: *const c_char) -> *const c_char;
    fn measure_threads() -> c_int;
    fn measure_start();
    fn measure_stop();
    fn measure_close(tasks: u64, failure: *const c_char) -> c_int;
    fn measure_differ(what: *const c_char, is: u64, should_be: u64) -> *const c_char;
}

/// The fault of a result; null if the result is right.
pub struct Verdict(*const c_char);

impl Verdict {
    /// # Safety
    ///
    /// `failure` is null or a text that lives as long as the process.
    pub(crate) unsafe fn new(failure: *const c_char) -> Self {
        Self(failure)
    }

    /// This verdict if it is a fault, or else the other one.
    pub fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.0.is_null() { other() } else { self }
    }
}

/// A text that lives as long as the process.
fn forever(text: &str) -> &'static CStr {
    Box::leak(CString::new(text).expect("no name has a zero byte").into_boxed_c_str())
}

/// Names the program, and the runtime unless an argument does.
pub fn open(program: &str, model: &str) {
    let arguments: Vec<*const c_char> = std::env::args_os()
        .map(|argument| CString::new(argument.into_vec()).expect("arguments end at a zero byte"))
        .map(|argument| argument.into_raw().cast_const())
        .collect();
    let arguments = arguments.leak();
    // SAFETY: All texts live as long as the process.
    unsafe {
        measure_open(
            forever(program).as_ptr(),
            forever(model).as_ptr(),
            arguments.len() as c_int,
            arguments.as_ptr(),
        );
    }
}

/// A given parameter, or the default.
pub fn parameter(name: &str, otherwise: i64, range: RangeInclusive<i64>) -> i64 {
    // SAFETY: The name lives as long as the process.
    unsafe { measure_parameter(forever(name).as_ptr(), otherwise, *range.start(), *range.end()) }
}

/// The text of an argument, if given.
pub fn text(name: &str) -> Option<String> {
    // SAFETY: The name lives as long as the process, and so do the arguments.
    unsafe {
        let text = measure_text(forever(name).as_ptr());
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    }
}

/// The parameter `threads`.
pub fn threads() -> usize {
    // SAFETY: The function has no arguments and no precondition.
    unsafe { measure_threads() as usize }
}

/// Runs the timed part.
pub fn time<R>(timed: impl FnOnce() -> R) -> R {
    // SAFETY: The function has no arguments and no precondition.
    unsafe { measure_start() };
    let result = timed();
    // SAFETY: The function has no arguments and no precondition.
    unsafe { measure_stop() };
    result
}

/// A fault if the two numbers differ.
pub fn differ(what: &str, is: u64, should_be: u64) -> Verdict {
    // SAFETY: The text that comes back is static.
    unsafe { Verdict::new(measure_differ(forever(what).as_ptr(), is, should_be)) }
}

/// Prints the line.
pub fn close(tasks: u64, verdict: Verdict) -> ExitCode {
    // SAFETY: A verdict's text lives as long as the process.
    let status = unsafe { measure_close(tasks, verdict.0) };
    if status == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
