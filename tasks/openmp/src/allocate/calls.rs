//! The calls of programs: OpenMP's own, gcc's and clang's.

use std::ffi::{c_int, c_void};
use std::slice;

use super::handle::{DEFAULT, NONE, end, make};
use super::traits::{ALIGNMENT, Trait};
use super::{free, memory, none_left, resized};
use crate::data_environment;

/// Makes an allocator; 0 if no allocator can have these traits.
///
/// # Safety
/// `traits` points to `count` traits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_allocator(
    space: usize,
    count: c_int,
    traits: *const Trait,
) -> usize {
    match usize::try_from(count) {
        // SAFETY: `traits` points to `count` traits.
        Ok(count) if count > 0 => make(space, unsafe { slice::from_raw_parts(traits, count) }),
        _ => make(space, &[]),
    }
}

/// Ends an allocator.
///
/// # Safety
/// [`omp_init_allocator`] made the handle, or the handle is predefined; the program uses the
/// allocator no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_destroy_allocator(handle: usize) {
    // SAFETY: the handle is an allocator's, which the program uses no more.
    unsafe { end(handle) };
}

/// Sets the allocator of calls that name none, for this task and the tasks that it will create.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_default_allocator(handle: usize) {
    data_environment::change_icvs(|icvs| {
        icvs.allocator = if handle == NONE { DEFAULT } else { handle }
    });
}

/// The allocator of calls that name none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_default_allocator() -> usize {
    data_environment::icvs().allocator
}

/// Memory.
#[unsafe(no_mangle)]
pub extern "C" fn omp_alloc(size: usize, handle: usize) -> *mut c_void {
    memory(ALIGNMENT, Some(size), handle, false)
}

/// Memory at a multiple of `alignment`.
#[unsafe(no_mangle)]
pub extern "C" fn omp_aligned_alloc(alignment: usize, size: usize, handle: usize) -> *mut c_void {
    memory(alignment, Some(size), handle, false)
}

/// Memory for `count` things, all zero.
#[unsafe(no_mangle)]
pub extern "C" fn omp_calloc(count: usize, size: usize, handle: usize) -> *mut c_void {
    memory(ALIGNMENT, count.checked_mul(size), handle, true)
}

/// Memory for `count` things at a multiple of `alignment`, all zero.
#[unsafe(no_mangle)]
pub extern "C" fn omp_aligned_calloc(
    alignment: usize,
    count: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    memory(alignment, count.checked_mul(size), handle, true)
}

/// Gives memory back.
///
/// # Safety
/// `memory` is null or came from a function of this file, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_free(memory: *mut c_void, _handle: usize) {
    // SAFETY: `memory` is null or came from a function of this file, and is used no more.
    unsafe { free(memory) };
}

/// Memory of another size, with the contents of the old.
///
/// # Safety
/// `memory` is null or came from a function of this file, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_realloc(
    old: *mut c_void,
    size: usize,
    handle: usize,
    _handle_of_old: usize,
) -> *mut c_void {
    // SAFETY: `memory` is null or came from a function of this file, and is used no more.
    unsafe { resized(old, size, handle) }
}

/// The `allocate` directive of gcc: memory, or the end of the program.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_alloc(alignment: usize, size: usize, handle: usize) -> *mut c_void {
    // No bytes need an address of their own, too.
    let memory = memory(alignment, Some(size.max(1)), handle, false);
    if memory.is_null() {
        none_left(size);
    }
    memory
}

/// Its counterpart.
///
/// # Safety
/// `memory` is null or came from a function of this file, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_free(memory: *mut c_void, handle: usize) {
    // SAFETY: `memory` is null or came from a function of this file, and is used no more.
    unsafe { omp_free(memory, handle) };
}

/// The `allocate` directive of clang.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_alloc(_thread: c_int, size: usize, handle: usize) -> *mut c_void {
    memory(ALIGNMENT, Some(size), handle, false)
}

/// clang's `allocate` at a multiple of `alignment`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_aligned_alloc(
    _thread: c_int,
    alignment: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    memory(alignment, Some(size), handle, false)
}

/// clang's `allocate` for `count` things, all zero.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_calloc(
    _thread: c_int,
    count: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    omp_calloc(count, size, handle)
}

/// clang's name of [`omp_realloc`].
///
/// # Safety
/// `memory` is null or came from a function of this file, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_realloc(
    _thread: c_int,
    old: *mut c_void,
    size: usize,
    handle: usize,
    _handle_of_old: usize,
) -> *mut c_void {
    // SAFETY: `memory` is null or came from a function of this file, and is used no more.
    unsafe { resized(old, size, handle) }
}

/// Their counterpart.
///
/// # Safety
/// `memory` is null or came from a function of this file, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_free(_thread: c_int, memory: *mut c_void, handle: usize) {
    // SAFETY: `memory` is null or came from a function of this file, and is used no more.
    unsafe { omp_free(memory, handle) };
}

/// clang's name of [`omp_init_allocator`].
///
/// # Safety
/// `traits` points to `count` traits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_init_allocator(
    _thread: c_int,
    space: usize,
    count: c_int,
    traits: *const Trait,
) -> usize {
    // SAFETY: `traits` points to `count` traits.
    unsafe { omp_init_allocator(space, count, traits) }
}

/// clang's name of [`omp_destroy_allocator`].
///
/// # Safety
/// [`omp_init_allocator`] made the handle, or the handle is predefined; the program uses the
/// allocator no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_destroy_allocator(_thread: c_int, handle: usize) {
    // SAFETY: the handle is an allocator's, and is used no more.
    unsafe { end(handle) };
}

/// clang's name of [`omp_set_default_allocator`].
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_set_default_allocator(_thread: c_int, handle: usize) {
    omp_set_default_allocator(handle);
}

/// clang's name of [`omp_get_default_allocator`].
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_default_allocator(_thread: c_int) -> usize {
    omp_get_default_allocator()
}

/// Fortran's `omp_init_allocator`.
///
/// # Safety
/// The pointers lead to numbers, `traits` to as many traits as `count` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_allocator_(
    space: *const usize,
    count: *const i32,
    traits: *const Trait,
) -> usize {
    // SAFETY: the pointers lead to numbers, `traits` to as many traits as `count` says.
    unsafe { omp_init_allocator(*space, *count, traits) }
}

/// Fortran's `omp_init_allocator` for long integers.
///
/// # Safety
/// The pointers lead to numbers, `traits` to as many traits as `count` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_allocator_8_(
    space: *const usize,
    count: *const i64,
    traits: *const Trait,
) -> usize {
    // SAFETY: the pointers lead to numbers, `traits` to as many traits as `count` says.
    unsafe { omp_init_allocator(*space, i32::try_from(*count).unwrap_or(0), traits) }
}

macro_rules! handles {
    ($($name:ident = $value:literal;)*) => {$(
        /// A handle of OpenMP's, for programs that read its value from the library.
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals)]
        pub static $name: usize = $value;
    )*};
}

// The numbers of both headers. libomp exports them as variables, too.
handles! {
    omp_null_allocator = 0;
    omp_default_mem_alloc = 1;
    omp_large_cap_mem_alloc = 2;
    omp_const_mem_alloc = 3;
    omp_high_bw_mem_alloc = 4;
    omp_low_lat_mem_alloc = 5;
    omp_cgroup_mem_alloc = 6;
    omp_pteam_mem_alloc = 7;
    omp_thread_mem_alloc = 8;
    omp_default_mem_space = 0;
    omp_large_cap_mem_space = 1;
    omp_const_mem_space = 2;
    omp_high_bw_mem_space = 3;
    omp_low_lat_mem_space = 4;
}
