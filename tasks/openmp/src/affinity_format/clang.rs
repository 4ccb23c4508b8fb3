//! The functions around `OMP_AFFINITY_FORMAT` under the names that clang's header gives them.

use std::ffi::c_char;

use super::calls::{omp_set_affinity_format, put, said};
use super::{Style, format};

/// clang's name of [`omp_set_affinity_format`].
///
/// # Safety
/// As of that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_set_affinity_format(format: *const c_char) {
    // SAFETY: As the caller promises.
    unsafe { omp_set_affinity_format(format) };
}

/// clang's `omp_get_affinity_format`.
///
/// # Safety
/// As of gcc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_get_affinity_format(room: *mut c_char, size: usize) -> usize {
    // SAFETY: As the caller promises.
    unsafe { put(&format(Style::Clang), room, size) }
}

/// clang's `omp_display_affinity`.
///
/// # Safety
/// As of gcc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_display_affinity(format: *const c_char) {
    // SAFETY: As the caller promises.
    Style::Clang.tell(&unsafe { said(format, Style::Clang) });
}

/// clang's `omp_capture_affinity`.
///
/// # Safety
/// As of gcc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompc_capture_affinity(
    room: *mut c_char,
    size: usize,
    format: *const c_char,
) -> usize {
    // SAFETY: As the caller promises.
    unsafe { put(&said(format, Style::Clang), room, size) }
}
