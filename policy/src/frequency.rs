//! Actual, mean and ideal frequency: `evenkeel/shares.h`, `mean_frequency.h`, `turbo_row.h`,
//! `ideal_frequency.h`.

use cpu_model::{LEVELS_MAX, Turbo};

use crate::{Slice, ffi};

/// Share of a slice's cycles at each level, Q30: `struct ek_shares`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// By level; they add up to [`crate::ONE`] when they come from [`Shares::of`].
    pub q30: [u32; LEVELS_MAX],
}

/// The turbo row a slice ran in, or between: `struct ek_turbo_row`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurboRow {
    /// The slower row: more active cores.
    pub slow: u32,
    /// Way from it to the row before, Q30.
    pub factor_q30: u32,
}

const _: () = assert!(size_of::<Shares>() == 4 * LEVELS_MAX && size_of::<TurboRow>() == 8);

impl Shares {
    /// The shares of a measured slice; what no level above 0 claims ran at level 0.
    #[must_use]
    pub fn of(slice: &Slice) -> Self {
        let mut shares = Self::default();
        ffi::ekp_shares(slice, &mut shares);
        shares
    }
}

/// Mean frequency in a row of the table at these shares (Eq. D 7.7, any number of levels).
#[must_use]
pub fn mean_frequency_hz(turbo: &Turbo, row: u32, shares: &Shares) -> u64 {
    ffi::ekp_mean_frequency_hz(turbo, row, shares)
}

/// Frequency at which a slice ran; 0 if its counters cannot tell.
#[must_use]
pub fn actual_frequency_hz(ref_khz: u32, cycles: u64, ref_cycles: u64) -> u64 {
    ffi::ekp_actual_frequency_hz(ref_khz, cycles, ref_cycles)
}

/// The rows whose mean frequencies at these shares enclose the actual one.
#[must_use]
pub fn turbo_row(turbo: &Turbo, shares: &Shares, actual_hz: u64) -> TurboRow {
    let mut at = TurboRow::default();
    ffi::ekp_turbo_row(turbo, shares, actual_hz, &mut at);
    at
}

/// Frequency there, had nothing run above the task's own level.
#[must_use]
pub fn ideal_frequency_hz(turbo: &Turbo, shares: &Shares, own_level: u8, at: TurboRow) -> u64 {
    ffi::ekp_ideal_frequency_hz(turbo, shares, own_level.into(), &at)
}
