//! Frequencies by level and active cores: `struct ek_turbo`.

/// License levels a CPU may have; `EK_LEVELS_MAX`.
pub const LEVELS_MAX: usize = 6;
/// Ranges of active cores; `EK_ROWS_MAX`.
pub const ROWS_MAX: usize = 16;

/// The frequencies of a CPU; read by the policy headers too.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turbo {
    /// Frequency of the reference clock (the TSC).
    pub ref_khz: u32,
    /// Levels in use, 1..=[`LEVELS_MAX`]; level 0 is the fastest.
    pub levels: u32,
    /// Rows in use, 1..=[`ROWS_MAX`].
    pub rows: u32,
    /// Row i holds up to this many active cores of the package; ascending.
    pub cores_max: [u32; ROWS_MAX],
    /// Never rises with the row nor with the level.
    pub khz: [[u32; LEVELS_MAX]; ROWS_MAX],
}

const _: () = assert!(size_of::<Turbo>() == 4 * (3 + ROWS_MAX + ROWS_MAX * LEVELS_MAX));

impl Turbo {
    /// The row for that many active cores; the last row beyond the table.
    #[must_use]
    pub fn row(&self, active_cores: u32) -> usize {
        let rows = self.rows as usize;
        self.cores_max[..rows].iter().position(|&max| active_cores <= max).unwrap_or(rows - 1)
    }

    /// Frequency at a level in a row.
    #[must_use]
    pub fn khz(&self, row: usize, level: u8) -> u32 {
        self.khz[row][usize::from(level)]
    }
}
