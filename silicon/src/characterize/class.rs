//! The effect of a class on the clock while a given number of other cores are busy.

use cpu_model::Class;

use super::curve::{after_curve, entry_curve, ratio_curve};
use super::effect::{EFFECT, effect, ratios};
use super::entry::entries;
use super::fall::{Falls, estimate_us, falls, plateau};
use super::findings::{ClassFinding, Condition, Cost, Hold, Verdict};
use super::rounds::{Burst, Kind, Rounds};
use crate::machine::{Facts, WINDOW_NS};
use crate::statistics::{Estimate, quantile, typical};

/// Miss probability of the intervals that are printed.
pub(super) const PRINTED_ERROR: f64 = 0.05;
/// Share of the plateau's windows that its clock is taken from: its end moves a little.
const PLATEAU_SHARE: f64 = 0.9;
/// Below this an entry without a change of clock is not worth a word, in us.
const ENTRY_MIN_US: f64 = 0.5;

/// Judges all classes of rounds.
pub(super) fn condition(
    rounds: &Rounds,
    facts: &Facts,
    busy_others: usize,
    tests: usize,
) -> Condition {
    let scalar = rounds.of(Kind::of(Class::Scalar));
    let clock = scalar_ghz(scalar, facts);
    let classes = Class::ALL
        .into_iter()
        .filter(|&class| class != Class::Scalar)
        .map(|class| {
            match facts.unsupported.iter().find(|(unsupported, _)| *unsupported == class) {
                Some((_, reason)) => unsupported(class, reason.to_string()),
                None => finding(class, rounds.of(Kind::of(class)), scalar, clock.value, tests),
            }
        })
        .collect();
    Condition {
        busy_others,
        rounds: scalar.len(),
        scalar_ghz: clock,
        scalar_after: after_curve(scalar, scalar, clock.value),
        classes,
    }
}

fn unsupported(class: Class, reason: String) -> ClassFinding {
    ClassFinding {
        class,
        verdict: Verdict::Unsupported(reason),
        ratio: None,
        hold: None,
        entry: None,
        boost: None,
        break_even_us: None,
        after: Vec::new(),
        entry_curve: Vec::new(),
    }
}

/// The clock of scalar code, with quartiles: it moves with the neighbours, and an interval of its
/// median would hide that.
fn scalar_ghz(scalar: &[Burst], facts: &Facts) -> Estimate {
    let mut ghz: Vec<f64> = scalar
        .iter()
        .filter_map(|burst| typical(burst.after()))
        .map(|ns| facts.window_cycles / ns)
        .collect();
    ghz.sort_by(f64::total_cmp);
    Estimate {
        value: quantile(&ghz, 0.5),
        low: quantile(&ghz, 0.25),
        high: quantile(&ghz, 0.75),
        samples: ghz.len(),
    }
}

fn finding(
    class: Class,
    bursts: &[Burst],
    scalar: &[Burst],
    scalar_ghz: f64,
    tests: usize,
) -> ClassFinding {
    let effect = effect(bursts, scalar, tests);
    let entries = entries(bursts, scalar);
    let entry = estimate_us(&entries.cost_ns)
        .map(|us| Cost { us, discarded: entries.discarded })
        .filter(|cost| cost.us.low > 0.0);
    let mut finding = ClassFinding {
        ratio: effect.strongest,
        entry: entry.filter(|cost| cost.us.value >= ENTRY_MIN_US),
        after: after_curve(bursts, scalar, scalar_ghz),
        entry_curve: entry_curve(bursts),
        verdict: effect.verdict,
        ..unsupported(class, String::new())
    };
    if finding.verdict != Verdict::Affected {
        return finding;
    }
    finding.entry = entry;
    let Some((windows, level)) = plateau(&ratio_curve(bursts, scalar)) else { return finding };
    finding.ratio =
        Estimate::of_median(&ratios(bursts, scalar, plateau_windows(windows)), PRINTED_ERROR)
            .or(finding.ratio);
    let found = returns(bursts, scalar, level);
    finding.hold = found.0;
    finding.boost = found.1;
    finding.break_even_us = finding
        .ratio
        .and_then(|ratio| break_even_us(entry.as_ref(), finding.boost.as_ref(), ratio));
    finding
}

/// The windows that the clock of a plateau is taken from.
pub(super) fn plateau_windows(windows: usize) -> (usize, usize) {
    let end = ((windows as f64 * PLATEAU_SHARE) as usize).max(windows.min(3)).max(1);
    (usize::from(end > 1), end)
}

/// The time for which the clock stays at a level, and the cost of its return.
pub(super) fn returns(
    bursts: &[Burst],
    control: &[Burst],
    level: f64,
) -> (Option<Hold>, Option<Cost>) {
    if level > 1.0 - EFFECT / 2.0 {
        return (None, None);
    }
    let Falls { hold_ns, boost_ns, boosts_discarded, interrupted, not_back, unclear } =
        falls(bursts, control, level);
    let decile = |tenth: usize| quantile(&hold_ns, tenth as f64 / 10.0) / 1000.0;
    // Within its window the fall may be anywhere.
    let half_us = WINDOW_NS / level / 2000.0;
    let hold = estimate_us(&hold_ns).map(|us| Hold {
        us: Estimate { low: (us.low - half_us).max(0.0), high: us.high + half_us, ..us },
        deciles_us: std::array::from_fn(|index| decile(index + 1)),
        not_back,
        interrupted,
        unclear,
    });
    let boost = estimate_us(&boost_ns).map(|us| Cost { us, discarded: boosts_discarded });
    // A return that was seen in few bursts is not one.
    let seen = hold.filter(|hold| hold.us.samples > not_back + unclear);
    // Where nothing halts, the longest window is one at the lower clock.
    let resolved_us = (1.0 / level - 1.0) * WINDOW_NS / 1000.0;
    let boost = boost.filter(|boost| seen.is_some() && boost.us.low > resolved_us);
    (seen, boost)
}

/// Eq. D 5.2: the time at the higher clock that pays for going there and back. Its ends take the
/// ends of all three, so that its interval misses at most as often as they do together.
pub(super) fn break_even_us(
    entry: Option<&Cost>,
    boost: Option<&Cost>,
    ratio: Estimate,
) -> Option<Estimate> {
    let ends = |cost: Option<&Cost>| {
        cost.map_or((0.0, 0.0, 0.0), |cost| {
            (cost.us.low.max(0.0), cost.us.value.max(0.0), cost.us.high.max(0.0))
        })
    };
    if (entry.is_none() && boost.is_none()) || ratio.high >= 1.0 {
        return None;
    }
    let (entry, boost) = (ends(entry), ends(boost));
    Some(Estimate {
        value: (entry.1 + boost.1) / (1.0 - ratio.value),
        low: (entry.0 + boost.0) / (1.0 - ratio.low),
        high: (entry.2 + boost.2) / (1.0 - ratio.high),
        samples: ratio.samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn break_even_is_that_of_the_dissertation() {
        // D 5.2.3: 2.8 against 1.9 GHz and 50.1 us give 156 us.
        let point = |value: f64| Estimate { value, low: value, high: value, samples: 1 };
        let entry = Cost { us: point(40.1), discarded: 0 };
        let boost = Cost { us: point(10.0), discarded: 0 };
        let found = break_even_us(Some(&entry), Some(&boost), point(1.9 / 2.8)).unwrap();
        assert!((found.value - 156.0).abs() < 1.0, "{}", found.value);
    }
}
