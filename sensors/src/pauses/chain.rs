//! The chain that spinners time: how many additions take about 5 us, and how many cycles they are.

use std::time::Duration;

use kernels::{Tsc, chain};

use super::look::Block;

/// The aim: short enough for ten of them within 50 us, long enough that a stamp is 0.5 % of it.
const BLOCK: Duration = Duration::from_micros(5);

/// A block of additions and its length in cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    tsc: Tsc,
    steps: u64,
    cycles: f64,
}

impl Chain {
    /// Finds the length of a block; takes some 20 ms.
    pub(super) fn calibrate(tsc: Tsc) -> Self {
        // The least, as nothing makes a chain shorter.
        let least = |steps: u64| (0..400).map(|_| ticks(&tsc, steps)).min().unwrap_or(1).max(1);
        let thousand = least(1000);
        let steps = (tsc.ticks(BLOCK) * 1000 / thousand).max(2);
        let (one, two) = (least(steps), least(2 * steps));
        // What two blocks take longer than one is known to be as many cycles as additions; the rest
        // of a block is its stamp.
        let additions = (steps * chain::STEP_ADDITIONS) as f64;
        let cycles = additions * one as f64 / two.saturating_sub(one).max(1) as f64;
        // A clock that changed in between must not spoil the result: a stamp is never so long.
        Self { tsc, steps, cycles: cycles.clamp(additions, additions * 1.02) }
    }

    pub(super) fn tsc(&self) -> &Tsc {
        &self.tsc
    }

    /// Runs a block that `asked` precedes, in ticks.
    pub(super) fn run(&self, asked: u64) -> Block {
        let start = self.tsc.now();
        chain::additions(self.steps);
        let end = self.tsc.now();
        Block {
            start_ns: self.tsc.ns(start.saturating_sub(asked)) as u64,
            duration_ns: self.tsc.ns(end.saturating_sub(start)),
            cycles: self.cycles,
        }
    }
}

fn ticks(tsc: &Tsc, steps: u64) -> u64 {
    let start = tsc.now();
    chain::additions(steps);
    tsc.now().saturating_sub(start)
}
