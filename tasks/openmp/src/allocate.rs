//! OpenMP's allocators: memory of the C library with the traits that were asked for.
//!
//! All memory spaces are the same memory. Every piece has a header, by which `omp_free` gives the
//! piece back to its pool, whatever handle the program passes.

mod block;
pub(crate) mod calls;
pub(crate) mod handle;
pub(crate) mod traits;

use std::ffi::c_void;
use std::ptr;

use crate::data_environment;
use crate::unsupported::abort_with;
use block::{Header, Request};
use handle::{DEFAULT, NONE, behind};
use traits::{ALIGNMENT, Fallback};

/// The handle that is meant where none is named.
fn or_default(handle: usize) -> usize {
    if handle == NONE { data_environment::icvs().allocator } else { handle }
}

/// Memory from an allocator, at a multiple of `alignment` and of the allocator's own; or from its
/// fallback; null if neither has any.
fn memory(alignment: usize, size: Option<usize>, handle: usize, is_zero: bool) -> *mut c_void {
    let Some(size) = size.filter(|&size| size > 0) else { return ptr::null_mut() };
    if !alignment.is_power_of_two() {
        return ptr::null_mut();
    }
    let wanted = alignment.max(ALIGNMENT);
    let mut handle = or_default(handle);
    loop {
        let allocator = behind(handle);
        let alignment = allocator.map_or(wanted, |allocator| wanted.max(allocator.alignment));
        let is_pinned = allocator.is_some_and(|allocator| allocator.is_pinned);
        let asked = Request { size, alignment, is_zero, is_pinned };
        let Some(allocator) = allocator else { return block::get(asked, handle) };
        if let Some(bytes) =
            block::bytes_for(size, alignment).filter(|&bytes| allocator.take(bytes))
        {
            let memory = block::get(asked, handle);
            if !memory.is_null() {
                return memory;
            }
            allocator.put_back(bytes);
        }
        handle = match allocator.fallback {
            Fallback::Default => DEFAULT,
            Fallback::Allocator(other) if other != NONE => other,
            Fallback::Null | Fallback::Allocator(_) => return ptr::null_mut(),
            Fallback::Abort => none_left(size),
        };
    }
}

fn none_left(size: usize) -> ! {
    abort_with(format!("evenkeel: no {size} bytes of memory left\n").as_bytes())
}

/// Takes memory back.
///
/// # Safety
/// `memory` is null or came from [`memory`], and is used no more.
unsafe fn free(memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: `memory` is null or came from `memory`, and is used no more.
    unsafe {
        let header = Header::of(memory);
        if let Some(allocator) = behind(header.handle()) {
            allocator.put_back(header.bytes);
        }
        header.free();
    }
}

/// Another size of memory, from an allocator that may differ, too. Null if the allocator has none;
/// then the old memory stays, unless no bytes were asked for.
///
/// # Safety
/// `memory` is null or came from [`memory`], and is used no more.
unsafe fn resized(old: *mut c_void, size: usize, handle: usize) -> *mut c_void {
    if old.is_null() {
        return memory(ALIGNMENT, Some(size), handle, false);
    }
    // SAFETY: `memory` is null or came from `memory`, and is used no more. Both have the bytes that
    // are copied, and are two.
    unsafe {
        if size == 0 {
            free(old);
            return ptr::null_mut();
        }
        let header = Header::of(old);
        let handle = if handle == NONE { header.handle() } else { handle };
        let allocator = behind(handle);
        if handle == header.handle() && allocator.is_none() {
            return block::resize(old, size);
        }
        // The old bytes count no more, so that memory can grow in its own pool.
        let of_old = behind(header.handle());
        if let Some(of_old) = of_old {
            of_old.put_back(header.bytes);
        }
        let new = memory(ALIGNMENT, Some(size), handle, false);
        if new.is_null() {
            // Another thread may have taken the old bytes meanwhile; then the pool gives too much.
            if let Some(of_old) = of_old {
                of_old.take(header.bytes);
            }
            return new;
        }
        ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast(), header.size.min(size));
        header.free();
        new
    }
}

#[cfg(test)]
mod tests {
    use super::handle::{end, make, of_words};
    use super::traits::parse;
    use super::*;

    fn with(words: &str) -> usize {
        of_words(&parse(&format!("omp_default_mem_space:{words}")).unwrap())
    }

    #[test]
    fn an_empty_pool_falls_back_as_its_trait_says() {
        let none = with("pool_size=1000,fallback=null_fb,alignment=64");
        let first = memory(1, Some(500), none, false);
        assert!((first as usize).is_multiple_of(64) && !first.is_null());
        assert!(memory(1, Some(500), none, false).is_null());
        let other = with("pool_size=100,fallback=default_mem_fb");
        let second = memory(1, Some(500), other, false);
        assert!(!second.is_null());
        // SAFETY: both are ours, and used no more.
        unsafe {
            free(first);
            free(second);
            let third = memory(1, Some(500), none, true);
            assert!(!third.is_null());
            free(third);
            end(none);
            end(other);
        }
    }

    #[test]
    fn memory_grows_in_its_own_pool() {
        let pool = with("pool_size=1000,fallback=null_fb");
        let few = memory(1, Some(600), pool, true).cast::<u8>();
        // SAFETY: `few` has 600 bytes, and `more` 900.
        unsafe {
            few.add(599).write(7);
            let more = resized(few.cast(), 900, pool).cast::<u8>();
            assert_eq!(*more.add(599), 7);
            assert!(resized(more.cast(), 5000, pool).is_null());
            let elsewhere = resized(more.cast(), 5000, DEFAULT).cast::<u8>();
            assert_eq!(*elsewhere.add(599), 7);
            assert!(!memory(1, Some(900), pool, false).is_null());
            assert!(resized(elsewhere.cast(), 0, DEFAULT).is_null());
        }
    }

    #[test]
    fn too_many_bytes_or_none_give_a_null_pointer() {
        assert!(memory(1, None, DEFAULT, false).is_null());
        assert!(memory(1, Some(usize::MAX / 2), NONE, true).is_null());
        assert!(memory(1, Some(0), DEFAULT, false).is_null());
        assert!(memory(3, Some(8), DEFAULT, false).is_null());
        assert_eq!(make(99, &[]), NONE);
    }
}
