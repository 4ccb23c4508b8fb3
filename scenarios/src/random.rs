//! Random amounts and choices of mixes.

use random::SplitMix64;

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
        least + self.generator.below(most - least + 1)
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
