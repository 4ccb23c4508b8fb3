//! Random numbers that are the same on every machine.

/// Steele, Lea and Flood's SplitMix64 finalizer (OOPSLA 2014).
pub(crate) fn scramble(value: u64) -> u64 {
    let value = value.wrapping_add(GOLDEN);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random integers, a function of its seed: SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    state: u64,
}

impl Stream {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        let number = scramble(self.state);
        self.state = self.state.wrapping_add(GOLDEN);
        number
    }

    /// Uniform in `least..=most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        let count = u128::from(most - least) + 1;
        least + ((u128::from(self.next()) * count) >> 64) as u64
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.between(1, times) == 1
    }

    /// One of several; who stands there twice comes twice as often.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() as u64 - 1) as usize]
    }

    /// From `least` to `least << octaves`: each octave as often as the others, uniform within it.
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
        let mut stream = Stream::new(1_234_567);
        let numbers = [stream.next(), stream.next(), stream.next()];
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
