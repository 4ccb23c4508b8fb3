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

// SAFETY: It is only reached through `add`, whose callers see to it that blocks do not meet.
unsafe impl Send for Vectors {}
// SAFETY: As above.
unsafe impl Sync for Vectors {}

impl Vectors {
    pub fn new(size: i64) -> Self {
        // SAFETY: It ends the process where memory is short.
        unsafe { c::axpy_vectors(size) }
    }

    /// One block; counts as a task.
    ///
    /// # Safety
    ///
    /// The block is inside the vectors, and nobody else uses it meanwhile.
    #[inline]
    pub unsafe fn add(self, begin: i64, length: i64) {
        // SAFETY: The caller sees to it.
        unsafe { c::axpy(self, begin, length) };
    }

    /// What is wrong after so many times.
    pub fn verdict(self, times: i64) -> Verdict {
        // SAFETY: No task runs any more; the text is static.
        unsafe { Verdict::new(c::axpy_failure(self, times)) }
    }
}
