//! Numbers that follow from a seed, for tests and measurements: a failure names its seed, and the
//! seed repeats the failure on every machine.

/// 2^64 over the golden ratio, made odd.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The value of a cell after a task with this salt wrote the cell. Two tasks in the other order
/// leave another value, so that a test sees which of them was first.
#[must_use]
pub const fn turned(cell: u64, salt: u64) -> u64 {
    (cell ^ salt).wrapping_mul(GOLDEN).rotate_left(17)
}

/// The generator SplitMix64 of Steele, Lea and Flood (OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator with this state.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number, uniform in all of `u64`.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number below `end`, by the remainder of a division; `end` > 0.
    pub const fn below(&mut self, end: usize) -> usize {
        (self.next_u64() % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference_implementation() {
        // First outputs of Vigna's splitmix64.c with state 1234567.
        let mut generator = SplitMix64::new(1_234_567);
        let numbers = [generator.next_u64(), generator.next_u64(), generator.next_u64()];
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, expected);
    }
}
