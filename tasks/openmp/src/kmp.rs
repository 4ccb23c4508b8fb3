//! libomp's functions beside OpenMP's, for programs that call them (`kmp_…` in its `omp.h`).
//!
//! Calls that tune libomp are accepted and have no effect: they change no result.

mod affinity;
mod fortran;

use std::ffi::{c_char, c_int, c_void};

use crate::allocate::calls::{omp_aligned_alloc, omp_alloc, omp_calloc, omp_free, omp_realloc};
use crate::environment::Wait;
use crate::settings::settings;

/// `omp_default_mem_alloc`.
const DEFAULT: usize = 1;
/// `library_throughput`: waiting threads yield their CPUs.
const THROUGHPUT: c_int = 2;
/// libomp's stack of a thread, where nothing else is asked for.
const STACK_BYTES: usize = 4 << 20;

/// Memory.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_malloc(size: usize) -> *mut c_void {
    omp_alloc(size.max(1), DEFAULT)
}

/// Memory at a multiple of `alignment`.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_aligned_malloc(size: usize, alignment: usize) -> *mut c_void {
    omp_aligned_alloc(alignment, size.max(1), DEFAULT)
}

/// Memory for `count` things, all zero.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_calloc(count: usize, size: usize) -> *mut c_void {
    omp_calloc(count.max(1), size.max(1), DEFAULT)
}

/// Memory of another size, with the contents of the old.
///
/// # Safety
/// `old` is null or came from a function of this file, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_realloc(old: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: `old` is null or came from a function of this file, and is used no more.
    unsafe { omp_realloc(old, size, DEFAULT, DEFAULT) }
}

/// Gives memory back.
///
/// # Safety
/// `old` is null or came from a function of this file, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_free(memory: *mut c_void) {
    // SAFETY: `old` is null or came from a function of this file, and is used no more.
    unsafe { omp_free(memory, DEFAULT) };
}

/// Bytes of a thread's stack.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_get_stacksize_s() -> usize {
    settings().stack_bytes.unwrap_or(STACK_BYTES)
}

/// Bytes of a thread's stack, as an `int`.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_get_stacksize() -> c_int {
    c_int::try_from(kmp_get_stacksize_s()).unwrap_or(c_int::MAX)
}

/// The time for which a thread waits before it sleeps, in milliseconds; almost none by default.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_get_blocktime() -> c_int {
    match settings().wait {
        Some(Wait::Active) => c_int::MAX,
        Some(Wait::For { us }) => c_int::try_from(us / 1000).unwrap_or(c_int::MAX),
        _ => 0,
    }
}

/// Which of libomp's ways to wait is nearest to ours.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_get_library() -> c_int {
    THROUGHPUT
}

/// Functions that tune libomp.
macro_rules! heard {
    ($($name:ident($of_type:ty);)*) => {$(
        #[doc = concat!("Takes `", stringify!($name), "` from libomp's programs.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_value: $of_type) {}
    )*};
}

heard! {
    kmp_set_stacksize(c_int);
    kmp_set_stacksize_s(usize);
    kmp_set_blocktime(c_int);
    kmp_set_library(c_int);
    kmp_set_defaults(*const c_char);
    kmp_set_disp_num_buffers(c_int);
}

/// Functions that tune libomp, without a value.
macro_rules! heard_alone {
    ($($name:ident;)*) => {$(
        #[doc = concat!("Takes `", stringify!($name), "` from libomp's programs.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {}
    )*};
}

heard_alone! {
    kmp_set_library_serial;
    kmp_set_library_turnaround;
    kmp_set_library_throughput;
    kmp_set_warnings_on;
    kmp_set_warnings_off;
}

/// Tools are looked for behind this function of their name; the library itself is no tool.
#[unsafe(no_mangle)]
pub extern "C" fn ompt_start_tool(_version: u32, _runtime: *const c_char) -> *mut c_void {
    std::ptr::null_mut()
}

/// libomp's library for devices registers with tools when it is loaded. This library has no
/// devices.
#[unsafe(no_mangle)]
pub extern "C" fn ompt_libomp_connect(_result: *mut c_void) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_have_an_address() {
        let memory = [kmp_malloc(0), kmp_calloc(0, 0), kmp_aligned_malloc(0, 64)];
        assert!(memory.iter().all(|memory| !memory.is_null()));
        for memory in memory {
            // SAFETY: It is ours, and used no more.
            unsafe { kmp_free(memory) };
        }
    }
}
