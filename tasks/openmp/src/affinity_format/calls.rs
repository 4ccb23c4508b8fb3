//! The functions around `OMP_AFFINITY_FORMAT` for C, as gcc's header has them.

use std::ffi::{CStr, c_char};

use super::{Style, format, set_format, text};
use crate::registration::member;

/// Puts a text into room of the program's, as much as fits, and says how long the text is.
///
/// # Safety
/// `room` has `size` bytes.
pub(super) unsafe fn put(text: &str, room: *mut c_char, size: usize) -> usize {
    if !room.is_null() && size > 0 {
        let fits = text.len().min(size - 1);
        // SAFETY: `room` has `size` bytes.
        unsafe {
            room.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), fits);
            room.add(fits).write(0);
        }
    }
    text.len()
}

/// Sets the format.
///
/// # Safety
/// `format` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_set_affinity_format(format: *const c_char) {
    // SAFETY: `format` is a C string.
    let text = unsafe { CStr::from_ptr(format) }.to_string_lossy().into_owned();
    set_format(text);
}

/// Writes the format into `room`, as much as fits. Returns the format's length.
///
/// # Safety
/// `room` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_affinity_format(room: *mut c_char, size: usize) -> usize {
    // SAFETY: `room` has `size` bytes.
    unsafe { put(&format(Style::Gcc), room, size) }
}

/// Writes the text of a format for the calling thread into `room`, as much as fits. Returns the
/// text's length. A null or empty format stands for the one that was set.
///
/// # Safety
/// `room` has `size` bytes; `format` is a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_capture_affinity(
    room: *mut c_char,
    size: usize,
    format: *const c_char,
) -> usize {
    // SAFETY: `room` has `size` bytes; `format` is a C string or null.
    unsafe { put(&said(format, Style::Gcc), room, size) }
}

/// Prints the text of a format for the calling thread on standard error.
///
/// # Safety
/// `format` is a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_display_affinity(format: *const c_char) {
    // SAFETY: `format` is a C string or null.
    Style::Gcc.tell(&unsafe { said(format, Style::Gcc) });
}

/// # Safety
/// `given` is a C string or null.
pub(super) unsafe fn said(given: *const c_char, style: Style) -> String {
    let given = if given.is_null() {
        String::new()
    } else {
        // SAFETY: `given` is a C string or null.
        unsafe { CStr::from_ptr(given) }.to_string_lossy().into_owned()
    };
    text(&given, style, member())
}
