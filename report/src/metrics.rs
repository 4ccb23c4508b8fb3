//! The figures of a comparison, each a function of plain numbers.

use crate::statistics::mean;

/// Slowdowns of what is judged: by unit (program and foreground application), then replicate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slowdowns(pub(crate) Vec<Vec<f64>>);

impl Slowdowns {
    fn unit_means(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|unit| mean(unit))
    }

    /// Mean over units of `of(mean slowdown over replicates - 1)`, in percent.
    fn mean_pct(&self, of: impl Fn(f64) -> f64) -> f64 {
        let values: Vec<f64> = self.unit_means().map(|slowdown| of(slowdown - 1.0)).collect();
        100.0 * mean(&values)
    }

    /// Mean of |slowdown - 1|: speed-ups are unwanted too (D 7.6.2, footnote 6).
    ///
    /// The mean over replicates is taken first, as D averages repetitions, so that noise
    /// around no slowdown does not count as slowdown.
    pub(crate) fn isolation_pct(&self) -> f64 {
        self.mean_pct(f64::abs)
    }

    /// Mean of slowdown - 1 (D 7.2).
    pub(crate) fn signed_pct(&self) -> f64 {
        self.mean_pct(|excess| excess)
    }

    /// Mean of slowdown - 1 with speed-ups as 0.
    pub(crate) fn slowdown_only_pct(&self) -> f64 {
        self.mean_pct(|excess| excess.max(0.0))
    }

    /// The contribution of each replicate to [`Self::isolation_pct`], which is their mean.
    ///
    /// A unit counts with the sign of its mean, which linearises the absolute value.
    pub(crate) fn isolation_shares_pct(&self) -> Vec<f64> {
        let signs: Vec<f64> =
            self.unit_means().map(|slowdown| if slowdown < 1.0 { -1.0 } else { 1.0 }).collect();
        self.by_replicate(|unit, slowdown| signs[unit] * (slowdown - 1.0))
    }

    /// [`Self::signed_pct`] of each replicate alone.
    pub(crate) fn signed_by_replicate_pct(&self) -> Vec<f64> {
        self.by_replicate(|_, slowdown| slowdown - 1.0)
    }

    fn by_replicate(&self, of: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let replicates = self.0.iter().map(Vec::len).min().unwrap_or(0);
        let one = |replicate: usize| {
            let units = self.0.iter().enumerate();
            let values: Vec<f64> = units.map(|(unit, all)| of(unit, all[replicate])).collect();
            100.0 * mean(&values)
        };
        (0..replicates).map(one).collect()
    }
}

/// CPU time over the CPU time at the ideal frequency, minus one, in percent (D ch. 4, 5).
pub(crate) fn remote_avx_overhead_pct(cpu_time_ns: u64, lost_ns: u64) -> f64 {
    let ideal_ns = cpu_time_ns.saturating_sub(lost_ns);
    if ideal_ns == 0 { 0.0 } else { 100.0 * (cpu_time_ns as f64 / ideal_ns as f64 - 1.0) }
}

/// `a` over `b` minus one, in percent; 0 where `b` is 0.
pub(crate) fn excess_pct(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { 100.0 * (a / b - 1.0) }
}

/// Largest over smallest slowdown; 1 of fewer than two.
pub(crate) fn unfairness(slowdowns: &[f64]) -> f64 {
    let largest = slowdowns.iter().copied().fold(f64::MIN, f64::max);
    let smallest = slowdowns.iter().copied().fold(f64::MAX, f64::min);
    if slowdowns.len() < 2 { 1.0 } else { largest / smallest }
}

/// Jain's index of normalised progress, the reciprocal of slowdown: (Σx)² / (n Σx²).
pub(crate) fn jain(slowdowns: &[f64]) -> f64 {
    let sum: f64 = slowdowns.iter().map(|slowdown| 1.0 / slowdown).sum();
    let squares: f64 = slowdowns.iter().map(|slowdown| 1.0 / (slowdown * slowdown)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (slowdowns.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn speed_ups_count_in_isolation_cancel_in_signed_and_vanish_in_slowdown_only() {
        let slowdowns = Slowdowns(vec![vec![1.2], vec![0.9]]);
        assert!(close(slowdowns.isolation_pct(), 15.0));
        assert!(close(slowdowns.signed_pct(), 5.0));
        assert!(close(slowdowns.slowdown_only_pct(), 10.0));
    }

    #[test]
    fn noise_around_no_slowdown_is_no_slowdown() {
        assert!(close(Slowdowns(vec![vec![1.1, 0.9]]).isolation_pct(), 0.0));
        assert!(close(Slowdowns(vec![vec![1.1], vec![0.9]]).isolation_pct(), 10.0));
    }

    #[test]
    fn shares_of_the_replicates_average_to_the_figure() {
        let slowdowns = Slowdowns(vec![vec![1.3, 1.1], vec![0.8, 0.96]]);
        let shares = slowdowns.isolation_shares_pct();
        assert!(close(shares[0], 25.0) && close(shares[1], 7.0), "{shares:?}");
        assert!(close(mean(&shares), slowdowns.isolation_pct()));
    }

    #[test]
    fn a_fifth_of_the_time_lost_is_a_quarter_of_overhead() {
        assert!(close(remote_avx_overhead_pct(100, 20), 25.0));
        assert!(close(remote_avx_overhead_pct(100, 0), 0.0));
        assert!(close(remote_avx_overhead_pct(0, 0), 0.0));
    }

    #[test]
    fn unfairness_is_the_span_of_slowdowns() {
        assert!(close(unfairness(&[1.0, 1.5, 0.75]), 2.0));
        assert!(close(unfairness(&[1.5]), 1.0));
    }

    #[test]
    fn jain_falls_as_progress_spreads() {
        assert!(close(jain(&[1.3, 1.3, 1.3]), 1.0));
        // Progress 1 and 0.5: 2.25 / (2 * 1.25).
        assert!(close(jain(&[1.0, 2.0]), 0.9));
        assert!(jain(&[1.0, 4.0]) < jain(&[1.0, 2.0]));
    }
}
