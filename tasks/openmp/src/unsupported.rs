//! Messages, and the end of a program that calls an unsupported function.

use std::ffi::{CStr, CString, c_char};

/// Where the stubs go. A call that silently did nothing would give wrong results.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn evenkeel_omp_unsupported(name: *const c_char) -> ! {
    // SAFETY: `name` is a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    abort_with(&[b"evenkeel: ", name, b" is not supported\n"].concat())
}

/// Ends the program loudly.
pub(crate) fn abort_with(message: &[u8]) -> ! {
    say(message);
    std::process::abort()
}

/// Prints as the program does, through the C library, so that lines stay in their order.
pub(crate) fn say_out(text: &str) {
    if let Ok(text) = CString::new(text) {
        // SAFETY: both are C strings, and the first takes one.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
    }
}

/// Writes to standard error at once, whatever the program has made of its streams.
pub(crate) fn say(message: &[u8]) {
    // SAFETY: the bytes live as long as the call, whose failure could not be reported.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
}
