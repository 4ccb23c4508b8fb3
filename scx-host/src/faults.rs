//! Faults that a machine may have, from a seed.

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
    state: u64,
}

impl Chance {
    pub(crate) fn new(faults: Faults) -> Self {
        Self { faults, state: faults.seed }
    }

    /// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn has_no_memory(&mut self) -> bool {
        let permille = u64::from(self.faults.no_memory_permille);
        permille > 0 && self.next() % 1000 < permille
    }

    pub(crate) fn lateness_ns(&mut self) -> u64 {
        match self.faults.timer_late_ns_max {
            0 => 0,
            most => self.next() % (most + 1),
        }
    }
}
