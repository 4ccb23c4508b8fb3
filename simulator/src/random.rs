//! Seeded random streams, one for each purpose and subject.
//!
//! Whatever concerns a thread is drawn from a stream of that thread, so that no draw depends on the
//! order of events: runs of equal workloads draw equal numbers however they interleave.

use random::{GOLDEN, SplitMix64};

/// Purpose of a stream. Streams of different purposes never share draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Amounts of work and sleep of a thread.
    Work = 1,
    /// Lengths of slices.
    Slice = 2,
    /// Chance in the readings of sensors.
    Sensor = 3,
    /// Choices of a scheduler model.
    Scheduler = 4,
    /// When threads and applications arrive.
    Arrival = 5,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    generator: SplitMix64,
}

/// One stream for each task.
pub(crate) fn of_tasks(seed: u64, purpose: Purpose, numbers: &[u64]) -> Vec<Stream> {
    numbers.iter().map(|&number| Stream::new(seed, purpose, number)).collect()
}

impl Stream {
    pub(crate) fn new(seed: u64, purpose: Purpose, subject: u64) -> Self {
        let of_seed = |seed| SplitMix64::new(seed).next_u64();
        let of_purpose = (purpose as u64).wrapping_mul(GOLDEN);
        let state = of_seed(seed) ^ SplitMix64::mix(of_purpose ^ of_seed(subject));
        Self { generator: SplitMix64::new(state) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Uniform in 0..2^32.
    pub(crate) fn next_u32(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// Uniform in 0..bound; bound > 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.generator.below(bound)
    }

    /// True with probability permille / 1000.
    pub(crate) fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < u64::from(permille)
    }

    /// Exponential with mean 2^20, at most 20 means: von Neumann's comparisons, in integers.
    pub(crate) fn exponential_q20(&mut self) -> u64 {
        const LIMIT: u64 = 20;
        for whole in 0..LIMIT {
            // A run of falling uniforms; odd length: accept the first as the fraction.
            let first = self.next() >> 44;
            let mut last = first;
            let mut length = 1_u32;
            loop {
                let draw = self.next() >> 44;
                if draw >= last {
                    break;
                }
                last = draw;
                length += 1;
            }
            if length % 2 == 1 {
                return (whole << 20) + first;
            }
        }
        LIMIT << 20
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_purpose_or_subject_differ() {
        let first = |purpose, subject| Stream::new(1, purpose, subject).next();
        assert_ne!(first(Purpose::Work, 1), first(Purpose::Work, 2));
        assert_ne!(first(Purpose::Work, 1), first(Purpose::Slice, 1));
        assert_eq!(first(Purpose::Work, 1), first(Purpose::Work, 1));
    }

    #[test]
    fn exponential_has_mean_and_variance_of_an_exponential() {
        let mut stream = Stream::new(7, Purpose::Work, 0);
        let draws: Vec<f64> =
            (0..200_000).map(|_| stream.exponential_q20() as f64 / f64::from(1 << 20)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut stream = Stream::new(3, Purpose::Work, 0);
        let mut seen = [0_u32; 10];
        for _ in 0..100_000 {
            seen[stream.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
    }
}
