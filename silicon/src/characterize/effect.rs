//! Does a class change the clock of the code that runs after the class?

use super::findings::Verdict;
use super::rounds::Burst;
use crate::statistics::{Estimate, typical};

/// Ages in windows, each looked at by itself, because a short hold shows in the first ones alone
/// and a small effect in many together. The very first window has the end of the burst in it.
const BANDS: [(usize, usize); 5] = [(1, 4), (4, 16), (16, 64), (64, 256), (256, 512)];

/// An effect is at least so large, as a share of the clock; what is surely smaller is none.
pub(crate) const EFFECT: f64 = 0.01;

/// Probability that anything is called affected or unaffected wrongly, over all classes and
/// conditions together.
const ERROR: f64 = 0.01;

/// The effect of a class on the clock, by the age of the windows.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// The verdict on the class.
    pub(crate) verdict: Verdict,
    /// Clock over that after scalar code in the band that differs most.
    pub(crate) strongest: Option<Estimate>,
}

/// The clock after a class over that after scalar code of the same round and age, by round.
pub(crate) fn ratios(class: &[Burst], scalar: &[Burst], (from, to): (usize, usize)) -> Vec<f64> {
    let of_round = |(class, scalar): (&Burst, &Burst)| {
        if class.undisturbed() < to || scalar.undisturbed() < to {
            return None;
        }
        Some(typical(&scalar.after()[from..to])? / typical(&class.after()[from..to])?)
    };
    class.iter().zip(scalar).filter_map(of_round).collect()
}

/// Judges a class; `tests` is how many classes and conditions are judged in all.
pub(crate) fn effect(class: &[Burst], scalar: &[Burst], tests: usize) -> Effect {
    let error = ERROR / (tests.max(1) * BANDS.len()) as f64;
    let bands: Vec<Option<Estimate>> = BANDS
        .iter()
        .map(|&band| Estimate::of_median(&ratios(class, scalar, band), error))
        .collect();
    let strongest = bands
        .iter()
        .flatten()
        .copied()
        .max_by(|a, b| (a.value - 1.0).abs().total_cmp(&(b.value - 1.0).abs()));
    Effect { verdict: verdict(&bands), strongest }
}

fn verdict(bands: &[Option<Estimate>]) -> Verdict {
    let known: Vec<&Estimate> = bands.iter().flatten().collect();
    if known.iter().any(|band| band.high < 1.0 && band.value <= 1.0 - EFFECT) {
        return Verdict::Affected;
    }
    if known.len() < bands.len() {
        return Verdict::Hidden("too few bursts were left undisturbed".to_owned());
    }
    let inside = |band: &&&Estimate| band.is_inside(1.0 - EFFECT, 1.0 + EFFECT);
    match known.iter().find(|band| !inside(band)) {
        None => Verdict::Unaffected,
        Some(band) => Verdict::Hidden(format!(
            "the clock changes by {:+.1} to {:+.1} %, which is neither surely an effect nor \
             surely none",
            (band.low - 1.0) * 100.0,
            (band.high - 1.0) * 100.0
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(low: f64, value: f64, high: f64) -> Option<Estimate> {
        Some(Estimate { value, low, high, samples: 100 })
    }

    #[test]
    fn an_effect_must_be_sure_and_large() {
        let none = band(0.995, 1.0, 1.005);
        assert_eq!(verdict(&[none, band(0.97, 0.98, 0.99)]), Verdict::Affected);
        assert_eq!(verdict(&[none, band(0.993, 0.995, 0.997)]), Verdict::Unaffected);
        assert!(matches!(verdict(&[none, band(0.96, 0.98, 1.001)]), Verdict::Hidden(_)));
        assert!(matches!(verdict(&[none, band(0.999, 1.02, 1.03)]), Verdict::Hidden(_)));
        assert!(matches!(verdict(&[none, None]), Verdict::Hidden(_)));
    }
}
