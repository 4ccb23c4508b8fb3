//! The memory of the library itself: without memory the program ends with a message, the same for
//! all uses.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::unsupported::abort_with;

/// The C library's memory, or the end.
struct OrEnd;

#[global_allocator]
static MEMORY: OrEnd = OrEnd;

/// Passes the memory on; without any, the message must not need memory either.
fn there_is(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        abort_with(b"evenkeel: no memory left\n");
    }
    memory
}

// SAFETY: each function is that of the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `layout` has a size above 0, as this function requires.
        there_is(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `layout` has a size above 0, as this function requires.
        there_is(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from this allocator with `layout`.
        unsafe { System.dealloc(memory, layout) };
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: `memory` came from this allocator with `layout`, and `bytes` is above 0.
        there_is(unsafe { System.realloc(memory, layout, bytes) })
    }
}
