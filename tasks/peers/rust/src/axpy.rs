//! y += a x on vectors whose result is known. `axpy.h`.

use std::ffi::{c_char, c_long};

use crate::measure::Verdict;

mod c {
    use super::*;

    unsafe extern "C" {
        pub fn axpy_vectors(size: c_long) -> Vectors;
        pub fn axpy(vectors: Vectors, begin: c_long, length: c_long);
        pub fn axpy_failure(vectors: Vectors, times: c_long) -> *const c_char;
    }
}

/// Both vectors.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Vectors {
    size: c_long,
    x: *mut f64,
    y: *mut f64,
}

// SAFETY: The memory is reached only through `add`, whose callers use disjoint blocks.
unsafe impl Send for Vectors {}
// SAFETY: The memory is reached only through `add`, whose callers use disjoint blocks.
unsafe impl Sync for Vectors {}

impl Vectors {
    pub fn new(size: i64) -> Self {
        // SAFETY: The function takes any size, and ends the process if memory is short.
        unsafe { c::axpy_vectors(size) }
    }

    /// One block; counts as a task.
    ///
    /// # Safety
    ///
    /// The block is inside the vectors, and no other thread uses its elements meanwhile.
    #[inline]
    pub unsafe fn add(self, begin: i64, length: i64) {
        // SAFETY: The block is inside the vectors, and no other thread uses its elements.
        unsafe { c::axpy(self, begin, length) };
    }

    /// The fault of the result after this many iterations, if any.
    pub fn verdict(self, times: i64) -> Verdict {
        // SAFETY: No task runs any more; the text is static.
        unsafe { Verdict::new(c::axpy_failure(self, times)) }
    }
}
