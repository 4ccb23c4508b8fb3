//! The CPU of the worked examples, and slices on that CPU.
#![allow(dead_code, reason = "each test file uses its part")]

use cpu_model::{LEVELS_MAX, ROWS_MAX, Turbo};
use policy::Slice;
use random::SplitMix64;

/// Turbo table of the Xeon Gold 6130 (D Table 3.1), 2.1 GHz reference clock.
pub fn xeon_gold_6130() -> Turbo {
    table(
        2_100_000,
        &[
            (2, &[3_700_000, 3_600_000, 3_500_000]),
            (4, &[3_500_000, 3_400_000, 3_100_000]),
            (8, &[3_400_000, 3_100_000, 2_400_000]),
            (12, &[3_100_000, 2_600_000, 2_100_000]),
            (16, &[2_800_000, 2_400_000, 1_900_000]),
        ],
    )
}

/// A table of rows (active cores at most, frequencies by level).
pub fn table(ref_khz: u32, rows: &[(u32, &[u32])]) -> Turbo {
    let mut turbo = Turbo {
        ref_khz,
        levels: u32::try_from(rows[0].1.len()).unwrap(),
        rows: u32::try_from(rows.len()).unwrap(),
        cores_max: [0; ROWS_MAX],
        khz: [[0; LEVELS_MAX]; ROWS_MAX],
    };
    for (row, (cores_max, khz)) in rows.iter().enumerate() {
        turbo.cores_max[row] = *cores_max;
        turbo.khz[row][..khz.len()].copy_from_slice(khz);
    }
    turbo
}

/// A slice at a steady frequency, its cycles spread over the levels in thousandths.
pub fn slice(turbo: &Turbo, time_ns: u64, khz: u64, level_permille: [u64; 3]) -> Slice {
    let cycles = time_ns * khz / 1_000_000;
    let mut slice = Slice {
        time_ns,
        cycles,
        ref_cycles: time_ns * u64::from(turbo.ref_khz) / 1_000_000,
        ..Slice::default()
    };
    for (level, permille) in level_permille.into_iter().enumerate() {
        slice.level_cycles[level] = cycles * permille / 1000;
    }
    slice
}

/// Random numbers of any size.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Uniform enough below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.remainder(limit)
    }

    /// Of any magnitude: small, large and extreme numbers are equally likely.
    pub fn any(&mut self) -> u64 {
        let bits = self.below(66);
        match bits {
            0 => 0,
            65 => u64::MAX,
            _ => self.0.next_u64() >> (64 - bits),
        }
    }

    pub fn any_u32(&mut self) -> u32 {
        (self.any() & 0xffff_ffff) as u32
    }
}
