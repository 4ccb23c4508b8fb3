//! The judgement of a change.

use serde::Serialize;

use crate::Estimate;

/// A change this near to zero, in points, is worth no decision; our choice.
pub const NO_DIFFERENCE_POINTS: f64 = 0.5;

/// Whether specialization is worth to be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The machine does more work with it.
    Pays,
    /// The machine does less work with it.
    Harms,
    /// The whole interval is near zero.
    NoDifference,
    /// The interval is too wide to tell.
    Undecided,
}

/// Judges the change of the work done a second, in percent.
#[must_use]
pub fn judge(change_pct: &Estimate) -> Verdict {
    if change_pct.is_inside(-NO_DIFFERENCE_POINTS, NO_DIFFERENCE_POINTS) {
        Verdict::NoDifference
    } else if change_pct.low > 0.0 {
        Verdict::Pays
    } else if change_pct.high < 0.0 {
        Verdict::Harms
    } else {
        Verdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_around_zero_decides_nothing_unless_it_is_narrow() {
        let change = |low: f64, high: f64| Estimate { value: 0.0, low, high, samples: 9 };
        assert_eq!(judge(&change(0.1, 3.0)), Verdict::Pays);
        assert_eq!(judge(&change(-3.0, -0.1)), Verdict::Harms);
        assert_eq!(judge(&change(-0.1, 3.0)), Verdict::Undecided);
        assert_eq!(judge(&change(-0.4, 0.4)), Verdict::NoDifference);
        assert_eq!(judge(&change(0.1, 0.4)), Verdict::NoDifference);
    }
}
