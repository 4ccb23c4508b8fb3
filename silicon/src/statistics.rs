//! Medians with exact intervals: no distribution is assumed, and one preemption moves nothing.

use serde::Serialize;

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The median of the samples.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How many samples.
    pub samples: usize,
}

impl Estimate {
    /// Median and order-statistic interval that misses with a probability of at most `error`;
    /// `None` for too few samples.
    #[must_use]
    pub fn of_median(values: &[f64], error: f64) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = lower_rank(sorted.len(), error)?;
        Some(Self {
            value: quantile(&sorted, 0.5),
            low: sorted[rank],
            high: sorted[sorted.len() - 1 - rank],
            samples: sorted.len(),
        })
    }

    /// The estimate of a function of it that never changes its direction.
    #[must_use]
    pub fn map(self, of: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (of(self.low), of(self.high));
        Self { value: of(self.value), low: a.min(b), high: a.max(b), samples: self.samples }
    }

    /// Half the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether a value lies in the interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether both ends lie strictly between two numbers.
    #[must_use]
    pub fn is_inside(&self, low: f64, high: f64) -> bool {
        self.low > low && self.high < high
    }
}

/// The largest rank, from 0, whose order statistic is the lower end of an interval around the
/// median that misses with a probability of at most `error`: 2 P(Bin(n, 1/2) <= rank) <= error.
fn lower_rank(n: usize, error: f64) -> Option<usize> {
    // Logarithms, because 2^-n leaves the range of a double.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    let mut rank = None;
    for k in 0..n.div_ceil(2) {
        sum += log_term.exp();
        if 2.0 * sum > error {
            break;
        }
        rank = Some(k);
        log_term += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    rank
}

/// A quantile of ascending values, interpolated; 0 of nothing.
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The median; 0 of nothing.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// How far from the median a window may lie to be one of the ordinary ones.
const ORDINARY: f64 = 0.05;

/// What windows of the same work usually take: the mean of those near their median. The mean of
/// contiguous windows is finer than the clock's step, which a median is not; `None` of nothing.
#[must_use]
pub fn typical(durations: &[f32]) -> Option<f64> {
    let values: Vec<f64> = durations.iter().map(|&duration| f64::from(duration)).collect();
    let middle = median(&values);
    let near = |value: &&f64| (**value / middle - 1.0).abs() <= ORDINARY;
    let (sum, count) = values.iter().filter(near).fold((0.0, 0u32), |(s, n), v| (s + v, n + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Conover, Practical Nonparametric Statistics: for n = 10 the 2nd and 9th order
        // statistics enclose the median with 97.9 %, for n = 6 the extremes with 96.9 %.
        assert_eq!((lower_rank(10, 0.05), lower_rank(6, 0.05)), (Some(1), Some(0)));
        assert_eq!((lower_rank(5, 0.05), lower_rank(0, 0.05)), (None, None));
        // For large n about n/2 - 0.98 sqrt(n): 5000 -> 2430.
        let rank = lower_rank(5000, 0.05).unwrap();
        assert!((2428..=2432).contains(&rank), "{rank}");
    }

    #[test]
    fn one_preemption_moves_neither_median_nor_typical_window() {
        let mut windows = vec![1000.0f32; 99];
        windows.push(4e6);
        assert_eq!(typical(&windows), Some(1000.0));
        assert_eq!(typical(&[]), None);
    }

    #[test]
    fn the_typical_window_is_finer_than_the_step_of_the_clock() {
        let windows: Vec<f32> =
            (0..100).map(|i| if i % 10 < 3 { 1010.0 } else { 1000.0 }).collect();
        assert!((typical(&windows).unwrap() - 1003.0).abs() < 1e-6);
    }

    #[test]
    fn a_mapped_estimate_keeps_its_ends_in_order() {
        let estimate = Estimate::of_median(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.05).unwrap();
        let mapped = estimate.map(|value| -value);
        assert_eq!((mapped.low, mapped.value, mapped.high), (-6.0, -3.5, -1.0));
    }
}
