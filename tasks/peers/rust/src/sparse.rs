//! The LU factorization of a matrix of blocks most of which are empty. `sparse.h`.

use std::ffi::{c_char, c_long};

use crate::measure::Verdict;

mod c {
    use super::*;

    unsafe extern "C" {
        pub fn sparse_new(count: c_long, size: c_long) -> Sparse;
        pub fn sparse_lu0(matrix: Sparse, k: c_long);
        pub fn sparse_fwd(matrix: Sparse, k: c_long, j: c_long);
        pub fn sparse_bdiv(matrix: Sparse, i: c_long, k: c_long);
        pub fn sparse_bmod(matrix: Sparse, i: c_long, j: c_long, k: c_long);
        pub fn sparse_failure(matrix: Sparse) -> *const c_char;
    }
}

/// The matrix, and in the end both factors.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sparse {
    count: c_long,
    size: c_long,
    block: *mut *mut f64,
    tasks: u64,
}

// SAFETY: Blocks are only reached through the tasks below, whose callers order them.
unsafe impl Send for Sparse {}
// SAFETY: Blocks are only reached through the tasks below, whose callers order them.
unsafe impl Sync for Sparse {}

/// A task of the factorization.
#[derive(Clone, Copy)]
pub enum Step {
    Lu0 { k: i64 },
    Fwd { k: i64, j: i64 },
    Bdiv { i: i64, k: i64 },
    Bmod { i: i64, j: i64, k: i64 },
}

impl Sparse {
    pub fn new(count: i64, size: i64) -> Self {
        // SAFETY: The function ends the process if memory is short.
        unsafe { c::sparse_new(count, size) }
    }

    pub fn count(&self) -> i64 {
        self.count
    }

    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Whether a block exists, now or later.
    pub fn has(&self, i: i64, j: i64) -> bool {
        assert!((0..self.count).contains(&i) && (0..self.count).contains(&j));
        // SAFETY: The table has count times count entries and does not change.
        unsafe { !(*self.block.add((i * self.count + j) as usize)).is_null() }
    }

    /// Runs a task.
    ///
    /// # Safety
    ///
    /// The step's blocks exist, and all steps that the factorization runs before have ended.
    pub unsafe fn run(self, step: Step) {
        // SAFETY: The step's blocks exist, and all steps that must run before have ended.
        unsafe {
            match step {
                Step::Lu0 { k } => c::sparse_lu0(self, k),
                Step::Fwd { k, j } => c::sparse_fwd(self, k, j),
                Step::Bdiv { i, k } => c::sparse_bdiv(self, i, k),
                Step::Bmod { i, j, k } => c::sparse_bmod(self, i, j, k),
            }
        }
    }

    /// The fault of the factors, if any.
    pub fn verdict(self) -> Verdict {
        // SAFETY: No task runs any more; the text is static.
        unsafe { Verdict::new(c::sparse_failure(self)) }
    }
}
