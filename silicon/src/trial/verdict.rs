//! Does the model agree with the machine?

use serde::Serialize;

use crate::Estimate;

/// A measurement with a wider interval decides nothing; fixed before the first trial.
pub const HALF_WIDTH_POINTS_MAX: f64 = 0.7;
/// A prediction this near to the measurement agrees, in points; fixed before the first trial.
pub const AGREEMENT_POINTS: f64 = 1.0;

/// The judgement of a trial about a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval is too wide. That is no pass.
    Undecided,
    /// The prediction lies within the tolerance or the interval.
    Agrees,
    /// The prediction lies outside both.
    Disagrees,
}

/// Judges a prediction by a measurement, both in percent.
#[must_use]
pub fn judge(measured: &Estimate, predicted_pct: f64) -> Verdict {
    if measured.half_width() > HALF_WIDTH_POINTS_MAX {
        return Verdict::Undecided;
    }
    let is_near = (measured.value - predicted_pct).abs() <= AGREEMENT_POINTS;
    if is_near || measured.contains(predicted_pct) { Verdict::Agrees } else { Verdict::Disagrees }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(middle: f64, half_width: f64) -> Estimate {
        Estimate {
            value: middle,
            low: middle - half_width,
            high: middle + half_width,
            samples: 300,
        }
    }

    #[test]
    fn a_wide_interval_decides_nothing_however_near_the_prediction() {
        assert_eq!(judge(&measured(-2.0, 0.71), -2.0), Verdict::Undecided);
        assert_eq!(judge(&measured(-2.0, 0.69), -2.0), Verdict::Agrees);
    }

    #[test]
    fn a_prediction_more_than_a_point_off_disagrees() {
        assert_eq!(judge(&measured(-2.0, 0.5), -2.9), Verdict::Agrees);
        assert_eq!(judge(&measured(-2.0, 0.5), -3.1), Verdict::Disagrees);
    }
}
