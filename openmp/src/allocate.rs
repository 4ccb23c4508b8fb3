//! OpenMP's allocators, which all are the C library's, with alignment.
//!
//! A memory space or a trait that we cannot give is not promised: `omp_init_allocator` then yields
//! no allocator, which OpenMP allows.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

use crate::unsupported::abort_with;

/// `omp_null_allocator`.
const NONE: usize = 0;
/// `omp_default_mem_alloc`.
const DEFAULT: usize = 1;
/// Handles up to here are OpenMP's own; others are of [`omp_init_allocator`].
const PREDEFINED_MAX: usize = 1 << 12;
/// What the C library gives without being asked.
const ALIGNMENT: usize = 16;

/// Names and values of traits, from OpenMP 5.2, table 6.2, with the numbers of both headers.
const TRAIT_ALIGNMENT: c_int = 2;
const TRAIT_POOL_SIZE: c_int = 4;
const TRAIT_FALLBACK: c_int = 5;
const TRAIT_PINNED: c_int = 7;
const TRAITS_MAX: c_int = 8;
const FALLBACK_ABORT: usize = 13;

/// `omp_alloctrait_t`.
#[repr(C)]
pub struct Trait {
    key: c_int,
    value: usize,
}

/// What a handle of ours points to.
struct Allocator {
    alignment: usize,
    aborts: bool,
}

/// Makes an allocator; 0 if it cannot be as asked.
///
/// # Safety
/// `traits` points to `count` traits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_allocator(
    _space: usize,
    count: c_int,
    traits: *const Trait,
) -> usize {
    let mut made = Allocator { alignment: ALIGNMENT, aborts: false };
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: As the caller promises.
        let Trait { key, value } = unsafe { traits.add(index).read() };
        match key {
            TRAIT_ALIGNMENT if value.is_power_of_two() => {
                made.alignment = value.max(ALIGNMENT);
            }
            TRAIT_FALLBACK => made.aborts = value == FALLBACK_ABORT,
            TRAIT_PINNED if value == 0 => {}
            TRAIT_ALIGNMENT | TRAIT_POOL_SIZE | TRAIT_PINNED => return NONE,
            1..=TRAITS_MAX => {}
            _ => return NONE,
        }
    }
    Box::into_raw(Box::new(made)) as usize
}

/// Ends an allocator.
///
/// # Safety
/// The handle is of [`omp_init_allocator`], or predefined, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_destroy_allocator(handle: usize) {
    if handle > PREDEFINED_MAX {
        // SAFETY: As the caller promises, it is a box that nobody else has.
        drop(unsafe { Box::from_raw(handle as *mut Allocator) });
    }
}

thread_local! {
    static BY_DEFAULT: Cell<usize> = const { Cell::new(DEFAULT) };
}

/// The allocator of calls that name none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_default_allocator(handle: usize) {
    BY_DEFAULT.set(if handle == NONE { DEFAULT } else { handle });
}

/// Which it is.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_default_allocator() -> usize {
    BY_DEFAULT.get()
}

/// `size` bytes from an allocator, at a multiple of `alignment` and of its own.
fn memory(alignment: usize, size: Option<usize>, handle: usize) -> *mut c_void {
    let handle = if handle == NONE { BY_DEFAULT.get() } else { handle };
    let of_handle = Allocator { alignment: ALIGNMENT, aborts: false };
    let allocator = if handle > PREDEFINED_MAX {
        // SAFETY: The program promises that its handle is one of `omp_init_allocator`.
        unsafe { &*(handle as *const Allocator) }
    } else {
        &of_handle
    };
    let alignment = alignment.max(allocator.alignment);
    let Some(size) = size.filter(|&size| size > 0) else { return ptr::null_mut() };
    let mut memory = ptr::null_mut();
    // SAFETY: `memory` is ours. An alignment that is none is refused.
    let failed = unsafe { libc::posix_memalign(&mut memory, alignment, size) };
    if failed == 0 {
        return memory;
    }
    if allocator.aborts {
        abort_with(format!("evenkeel: no {size} bytes of memory left\n").as_bytes());
    }
    ptr::null_mut()
}

/// Memory.
#[unsafe(no_mangle)]
pub extern "C" fn omp_alloc(size: usize, handle: usize) -> *mut c_void {
    memory(ALIGNMENT, Some(size), handle)
}

/// Memory at a multiple of `alignment`.
#[unsafe(no_mangle)]
pub extern "C" fn omp_aligned_alloc(alignment: usize, size: usize, handle: usize) -> *mut c_void {
    memory(alignment, Some(size), handle)
}

/// Memory for `count` things, all zero.
#[unsafe(no_mangle)]
pub extern "C" fn omp_calloc(count: usize, size: usize, handle: usize) -> *mut c_void {
    omp_aligned_calloc(ALIGNMENT, count, size, handle)
}

/// The same at a multiple of `alignment`.
#[unsafe(no_mangle)]
pub extern "C" fn omp_aligned_calloc(
    alignment: usize,
    count: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    let size = count.checked_mul(size);
    let memory = memory(alignment, size, handle);
    if !memory.is_null() {
        // SAFETY: There are so many bytes.
        unsafe { memory.write_bytes(0, size.unwrap_or(0)) };
    }
    memory
}

/// Gives memory back.
///
/// # Safety
/// It is of a function of this file, or null, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_free(memory: *mut c_void, _handle: usize) {
    // SAFETY: As the caller promises.
    unsafe { libc::free(memory) };
}

/// Memory of another size, with what was in the old.
///
/// # Safety
/// As of [`omp_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_realloc(
    old: *mut c_void,
    size: usize,
    handle: usize,
    _handle_of_old: usize,
) -> *mut c_void {
    let new = memory(ALIGNMENT, Some(size), handle);
    if !old.is_null() && (!new.is_null() || size == 0) {
        if !new.is_null() {
            // SAFETY: Both have so many bytes, and are two.
            unsafe {
                let kept = libc::malloc_usable_size(old).min(size);
                ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast(), kept);
            }
        }
        // SAFETY: As the caller promises.
        unsafe { libc::free(old) };
    }
    new
}

/// What gcc makes of `allocate`: memory, or the end.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_alloc(alignment: usize, size: usize, handle: usize) -> *mut c_void {
    // No bytes need an address of their own, too.
    let memory = memory(alignment, Some(size.max(1)), handle);
    if memory.is_null() {
        abort_with(format!("evenkeel: no {size} bytes of memory left\n").as_bytes());
    }
    memory
}

/// Its counterpart.
///
/// # Safety
/// As of [`omp_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_free(memory: *mut c_void, handle: usize) {
    // SAFETY: As the caller promises.
    unsafe { omp_free(memory, handle) };
}

/// What clang makes of `allocate`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_alloc(_thread: c_int, size: usize, handle: usize) -> *mut c_void {
    memory(ALIGNMENT, Some(size), handle)
}

/// The same with an alignment.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_aligned_alloc(
    _thread: c_int,
    alignment: usize,
    size: usize,
    handle: usize,
) -> *mut c_void {
    memory(alignment, Some(size), handle)
}

/// Their counterpart.
///
/// # Safety
/// As of [`omp_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_free(_thread: c_int, memory: *mut c_void, handle: usize) {
    // SAFETY: As the caller promises.
    unsafe { omp_free(memory, handle) };
}

macro_rules! handles {
    ($($name:ident = $value:literal;)*) => {$(
        /// A handle of OpenMP's, for programs that take it from the library.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn with(key: c_int, value: usize) -> usize {
        let traits = [Trait { key, value }];
        // SAFETY: There is one trait.
        unsafe { omp_init_allocator(0, 1, traits.as_ptr()) }
    }

    #[test]
    fn an_allocator_aligns_as_its_trait_says() {
        let handle = with(TRAIT_ALIGNMENT, 4096);
        let memory = omp_alloc(10, handle);
        assert!(!memory.is_null() && (memory as usize).is_multiple_of(4096));
        // SAFETY: Both are ours, and used no more.
        unsafe { (omp_free(memory, handle), omp_destroy_allocator(handle)) };
    }

    #[test]
    fn what_cannot_be_given_is_not_promised() {
        assert_eq!(with(TRAIT_PINNED, 1), NONE);
        assert_eq!(with(TRAIT_POOL_SIZE, 1 << 20), NONE);
        assert_eq!(with(TRAIT_ALIGNMENT, 3), NONE);
        assert_eq!(with(99, 1), NONE);
    }

    #[test]
    fn too_much_is_nothing_and_so_is_none() {
        assert!(omp_calloc(usize::MAX, 2, DEFAULT).is_null());
        assert!(omp_alloc(usize::MAX / 2, NONE).is_null());
        assert!(omp_alloc(0, DEFAULT).is_null());
    }

    #[test]
    fn another_size_keeps_what_was_there() {
        let memory = omp_calloc(4, 8, DEFAULT).cast::<u64>();
        // SAFETY: There are four numbers, then two thousand of which the first stay.
        unsafe {
            memory.add(3).write(7);
            let more = omp_realloc(memory.cast(), 16_000, DEFAULT, DEFAULT).cast::<u64>();
            assert_eq!((more.read(), more.add(3).read()), (0, 7));
            assert!(omp_realloc(more.cast(), 0, DEFAULT, DEFAULT).is_null());
        }
    }
}
