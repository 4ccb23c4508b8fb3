//! A grid of tasks, steps by points. `grid.h`.

use std::ffi::{c_char, c_int, c_long};

use crate::measure::Verdict;

mod c {
    use super::*;

    unsafe extern "C" {
        pub fn grid_new(keep_all_rows: c_int) -> Grid;
        pub fn grid_needs(grid: Grid, step: c_long, point: c_long) -> Needs;
        pub fn grid_run(grid: Grid, step: c_long, point: c_long);
        pub fn grid_failure(grid: Grid) -> *const c_char;
    }
}

/// Points needed, of the step before, by a point.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Needs {
    count: c_int,
    point: [c_long; NEEDS_MAX],
}

impl std::ops::Deref for Needs {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        &self.point[..self.count as usize]
    }
}

/// A point needs no more than this.
const NEEDS_MAX: usize = 3;

/// The shape of the grid, and its cells.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Grid {
    pattern: c_long,
    width: c_long,
    width_log2: c_long,
    steps: c_long,
    iterations: c_long,
    rows: c_long,
    cells: *mut u8,
}

// SAFETY: Cells are only reached through `run`, whose callers order the tasks.
unsafe impl Send for Grid {}
// SAFETY: Cells are only reached through `run`, whose callers order the tasks.
unsafe impl Sync for Grid {}

impl Grid {
    /// Reads the parameters. Keeps two rows.
    pub fn parameters() -> Self {
        // SAFETY: The function ends the process if memory is short.
        unsafe { c::grid_new(0) }
    }

    pub fn width(&self) -> i64 {
        self.width
    }

    pub fn steps(&self) -> i64 {
        self.steps
    }

    pub fn is_trivial(&self) -> bool {
        self.pattern == 0
    }

    /// The points of the step before that a point needs.
    #[inline]
    pub fn needs(&self, step: i64, point: i64) -> Needs {
        // SAFETY: The function only computes from its arguments.
        unsafe { c::grid_needs(*self, step, point) }
    }

    /// The body of a task.
    ///
    /// # Safety
    ///
    /// The point is on the grid, and all points that the task needs have run.
    #[inline]
    pub unsafe fn run(self, step: i64, point: i64) {
        // SAFETY: The point is on the grid, and all points that the task needs have run.
        unsafe { c::grid_run(self, step, point) };
    }

    /// The fault of the result, if any.
    pub fn verdict(self) -> Verdict {
        // SAFETY: No task runs any more; the text is static.
        unsafe { Verdict::new(c::grid_failure(self)) }
    }
}
