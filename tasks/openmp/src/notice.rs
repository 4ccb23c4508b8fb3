//! The `error` directive at run time.

use std::ffi::{CStr, c_char, c_int};
use std::slice;

use crate::ident::Ident;
use crate::unsupported::say;
use crate::{ompt, tool};

/// clang's number of a severity that ends the program.
const FATAL: c_int = 2;
/// The other one.
const WARNING: c_int = 1;

fn tell(message: &[u8], severity: c_int) {
    if ompt::is_on() {
        tool::error(severity, message);
    }
    let line: &[u8] = if message.is_empty() { b"" } else { b": " };
    say(&[b"evenkeel: error directive", line, message, b"\n"].concat());
}

fn end() -> ! {
    // SAFETY: The program asked for it.
    unsafe { libc::exit(libc::EXIT_FAILURE) }
}

/// # Safety
/// `text` is null, or has `length` bytes, or is a C string where `length` is `usize::MAX`.
unsafe fn message<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    match (text.is_null(), length) {
        (true, _) => &[],
        // SAFETY: `text` is null, or has `length` bytes, or is a C string where `length` is
        // `usize::MAX`.
        (false, usize::MAX) => unsafe { CStr::from_ptr(text) }.to_bytes(),
        // SAFETY: `text` is null, or has `length` bytes, or is a C string where `length` is
        // `usize::MAX`.
        (false, length) => unsafe { slice::from_raw_parts(text.cast(), length) },
    }
}

/// gcc: tells something.
///
/// # Safety
/// `text` is null, or has `length` bytes, or is a C string where `length` is `usize::MAX`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_warning(text: *const c_char, length: usize) {
    // SAFETY: `text` is null, or has `length` bytes, or is a C string where `length` is
    // `usize::MAX`.
    tell(unsafe { message(text, length) }, WARNING);
}

/// gcc: tells something and ends the program.
///
/// # Safety
/// `text` is null, or has `length` bytes, or is a C string where `length` is `usize::MAX`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_error(text: *const c_char, length: usize) -> ! {
    // SAFETY: `text` is null, or has `length` bytes, or is a C string where `length` is
    // `usize::MAX`.
    tell(unsafe { message(text, length) }, FATAL);
    end()
}

/// clang: tells something, and may end the program.
///
/// # Safety
/// `text` is a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_error(_where: *mut Ident, severity: c_int, text: *const c_char) {
    // SAFETY: `text` is a C string or null.
    tell(unsafe { message(text, usize::MAX) }, severity);
    if severity == FATAL {
        end();
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn a_message_has_a_length_or_an_end() {
        let text = c"abc".as_ptr();
        // SAFETY: The text has three bytes and an end.
        let messages =
            unsafe { [message(text, 2), message(text, usize::MAX), message(ptr::null(), 5)] };
        assert_eq!(messages, [&b"ab"[..], b"abc", b""]);
    }
}
