//! How far is each way to estimate a loss off?

use serde::Serialize;

use super::{Estimator, Report};

/// Mean absolute errors of estimated overheads on simulated mixes that nothing was fitted on, in
/// percentage points (data/measurements/profiler/held-out.csv).
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// Of programs beside AVX2 code.
    pub avx2_points: f64,
    /// Of programs beside AVX-512 code.
    pub avx512_points: f64,
}

/// Simulated mixes of which the errors are.
const MIXES: usize = 50;

impl Error {
    /// The error of a way to estimate; `None`: nothing is estimated, or a user named the classes.
    pub fn of(estimator: Estimator) -> Option<Self> {
        let (avx2_points, avx512_points) = match estimator {
            Estimator::Pauses => (0.02, 0.07),
            Estimator::Counters => (0.03, 0.25),
            Estimator::Clock => (1.94, 4.82),
            Estimator::Registers => (6.57, 11.18),
            Estimator::Classes
            | Estimator::NoLevels
            | Estimator::NoneShown
            | Estimator::NotRecorded => return None,
        };
        Some(Self { avx2_points, avx512_points })
    }
}

/// The error in words, as the end of a sentence.
pub fn sentence(report: &Report) -> String {
    let Some(Error { avx2_points, avx512_points }) = report.estimator_error else {
        return String::new();
    };
    let better = match (report.estimator, Error::of(Estimator::Clock)) {
        (Estimator::Registers, Some(clock)) => {
            format!(" (--pauses: {} and {})", clock.avx2_points, clock.avx512_points)
        }
        _ => String::new(),
    };
    format!(
        ". In {MIXES} simulated mixes it was off by {avx2_points} percentage points on average \
         beside AVX2 code and by {avx512_points} beside AVX-512 code{better}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors are those of the measurement, rounded.
    #[test]
    fn stated_errors_are_measured() {
        let measured = include_str!("../../../data/measurements/profiler/held-out.csv");
        for (estimator, name) in [
            (Estimator::Pauses, "pauses"),
            (Estimator::Counters, "counters"),
            (Estimator::Clock, "clock"),
            (Estimator::Registers, "registers"),
        ] {
            let stated = Error::of(estimator).unwrap();
            for (background, points) in
                [("avx2", stated.avx2_points), ("avx512", stated.avx512_points)]
            {
                let mut rows = csv::Reader::from_reader(measured.as_bytes());
                let columns = rows.headers().unwrap().clone();
                let column = |name: &str| columns.iter().position(|it| it == name).unwrap();
                let number =
                    |row: &csv::StringRecord, name: &str| row[column(name)].parse::<f64>().unwrap();
                let is_its = |row: &csv::StringRecord| {
                    &row[column("estimator")] == name && &row[column("background")] == background
                };
                let errors: Vec<f64> = rows
                    .records()
                    .map(Result::unwrap)
                    .filter(is_its)
                    .map(|row| (number(&row, "estimate_pct") - number(&row, "true_pct")).abs())
                    .collect();
                let mean = errors.iter().sum::<f64>() / errors.len() as f64;
                assert!((points - mean).abs() < 0.0051, "{name}, {background}: {mean}");
            }
        }
    }
}
