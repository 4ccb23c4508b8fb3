//! Random numbers that are the same on every machine.

/// The generator SplitMix64 of Steele, Lea and Flood (OOPSLA 2014). One seed yields the same
/// numbers on every machine; recorded figures and shipped scenarios depend on them.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Increment of the state: 2^64 over the golden ratio, made odd.
    pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A generator with this state.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number, uniform in all of `u64`.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::GAMMA);
        Self::mix(self.state)
    }

    /// The output function: a bijection that spreads every bit of its argument.
    #[inline]
    #[must_use]
    pub const fn mix(state: u64) -> u64 {
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// A hash of a number: the first number of the generator with this seed.
pub(crate) fn scramble(value: u64) -> u64 {
    SplitMix64::new(value).next_u64()
}

/// A stream of random integers for a mix, a function of its seed.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    generator: SplitMix64,
}

impl Stream {
    pub(crate) fn new(seed: u64) -> Self {
        Self { generator: SplitMix64::new(seed) }
    }

    /// Uniform in `least..=most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        let count = u128::from(most - least) + 1;
        least + ((u128::from(self.generator.next_u64()) * count) >> 64) as u64
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.between(1, times) == 1
    }

    /// One element; an element that is listed twice is drawn twice as often.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() as u64 - 1) as usize]
    }

    /// From `least` to `least << octaves`: every octave equally often, uniform within an octave.
    pub(crate) fn octaves(&mut self, least: u64, octaves: u64) -> u64 {
        let start = least << self.between(0, octaves - 1);
        self.between(start, 2 * start)
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

    #[test]
    fn every_value_of_a_range_comes_and_no_other() {
        let mut stream = Stream::new(1);
        let drawn: std::collections::BTreeSet<u64> =
            (0..200).map(|_| stream.between(3, 7)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn octaves_are_equally_likely() {
        let mut stream = Stream::new(1);
        let drawn: Vec<u64> = (0..4000).map(|_| stream.octaves(50, 4)).collect();
        assert!(drawn.iter().all(|us| (50..=800).contains(us)));
        let low = drawn.iter().filter(|&&us| us < 200).count();
        assert!((1850..2150).contains(&low), "{low} of 4000 in the lower two octaves");
    }
}
