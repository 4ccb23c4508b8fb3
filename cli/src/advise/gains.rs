//! How much more or less work do programs do by an action?
//!
//! A run with the action and a run without have the same seed and end at the same time, before
//! programs run out of recorded work. So the sum of the work of all tasks is what the machine does,
//! and tasks that only exchange CPU time leave that sum as it is.

use scenarios::Workload;
use serde::Serialize;
use silicon::Estimate;
use silicon::advice::{self, NO_DIFFERENCE_POINTS, Simulated};
use simulator::Outcome;

/// The work of an application in one seed, in reference cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// Without the action.
    pub before: f64,
    /// With the action.
    pub after: f64,
}

/// By application: the work of two runs of one seed, `before` without the action.
pub fn done(workload: &Workload, before: &Outcome, after: &Outcome) -> Vec<Done> {
    let mut done = vec![Done::default(); workload.applications.len()];
    for (index, thread) in workload.threads.iter().enumerate() {
        let application = &mut done[thread.application as usize];
        application.before += before.tasks[index].ref_cycles as f64;
        application.after += after.tasks[index].ref_cycles as f64;
    }
    done
}

/// The sum over the applications that are meant.
pub fn sum(done: &[Done], is_meant: impl Fn(usize) -> bool) -> Done {
    let meant = done.iter().enumerate().filter(|&(application, _)| is_meant(application));
    meant.fold(Done::default(), |sum, (_, of)| Done {
        before: sum.before + of.before,
        after: sum.after + of.after,
    })
}

/// The change over seeds in percent, with an interval of 95 %; `None` where a seed has no such
/// work, or for fewer than six seeds.
pub fn change_pct(seeds: impl Iterator<Item = Done>) -> Option<Estimate> {
    let seeds: Vec<Done> = seeds.collect();
    if seeds.iter().any(|done| done.before <= 0.0) {
        return None;
    }
    let runs = |done: &Done| Simulated { pairs: Vec::new(), whole: (done.before, done.after) };
    advice::whole_runs(&seeds.iter().map(runs).collect::<Vec<_>>())
}

/// The highest speed-up that is looked for.
const SPEEDUP_MAX: f64 = 100.0;

/// The speed-up of an application at which all work is as much as without the action, if its cycles
/// stay as they are at `speedup`; `None` if the work of the other applications alone is as much.
pub fn break_even(done: &[Done], application: usize, speedup: f64) -> Option<f64> {
    let all = sum(done, |_| true);
    let remaining = sum(done, |index| index != application);
    let missing = all.before - remaining.after;
    let implied = done[application].after * speedup / missing;
    (missing > 0.0 && implied < SPEEDUP_MAX).then_some(implied)
}

/// The verdict on an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole machine, the victims or the wide programs gain, and none of them loses.
    Gains,
    /// Some of the three gain, and some lose.
    Trades,
    /// The intervals lie near zero.
    NoDifference,
    /// An interval is too wide to tell.
    Undecided,
    /// Some of them lose, and no interval lets another gain.
    Loses,
}

/// Judges the changes of all work, of the victims and of the wide programs, in percent. A change
/// counts if its whole interval is above [`NO_DIFFERENCE_POINTS`], or below its negative.
pub fn judge(all: &Estimate, victims: Option<&Estimate>, wide: Option<&Estimate>) -> Verdict {
    let changes = || std::iter::once(all).chain(victims).chain(wide);
    let gains = changes().any(|change| change.low > NO_DIFFERENCE_POINTS);
    let loses = changes().any(|change| change.high < -NO_DIFFERENCE_POINTS);
    let is_zero = |change: &Estimate| change.is_inside(-NO_DIFFERENCE_POINTS, NO_DIFFERENCE_POINTS);
    let may_gain = |change: &Estimate| change.high > NO_DIFFERENCE_POINTS;
    match (gains, loses) {
        (true, false) => Verdict::Gains,
        (true, true) => Verdict::Trades,
        (false, true) if changes().any(may_gain) => Verdict::Undecided,
        (false, true) => Verdict::Loses,
        (false, false) if changes().all(is_zero) => Verdict::NoDifference,
        (false, false) => Verdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: f64, high: f64) -> Estimate {
        Estimate { value: f64::midpoint(low, high), low, high, samples: 8 }
    }

    #[test]
    fn a_gain_counts_where_its_whole_interval_is_above_the_threshold() {
        let zero = between(-0.1, 0.1);
        assert_eq!(judge(&between(0.6, 2.0), None, None), Verdict::Gains);
        assert_eq!(judge(&between(0.4, 2.0), None, None), Verdict::Undecided);
        assert_eq!(judge(&zero, Some(&between(1.0, 2.0)), Some(&zero)), Verdict::Gains);
        let less = between(-3.0, -2.0);
        assert_eq!(judge(&less, Some(&between(1.0, 2.0)), None), Verdict::Trades);
        assert_eq!(judge(&zero, Some(&between(1.0, 2.0)), Some(&less)), Verdict::Trades);
        assert_eq!(judge(&zero, Some(&less), Some(&zero)), Verdict::Loses);
        assert_eq!(judge(&zero, Some(&zero), Some(&between(-0.7, 0.1))), Verdict::Undecided);
        assert_eq!(judge(&zero, Some(&between(0.1, 3.0)), Some(&less)), Verdict::Undecided);
        assert_eq!(judge(&zero, Some(&zero), Some(&zero)), Verdict::NoDifference);
    }

    #[test]
    fn at_the_break_even_speedup_all_work_is_the_same() {
        let of = |before, after| Done { before, after };
        // The victim gains 5 of 100; at a speed-up of 1 the culprit does 20 of 20.
        let speedup = break_even(&[of(100.0, 105.0), of(20.0, 20.0)], 1, 1.0).unwrap();
        assert!((speedup - 20.0 / 15.0).abs() < 1e-9);
        assert_eq!(break_even(&[of(100.0, 125.0), of(20.0, 20.0)], 1, 1.0), None);
    }

    #[test]
    fn a_change_over_seeds_needs_work_in_each_and_six_of_them() {
        let seed = |after| Done { before: 100.0, after };
        let found = change_pct([101.0, 102.0, 103.0, 104.0, 105.0, 106.0].map(seed).into_iter());
        let found = found.unwrap();
        assert!((found.value - 3.5).abs() < 1e-9, "{found:?}");
        assert!((found.low - 1.0).abs() < 1e-9 && (found.high - 6.0).abs() < 1e-9);
        assert_eq!(change_pct([seed(1.0), seed(1.0)].into_iter()), None);
        let idle = Done::default();
        assert_eq!(change_pct(vec![idle; 8].into_iter()), None);
    }
}
