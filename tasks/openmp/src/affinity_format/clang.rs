//! The functions around `OMP_AFFINITY_FORMAT` under the names that clang's header gives them.

use std::ffi::c_char;

use super::calls::{omp_set_affinity_format, put, said};
use super::{Style, format};

/// clang's name of [`omp_set_affinity_format`].
///
/// # Safety
/// `format` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_set_affinity_format(format: *const c_char) {
    // SAFETY: `format` is a C string.
    unsafe { omp_set_affinity_format(format) };
}

/// clang's `omp_get_affinity_format`.
///
/// # Safety
/// `room` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_get_affinity_format(room: *mut c_char, size: usize) -> usize {
    // SAFETY: `room` has `size` bytes.
    unsafe { put(&format(Style::Clang), room, size) }
}

/// clang's `omp_display_affinity`.
///
/// # Safety
/// `format` is a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_display_affinity(format: *const c_char) {
    // SAFETY: `format` is a C string or null.
    Style::Clang.tell(&unsafe { said(format, Style::Clang) });
}

/// clang's `omp_capture_affinity`.
///
/// # Safety
/// `room` has `size` bytes; `format` is a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_capture_affinity(
    room: *mut c_char,
    size: usize,
    format: *const c_char,
) -> usize {
    // SAFETY: `room` has `size` bytes; `format` is a C string or null.
    unsafe { put(&said(format, Style::Clang), room, size) }
}
