//! Actual, mean and ideal frequency: `evenkeel/shares.h`, `mean_frequency.h`, `active.h`,
//! `turbo_row.h`, `ideal_frequency.h`.

use cpu_model::{LEVELS_MAX, ROWS_MAX, Turbo};

use crate::Slice;

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
    /// Fraction of the way from the slow row to its predecessor, Q30.
    pub factor_q30: u32,
}

/// Which rows of the turbo table have held: `struct ek_active`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// Until when a row before each held; entry 0 is not used.
    pub before_until_ns: [u64; ROWS_MAX],
    /// The row that holds.
    pub row: u32,
    /// Of the layout.
    pub pad: u32,
}

const _: () = assert!(size_of::<Active>() == 8 * (ROWS_MAX + 1));
const _: () = assert!(size_of::<Shares>() == 4 * LEVELS_MAX && size_of::<TurboRow>() == 8);

impl Shares {
    /// The shares of a measured slice; cycles of no higher level count as level 0.
    #[must_use]
    pub fn of(slice: &Slice) -> Self {
        let mut shares = Self::default();
        ekp_shares(slice, &mut shares);
        shares
    }
}

/// Mean frequency in a row of the table at these shares (Eq. D 7.7, any number of levels).
#[must_use]
pub fn mean_frequency_hz(turbo: &Turbo, row: u32, shares: &Shares) -> u64 {
    ekp_mean_frequency_hz(turbo, row, shares)
}

/// Frequency at which a slice ran; 0 if its counters cannot tell.
#[must_use]
pub fn actual_frequency_hz(ref_khz: u32, cycles: u64, ref_cycles: u64) -> u64 {
    ekp_actual_frequency_hz(ref_khz, cycles, ref_cycles)
}

impl Active {
    /// The state in which this row has always held.
    #[must_use]
    pub fn always(row: usize) -> Self {
        Self { row: row as u32, ..Self::default() }
    }

    /// From now on a row holds.
    pub fn note(&mut self, row: usize, now_ns: u64) {
        ekp_active_note(self, row as u32, now_ns);
    }

    /// The first row that held since a time.
    #[must_use]
    pub fn since(&self, since_ns: u64) -> usize {
        ekp_active_since(self, since_ns) as usize
    }
}

/// The row of the turbo table that holds for that many active cores.
#[must_use]
pub fn active_row(turbo: &Turbo, active_cores: u32) -> usize {
    ekp_active_row(turbo, active_cores) as usize
}

/// The rows, none of them before the first that can have held, whose mean frequencies at these
/// shares enclose the actual one.
#[must_use]
pub fn turbo_row(turbo: &Turbo, shares: &Shares, actual_hz: u64, first_row: u64) -> TurboRow {
    let mut at = TurboRow::default();
    ekp_turbo_row(turbo, shares, actual_hz, first_row, &mut at);
    at
}

/// Ideal frequency at that row: without cycles above the task's own level.
#[must_use]
pub fn ideal_frequency_hz(turbo: &Turbo, shares: &Shares, own_level: u8, at: TurboRow) -> u64 {
    ekp_ideal_frequency_hz(turbo, shares, own_level.into(), &at)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_actual_frequency_hz(ref_khz: u32, cycles: u64, ref_cycles: u64) -> u64;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_shares(slice: &Slice, shares: &mut Shares);
    safe fn ekp_mean_frequency_hz(turbo: &Turbo, row: u32, shares: &Shares) -> u64;
    safe fn ekp_turbo_row(
        turbo: &Turbo,
        shares: &Shares,
        actual_hz: u64,
        first_row: u64,
        at: &mut TurboRow,
    );
    safe fn ekp_active_row(turbo: &Turbo, active_cores: u32) -> u32;
    safe fn ekp_active_note(active: &mut Active, row: u32, now_ns: u64);
    safe fn ekp_active_since(active: &Active, since_ns: u64) -> u32;
    safe fn ekp_ideal_frequency_hz(
        turbo: &Turbo,
        shares: &Shares,
        own_level: u32,
        at: &TurboRow,
    ) -> u64;
}
