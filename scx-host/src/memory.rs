//! Memory that a scheduler and its host both read and write.
//!
//! It is reached through raw pointers on both sides, never through references that outlive a
//! call, because native code may change it between any two calls.

use std::ptr::NonNull;

/// A zeroed block that stays where it is until it is dropped.
pub(crate) struct Block {
    start: NonNull<u64>,
    words: usize,
}

// SAFETY: the block is owned; whoever has the instance that holds it has it alone.
unsafe impl Send for Block {}

impl Block {
    /// At least one word, so that every block has an address of its own.
    pub(crate) fn zeroed(bytes: usize) -> Self {
        let words = bytes.div_ceil(8).max(1);
        let start = Box::into_raw(vec![0u64; words].into_boxed_slice());
        Self { start: NonNull::new(start.cast()).expect("boxes are not null"), words }
    }

    pub(crate) fn address(&self) -> *mut u64 {
        self.start.as_ptr()
    }

    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: the block has that many words, and nothing native runs while the caller holds
        // the reference.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `words`; the caller has the block alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: as in `words`; every byte of it is initialized.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.words * 8) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `words_mut`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.words * 8) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let slice = std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.words);
        // SAFETY: it came from a box of that many words, and goes once.
        drop(unsafe { Box::from_raw(slice) });
    }
}

/// Bytes that a scheduler hands over for the length of a call.
///
/// # Safety
/// The scheduler says that so many bytes are there.
pub(crate) unsafe fn given<'a>(from: *const u8, bytes: usize) -> &'a [u8] {
    if from.is_null() || bytes == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(from, bytes) }
}
