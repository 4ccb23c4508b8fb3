//! The threshold and the ready tasks over time, in bins that get wider as time goes on.

/// Bins; between half of them and all are in use.
const BINS: usize = 256;
/// How wide they are at first, in ticks: some 50 us.
const WIDTH_FIRST: u64 = 1 << 17;

/// The samples of a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Their number.
    pub samples: u64,
    threshold_sum: u64,
    ready_sum: u64,
    /// The highest threshold.
    pub threshold_max: u64,
    /// The most ready tasks.
    pub ready_max: u64,
}

impl Bin {
    fn and(self, other: Self) -> Self {
        Self {
            samples: self.samples + other.samples,
            threshold_sum: self.threshold_sum + other.threshold_sum,
            ready_sum: self.ready_sum + other.ready_sum,
            threshold_max: self.threshold_max.max(other.threshold_max),
            ready_max: self.ready_max.max(other.ready_max),
        }
    }

    /// Means of the threshold and of the ready tasks.
    #[must_use]
    pub fn means(&self) -> Option<(f64, f64)> {
        let samples = self.samples as f64;
        (self.samples > 0)
            .then(|| (self.threshold_sum as f64 / samples, self.ready_sum as f64 / samples))
    }
}

/// The samples from the begin on.
#[derive(Clone, Debug)]
pub struct Series {
    /// How wide a bin is.
    pub width_ticks: u64,
    /// The bins, from the begin of the recording on.
    pub bins: Vec<Bin>,
}

impl Series {
    pub(super) fn new() -> Self {
        Self { width_ticks: WIDTH_FIRST, bins: Vec::new() }
    }

    /// Adds a sample at a time since the begin.
    pub(super) fn add(&mut self, at: u64, threshold: u64, ready: u64) {
        while at / self.width_ticks >= BINS as u64 {
            self.width_ticks *= 2;
            let one = |pair: &[Bin]| pair.iter().fold(Bin::default(), |sum, &bin| sum.and(bin));
            self.bins = self.bins.chunks(2).map(one).collect();
        }
        let bin = (at / self.width_ticks) as usize;
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, Bin::default());
        }
        let seen = Bin {
            samples: 1,
            threshold_sum: threshold,
            ready_sum: ready,
            threshold_max: threshold,
            ready_max: ready,
        };
        self.bins[bin] = self.bins[bin].and(seen);
    }

    /// All bins as one.
    #[must_use]
    pub fn whole(&self) -> Bin {
        self.bins.iter().fold(Bin::default(), |sum, &bin| sum.and(bin))
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn means_and_largest_survive_wider_bins() {
        let mut series = Series::new();
        (0..100).for_each(|n| series.add(n * WIDTH_FIRST, n % 2, 10));
        series.add(WIDTH_FIRST * 100_000, 64, 0);
        let whole = series.whole();
        assert_eq!((whole.samples, whole.threshold_max, whole.ready_max), (101, 64, 10));
        assert_eq!(whole.means(), Some(((50.0 + 64.0) / 101.0, 1000.0 / 101.0)));
        assert!(series.bins.len() <= BINS);
    }
}
