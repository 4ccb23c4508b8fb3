//! The functions around `OMP_AFFINITY_FORMAT` for Fortran, whose texts have a length instead of an
//! end, and spaces behind.

use std::ffi::{c_char, c_int};
use std::slice;

use super::{Style, format, set_format, text};
use crate::registration::member;
use crate::unsupported::say;

/// A text of Fortran's, without the spaces at its end.
///
/// # Safety
/// `text` has `length` bytes.
unsafe fn trimmed(text: *const c_char, length: usize) -> String {
    if text.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: `text` has `length` bytes.
    let bytes = unsafe { slice::from_raw_parts(text.cast(), length) };
    String::from_utf8_lossy(bytes).trim_end_matches([' ', '\0']).to_owned()
}

/// Writes a text into `room`, as much as fits, and spaces behind. Returns the text's length.
///
/// # Safety
/// `room` has `size` bytes.
unsafe fn put(text: &str, room: *mut c_char, size: usize) -> c_int {
    if !room.is_null() {
        let fits = text.len().min(size);
        // SAFETY: `room` has `size` bytes.
        unsafe {
            room.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), fits);
            room.cast::<u8>().add(fits).write_bytes(b' ', size - fits);
        }
    }
    c_int::try_from(text.len()).unwrap_or(c_int::MAX)
}

/// Fortran's `omp_set_affinity_format`.
///
/// # Safety
/// `text` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_set_affinity_format_(text: *const c_char, length: usize) {
    // SAFETY: `text` has `length` bytes.
    set_format(unsafe { trimmed(text, length) });
}

/// Fortran's `omp_get_affinity_format`.
///
/// # Safety
/// `room` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_affinity_format_(room: *mut c_char, size: usize) -> c_int {
    // SAFETY: `room` has `size` bytes.
    unsafe { put(&format(Style::Gcc), room, size) }
}

/// Fortran's `omp_display_affinity`.
///
/// # Safety
/// `text` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_display_affinity_(text: *const c_char, length: usize) {
    // SAFETY: `text` has `length` bytes.
    let given = unsafe { trimmed(text, length) };
    let shown = self::text(&given, Style::Gcc, member());
    say(format!("{shown}\n").as_bytes());
}

/// Fortran's `omp_capture_affinity`.
///
/// # Safety
/// `room` has `size` bytes, and `text` has `length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_capture_affinity_(
    room: *mut c_char,
    text: *const c_char,
    size: usize,
    length: usize,
) -> c_int {
    // SAFETY: `room` has `size` bytes, and `text` has `length`.
    unsafe { put(&self::text(&trimmed(text, length), Style::Gcc, member()), room, size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_fortran_end_in_spaces() {
        let mut room = [b'x'; 5];
        // SAFETY: each call gets the length of its array.
        unsafe {
            assert_eq!(put("abc", room.as_mut_ptr().cast(), 5), 3);
            assert_eq!(&room, b"abc  ");
            assert_eq!(put("abcdefg", room.as_mut_ptr().cast(), 5), 7);
            assert_eq!(&room, b"abcde");
            assert_eq!(trimmed(c"ab  ".as_ptr(), 4), "ab");
        }
    }
}
