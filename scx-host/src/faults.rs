//! Faults that a machine may have, from a seed.

use random::SplitMix64;

/// Rates of faults; by default none occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Seed of all random values; with an equal seed, a run repeats exactly.
    pub seed: u64,
    /// Requests of task storage that fail, in permille.
    pub no_memory_permille: u32,
    /// Longest delay of a timer, in ns.
    pub timer_late_ns_max: u64,
}

/// The generator of an instance's faults and random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    faults: Faults,
    generator: SplitMix64,
}

impl Chance {
    pub(crate) fn new(faults: Faults) -> Self {
        Self { faults, generator: SplitMix64::new(faults.seed) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.generator.next_u64()
    }

    pub(crate) fn has_no_memory(&mut self) -> bool {
        let permille = u64::from(self.faults.no_memory_permille);
        permille > 0 && self.generator.remainder(1000) < permille
    }

    pub(crate) fn lateness_ns(&mut self) -> u64 {
        match self.faults.timer_late_ns_max {
            0 => 0,
            most => self.generator.remainder(most + 1),
        }
    }
}
