//! One piece of memory that was given, and the header by which the piece is freed.

use std::ffi::c_void;
use std::ptr;

use super::traits::ALIGNMENT;

/// Lies right before the bytes that the program sees.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub(super) struct Header {
    /// Of the memory that the C library or the kernel gave.
    base: *mut c_void,
    /// The bytes of the piece that the program asked for.
    pub bytes: usize,
    /// Bytes that the program asked for.
    pub size: usize,
    /// The allocator's handle, and [`PINNED`].
    handle: usize,
}

/// The memory is of the kernel, not of the C library. No handle is that large.
const PINNED: usize = 1 << (usize::BITS - 1);

/// Bytes of a block with `size` bytes for the program at this alignment; `None` if that overflows.
pub(super) fn bytes_for(size: usize, alignment: usize) -> Option<usize> {
    size.checked_add(size_of::<Header>())?.checked_add(alignment.checked_sub(ALIGNMENT)?)
}

/// The properties that are asked of memory.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub size: usize,
    /// A power of two from [`ALIGNMENT`] on.
    pub alignment: usize,
    pub is_zero: bool,
    /// Whether the pages have to stay in physical memory.
    pub is_pinned: bool,
}

/// Memory with these properties; null if the system has none.
pub(super) fn get(asked: Request, handle: usize) -> *mut c_void {
    let Some(bytes) = bytes_for(asked.size, asked.alignment) else { return ptr::null_mut() };
    // SAFETY: any number of bytes may be asked for.
    let base = unsafe {
        match asked {
            Request { is_pinned: true, .. } => pinned(bytes),
            Request { is_zero: true, .. } => libc::calloc(bytes, 1),
            _ => libc::malloc(bytes),
        }
    };
    if base.is_null() {
        return base;
    }
    let handle = handle | if asked.is_pinned { PINNED } else { 0 };
    // SAFETY: the block has room for the header, the alignment and the bytes.
    unsafe {
        let memory = base.byte_add(size_of::<Header>());
        let memory = memory.byte_add(memory.align_offset(asked.alignment));
        memory.cast::<Header>().sub(1).write(Header { base, bytes, size: asked.size, handle });
        memory
    }
}

/// Zeros that the kernel keeps in memory.
fn pinned(bytes: usize) -> *mut c_void {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the mapping is new, and ours.
    unsafe {
        let base = libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0);
        if base == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        if libc::mlock(base, bytes) != 0 {
            libc::munmap(base, bytes);
            return ptr::null_mut();
        }
        base
    }
}

impl Header {
    /// The header of a piece of memory.
    ///
    /// # Safety
    /// The memory came from [`get`].
    pub(super) unsafe fn of(memory: *mut c_void) -> Self {
        // SAFETY: the memory came from `get`.
        unsafe { memory.cast::<Self>().sub(1).read() }
    }

    /// The allocator that gave the piece.
    pub(super) fn handle(self) -> usize {
        self.handle & !PINNED
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// The memory is used no more.
    pub(super) unsafe fn free(self) {
        // SAFETY: the memory is used no more.
        unsafe {
            if self.handle & PINNED == 0 {
                libc::free(self.base);
            } else {
                libc::munmap(self.base, self.bytes);
            }
        }
    }
}

/// Another size of memory that no trait binds to its place, with the old bytes that fit; null if
/// the system has none, and then the old memory stays.
///
/// # Safety
/// The memory came from [`get`], is neither aligned nor pinned, and is used no more.
pub(super) unsafe fn resize(memory: *mut c_void, size: usize) -> *mut c_void {
    let Some(bytes) = bytes_for(size, ALIGNMENT) else { return ptr::null_mut() };
    // SAFETY: the memory came from `get`, is neither aligned nor pinned, and is used no more: the
    // block is header and bytes.
    unsafe {
        let header = Header::of(memory);
        let base = libc::realloc(header.base, bytes);
        if base.is_null() {
            return base;
        }
        base.cast::<Header>().write(Header { base, bytes, size, ..header });
        base.byte_add(size_of::<Header>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_knows_where_it_is_from() {
        for alignment in [16, 64, 4096] {
            let asked = Request { size: 100, alignment, is_zero: true, is_pinned: false };
            let memory = get(asked, 8192);
            assert!(!memory.is_null() && (memory as usize).is_multiple_of(alignment));
            // SAFETY: the hundred bytes are ours until they are given back.
            unsafe {
                assert!((0..100).all(|at| *memory.cast::<u8>().add(at) == 0));
                let header = Header::of(memory);
                assert_eq!((header.size, header.handle()), (100, 8192));
                header.free();
            }
        }
    }

    #[test]
    fn another_size_keeps_what_was_there() {
        let asked = Request { size: 8, alignment: 16, is_zero: false, is_pinned: false };
        let memory = get(asked, 1);
        // SAFETY: the memory has eight bytes, then many.
        unsafe {
            memory.cast::<u64>().write(7);
            let more = resize(memory, 100_000);
            assert_eq!((more.cast::<u64>().read(), Header::of(more).size), (7, 100_000));
            Header::of(more).free();
        }
    }

    #[test]
    fn a_size_that_overflows_gives_a_null_pointer() {
        let asked = Request { size: usize::MAX, alignment: 64, is_zero: false, is_pinned: false };
        assert!(get(asked, 1).is_null());
    }
}
