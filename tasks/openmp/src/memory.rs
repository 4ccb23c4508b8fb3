//! The memory of the library itself: where there is none, the program ends with a word, in the
//! same way whoever wanted it.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::unsupported::abort_with;

/// The C library's memory, or the end.
struct OrEnd;

#[global_allocator]
static MEMORY: OrEnd = OrEnd;

/// What is there to take; if nothing is, no word may need memory either.
fn there_is(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        abort_with(b"evenkeel: no memory left\n");
    }
    memory
}

// SAFETY: all of it is the system's, which keeps the promises.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        there_is(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        there_is(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) };
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        there_is(unsafe { System.realloc(memory, layout, bytes) })
    }
}
