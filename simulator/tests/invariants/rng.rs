//! Random numbers of the generator: its own stream, apart from the simulator's.

use random::SplitMix64;

pub struct Rng(SplitMix64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed ^ 0x5851_f42d_4c95_7f2d))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `low..=high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.remainder(high - low + 1)
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.within(0, choices.len() as u64 - 1) as usize]
    }

    /// True once in `n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.within(1, n) == 1
    }

    /// As many amounts of 1 µs as of 1 ms: uniform in the exponent of 2.
    pub fn scaled(&mut self, low: u64, high: u64) -> u64 {
        let bits = self.within(0, u64::from((high / low).max(1).ilog2()));
        let floor = low << bits;
        self.within(floor, (2 * floor).min(high).max(floor))
    }
}
