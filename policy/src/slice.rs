//! The measurements of a slice that every decision starts from.

use cpu_model::LEVELS_MAX;

/// Measurements of one task between two switches: `struct ek_slice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// CPU time.
    pub time_ns: u64,
    /// Clock cycles.
    pub cycles: u64,
    /// Cycles of the reference clock while not halted.
    pub ref_cycles: u64,
    /// Cycles at each level; entry 0 is not read: level 0 has the remaining cycles (Eq. D 7.4).
    pub level_cycles: [u64; LEVELS_MAX],
    /// Cycles stalled on L2 misses and bound by stores.
    pub stall_cycles: u64,
    /// The first row of the turbo table that can have held; 0 where nobody counted cores.
    pub first_row: u64,
}

const _: () = assert!(size_of::<Slice>() == 8 * (5 + LEVELS_MAX));
