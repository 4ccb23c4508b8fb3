//! Chains of dependent operations: a known number of cycles, so their time is the frequency.
//!
//! An addition takes one cycle and a 64-bit multiplication three on every x86-64 CPU since Nehalem
//! and Zen. If the two ever disagree, one of these figures is wrong for the CPU.

use crate::{Tsc, code};

/// Additions of a step of [`additions`].
pub const STEP_ADDITIONS: u64 = code::OPERATIONS;
/// Cycles of a dependent 64-bit multiplication.
const MULTIPLICATION_CYCLES: u64 = 3;

/// Runs a chain of that many times [`STEP_ADDITIONS`] dependent additions.
#[inline]
pub fn additions(steps: u64) {
    if steps > 0 {
        // SAFETY: `steps` is not 0.
        unsafe { code::additions(steps) }
    }
}

/// How much longer a chain of multiplications takes than a chain of additions of as many cycles:
/// 1 where an addition takes one cycle and a multiplication three. Median of 16 pairs.
#[must_use]
pub fn agreement(tsc: &Tsc) -> f64 {
    const STEPS: u64 = 1500;
    let time = |run: &dyn Fn()| {
        let start = tsc.now();
        run();
        (tsc.now() - start) as f64
    };
    let mut ratios: Vec<f64> = (0..16)
        .map(|_| {
            let additions = time(&|| additions(MULTIPLICATION_CYCLES * STEPS));
            // SAFETY: the number is not 0.
            time(&|| unsafe { code::multiplications(STEPS) }) / additions
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
