//! The functions of [`super`] under their names for Fortran and flang.

use std::ffi::{c_char, c_int, c_void};

use super::{kmp_aligned_malloc, kmp_calloc, kmp_free, kmp_malloc, kmp_realloc};

/// Fortran's name of `kmp_malloc`, which takes the address of its argument.
///
/// # Safety
/// `size` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_malloc_(size: *const usize) -> *mut c_void {
    // SAFETY: `size` points to a number.
    kmp_malloc(unsafe { *size })
}

/// Fortran's name of `kmp_aligned_malloc`.
///
/// # Safety
/// Both pointers lead to numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_aligned_malloc_(
    size: *const usize,
    alignment: *const usize,
) -> *mut c_void {
    // SAFETY: both pointers lead to numbers.
    unsafe { kmp_aligned_malloc(*size, *alignment) }
}

/// Fortran's name of `kmp_calloc`.
///
/// # Safety
/// Both pointers lead to numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_calloc_(count: *const usize, size: *const usize) -> *mut c_void {
    // SAFETY: both pointers lead to numbers.
    unsafe { kmp_calloc(*count, *size) }
}

/// Fortran's name of `kmp_realloc`.
///
/// # Safety
/// `size` points to a number, `old` to a pointer: null or of a `kmp_` function, and used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_realloc_(old: *const *mut c_void, size: *const usize) -> *mut c_void {
    // SAFETY: `old` points to memory that is used no more, `size` to a number.
    unsafe { kmp_realloc(*old, *size) }
}

/// Fortran's name of `kmp_free`.
///
/// # Safety
/// `memory` points to a pointer: null or of a `kmp_` function, and used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmp_free_(memory: *const *mut c_void) {
    // SAFETY: `memory` points to memory that is used no more.
    unsafe { kmp_free(*memory) };
}

/// flang's name of `kmp_malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn kmpc_malloc(size: usize) -> *mut c_void {
    kmp_malloc(size)
}

/// flang's name of `kmp_aligned_malloc`.
#[unsafe(no_mangle)]
pub extern "C" fn kmpc_aligned_malloc(size: usize, alignment: usize) -> *mut c_void {
    kmp_aligned_malloc(size, alignment)
}

/// flang's name of `kmp_calloc`.
#[unsafe(no_mangle)]
pub extern "C" fn kmpc_calloc(count: usize, size: usize) -> *mut c_void {
    kmp_calloc(count, size)
}

/// flang's name of `kmp_realloc`.
///
/// # Safety
/// `old` is null or came from a `kmp_` function, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmpc_realloc(old: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: `old` is null or came from a `kmp_` function, and is used no more.
    unsafe { kmp_realloc(old, size) }
}

/// flang's name of `kmp_free`.
///
/// # Safety
/// `memory` is null or came from a `kmp_` function, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kmpc_free(memory: *mut c_void) {
    // SAFETY: `memory` is null or came from a `kmp_` function, and is used no more.
    unsafe { kmp_free(memory) };
}

/// Functions that tune libomp, with a value or its address.
macro_rules! heard {
    ($($name:ident($of_type:ty);)*) => {$(
        #[doc = concat!("Takes `", stringify!($name), "` from libomp's programs.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_value: $of_type) {}
    )*};
}

heard! {
    kmp_set_stacksize_(*const c_int);
    kmp_set_stacksize_s_(*const usize);
    kmp_set_blocktime_(*const c_int);
    kmp_set_library_(*const c_int);
    kmp_set_disp_num_buffers_(*const c_int);
    kmpc_set_stacksize(c_int);
    kmpc_set_stacksize_s(usize);
    kmpc_set_blocktime(c_int);
    kmpc_set_library(c_int);
    kmpc_set_defaults(*const c_char);
    kmpc_set_disp_num_buffers(c_int);
}

/// Takes `kmp_set_defaults_` from libomp's programs in Fortran.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_set_defaults_(_text: *const c_char, _length: c_int) {}

/// Functions that tune libomp, without a value.
macro_rules! heard_alone {
    ($($name:ident;)*) => {$(
        #[doc = concat!("Takes `", stringify!($name), "` from libomp's programs.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {}
    )*};
}

heard_alone! {
    kmp_set_library_serial_;
    kmp_set_library_turnaround_;
    kmp_set_library_throughput_;
}
