//! Queens that do not attack each other, one a row, as three sets of columns. `queens.h`.

use std::ffi::{c_char, c_long};

use crate::measure::Verdict;
use crate::tally;

unsafe extern "C" {
    fn queens_positions(size: c_long) -> u64;
    fn queens_failure(size: c_long) -> *const c_char;
}

pub const SIZE_MAX: i64 = 14;

/// A board with queens in its first rows.
#[derive(Clone, Copy)]
pub struct Position {
    board: u32,
    taken: u32,
    left: u32,
    right: u32,
}

impl Position {
    pub fn empty(size: i64) -> Self {
        Self { board: (1 << size) - 1, taken: 0, left: 0, right: 0 }
    }

    /// Counts the position as a task, and a full board also as a solution.
    #[inline]
    pub fn count(self) {
        tally::task();
        if self.taken == self.board {
            tally::found();
        }
    }

    /// Columns where the next row can have its queen.
    #[inline]
    pub fn free(self) -> u32 {
        self.board & !(self.taken | self.left | self.right)
    }

    /// With a queen in the first of these columns of the next row.
    #[inline]
    pub fn put_first(self, columns: u32) -> Self {
        let column = columns & columns.wrapping_neg();
        Self {
            board: self.board,
            taken: self.taken | column,
            left: (self.left | column) << 1,
            right: (self.right | column) >> 1,
        }
    }
}

/// The number of positions, from a table.
pub fn positions(size: i64) -> u64 {
    assert!((0..=SIZE_MAX).contains(&size));
    // SAFETY: The table has a row for this size.
    unsafe { queens_positions(size) }
}

/// The fault of the counted positions and solutions, if any.
pub fn verdict(size: i64) -> Verdict {
    assert!((0..=SIZE_MAX).contains(&size));
    // SAFETY: The table has a row for this size; the text is static.
    unsafe { Verdict::new(queens_failure(size)) }
}
