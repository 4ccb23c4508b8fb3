//! The Cholesky factorization of a matrix, tile by tile. `tiles.h`.

use std::ffi::{c_char, c_long};

use crate::measure::Verdict;

mod c {
    use super::*;

    unsafe extern "C" {
        pub fn tiles_new(count: c_long, size: c_long) -> Tiles;
        pub fn tiles_tasks(count: c_long) -> u64;
        pub fn tiles_potrf(tiles: Tiles, k: c_long);
        pub fn tiles_trsm(tiles: Tiles, i: c_long, k: c_long);
        pub fn tiles_syrk(tiles: Tiles, i: c_long, k: c_long);
        pub fn tiles_gemm(tiles: Tiles, i: c_long, j: c_long, k: c_long);
        pub fn tiles_failure(tiles: Tiles) -> *const c_char;
    }
}

/// The matrix, and in the end its factor.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Tiles {
    count: c_long,
    size: c_long,
    elements: *mut f64,
    written: *mut u8,
}

// SAFETY: Tiles are only reached through the tasks below, whose callers order them.
unsafe impl Send for Tiles {}
// SAFETY: Tiles are only reached through the tasks below, whose callers order them.
unsafe impl Sync for Tiles {}

/// A task of the factorization.
#[derive(Clone, Copy)]
pub enum Step {
    Potrf { k: i64 },
    Trsm { i: i64, k: i64 },
    Syrk { i: i64, k: i64 },
    Gemm { i: i64, j: i64, k: i64 },
}

impl Tiles {
    pub fn new(count: i64, size: i64) -> Self {
        // SAFETY: The function ends the process if memory is short.
        unsafe { c::tiles_new(count, size) }
    }

    pub fn count(&self) -> i64 {
        self.count
    }

    /// Where tile (i, j), i >= j, is among all.
    pub fn at(i: i64, j: i64) -> usize {
        (i * (i + 1) / 2 + j) as usize
    }

    pub fn tasks(count: i64) -> u64 {
        // SAFETY: The function only computes from its argument.
        unsafe { c::tiles_tasks(count) }
    }

    /// Runs a task.
    ///
    /// # Safety
    ///
    /// The step's tiles are on the matrix, and no other thread writes them meanwhile.
    pub unsafe fn run(self, step: Step) {
        // SAFETY: The step's tiles are on the matrix, and no other thread writes them.
        unsafe {
            match step {
                Step::Potrf { k } => c::tiles_potrf(self, k),
                Step::Trsm { i, k } => c::tiles_trsm(self, i, k),
                Step::Syrk { i, k } => c::tiles_syrk(self, i, k),
                Step::Gemm { i, j, k } => c::tiles_gemm(self, i, j, k),
            }
        }
    }

    /// The fault of the factor, if any.
    pub fn verdict(self) -> Verdict {
        // SAFETY: No task runs any more; the text is static.
        unsafe { Verdict::new(c::tiles_failure(self)) }
    }
}
