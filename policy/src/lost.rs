//! Time lost to other tasks' licenses, and other measures of a slice: `evenkeel/time_lost.h`,
//! `stall.h`, `meter.h`.

use cpu_model::{LEVELS_MAX, Turbo};

use crate::{Shares, Slice, TurboRow};

/// The loss of a slice: `struct ek_lost`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Never more than the slice's time.
    pub lost_ns: u64,
    /// Mean frequency measured; 0 if the counters cannot tell.
    pub actual_hz: u64,
    /// Ideal frequency; the actual one if no other task used wide instructions.
    pub ideal_hz: u64,
    /// Shares of the slice's cycles at each level.
    pub shares: Shares,
    /// The turbo row of the slice; the first row where nothing was lost.
    pub at: TurboRow,
}

const _: () = assert!(size_of::<Lost>() == 32 + 4 * LEVELS_MAX);

/// Time that a slice of a task of that level lost (Eq. D 7.3).
///
/// Exactly 0 unless cycles ran above the task's own level.
#[must_use]
pub fn time_lost(turbo: &Turbo, slice: &Slice, own_level: u8) -> Lost {
    let mut lost = Lost::default();
    ekp_time_lost(turbo, slice, own_level.into(), &mut lost);
    lost
}

/// A measure to charge a slice by, other than its time: `enum ek_meter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Meter {
    /// Cycles, relative to full frequency.
    Cycles = 1,
    /// Energy, relative to the power that its level may draw.
    Energy = 2,
}

/// The charge for a slice of a task of that level, in ns; at most its time.
#[must_use]
pub fn metered_ns(meter: Meter, turbo: &Turbo, slice: &Slice, own_level: u8) -> u64 {
    let mut lost = Lost::default();
    ekp_meter_ns(meter as u32, turbo, slice, own_level.into(), &mut lost)
}

/// Speed at `next_hz` over speed at `now_hz`, Q30 (Eq. D 4.3).
///
/// `stall_q30` is the share of cycles that waited for memory at `now_hz`.
#[must_use]
pub fn stall_perf_q30(stall_q30: u32, now_hz: u64, next_hz: u64) -> u64 {
    ekp_stall_perf_q30(stall_q30, now_hz, next_hz)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_stall_perf_q30(stall_q30: u32, now_hz: u64, next_hz: u64) -> u64;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_time_lost(turbo: &Turbo, slice: &Slice, own_level: u32, lost: &mut Lost);
    safe fn ekp_meter_ns(
        meter: u32,
        turbo: &Turbo,
        slice: &Slice,
        own_level: u32,
        lost: &mut Lost,
    ) -> u64;
}
