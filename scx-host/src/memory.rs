//! Memory that a scheduler and its host both read and write.
//!
//! Both sides use raw pointers, and no reference outlives a call, because native code may change
//! the memory between any two calls.

use std::ptr::NonNull;

/// A zeroed block with a fixed address.
pub(crate) struct Block {
    start: NonNull<u64>,
    words: usize,
}

// SAFETY: a block owns its memory, and other pointers to that memory are only in the instance that
// owns the block. `Host` is not `Sync`, so one thread at a time uses both.
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
        // SAFETY: `start` leads to `words` initialized words, and native code, which may write
        // them, does not run while the reference lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: `start` leads to `words` initialized words, `&mut self` excludes other
        // references, and native code does not run while the reference lives.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `start` leads to `8 * words` initialized bytes, and native code, which may write
        // them, does not run while the reference lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.words * 8) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `start` leads to `8 * words` initialized bytes, `&mut self` excludes other
        // references, and native code does not run while the reference lives.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.words * 8) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let slice = std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.words);
        // SAFETY: `start` came from a box of `words` words in `zeroed`, and is freed only here.
        drop(unsafe { Box::from_raw(slice) });
    }
}

/// Bytes that a scheduler passes for the length of a call.
///
/// # Safety
/// `from` is null, or points to `bytes` initialized bytes that nothing writes while the slice is in
/// use.
pub(crate) unsafe fn given<'a>(from: *const u8, bytes: usize) -> &'a [u8] {
    if from.is_null() || bytes == 0 {
        return &[];
    }
    // SAFETY: `from` is not null, so by this function's contract `bytes` initialized bytes are
    // readable and stay unchanged.
    unsafe { std::slice::from_raw_parts(from, bytes) }
}
