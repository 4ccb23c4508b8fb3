//! Goals of a scheduler, and the verdict on each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::mixes::Summary;

/// Bounds on figures of the judged scheduler; the keys are backgrounds.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Goals {
    /// Mean |slowdown|.
    pub slowdown_max_pct: BTreeMap<String, f64>,
    /// The same with speed-ups as 0.
    pub slower_max_pct: BTreeMap<String, f64>,
    /// |slowdown| of the program that is off most.
    pub program_max_pct: BTreeMap<String, f64>,
    /// Of the time lost that was attributed, how much rightly.
    pub right_min_pct: BTreeMap<String, f64>,
    /// Of all time lost, how much was attributed rightly.
    pub found_min_pct: BTreeMap<String, f64>,
    /// Wake-up latency at the 99th percentile over that of the first scheduler.
    pub wake_p99_max: BTreeMap<String, f64>,
    /// The rate of work of culprits is at least that under this scheduler.
    pub culprits_at_least_of: Option<String>,
    /// Throughput is at least that under this scheduler.
    pub throughput_at_least_of: Option<String>,
}

/// A goal with the value found and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Judged {
    pub(crate) background: String,
    /// Name of the figure.
    pub(crate) figure: &'static str,
    /// `None`: no such event occurred, as when no loss was attributed or no task woke.
    pub(crate) found: Option<f64>,
    pub(crate) bound: f64,
    /// Whether the bound is a lower one.
    pub(crate) at_least: bool,
    /// Whether the goal bounds the losses of programs; variants are judged by these goals alone.
    #[serde(skip)]
    pub(crate) is_loss: bool,
    /// The scheduler whose figure the bound is.
    pub(crate) of: Option<String>,
}

/// A bound, and the function that computes its figure from a summary.
struct Bound<'a> {
    figure: &'static str,
    bounds: &'a BTreeMap<String, f64>,
    at_least: bool,
    is_loss: bool,
    of: fn(&Summary) -> Option<f64>,
}

impl Goals {
    /// Backgrounds that a goal names.
    pub fn backgrounds(&self) -> impl Iterator<Item = &str> {
        self.bounds().into_iter().flat_map(|bound| bound.bounds.keys().map(String::as_str))
    }

    /// Schedulers that a goal names.
    pub fn schedulers(&self) -> impl Iterator<Item = &str> {
        [&self.culprits_at_least_of, &self.throughput_at_least_of]
            .into_iter()
            .filter_map(Option::as_deref)
    }

    fn bounds(&self) -> [Bound<'_>; 6] {
        let bound =
            |figure, bounds, at_least, is_loss, of| Bound { figure, bounds, at_least, is_loss, of };
        [
            bound("slowdown, %", &self.slowdown_max_pct, false, true, |one| {
                Some(one.isolation_slowdown_pct.mean)
            }),
            bound("slower, %", &self.slower_max_pct, false, true, |one| {
                Some(one.slowdown_only_pct.mean)
            }),
            bound("worst program, %", &self.program_max_pct, false, true, |one| {
                one.worst.as_ref().map(|worst| worst.slowdown_pct.abs())
            }),
            bound("attributed rightly, %", &self.right_min_pct, true, false, |one| {
                one.attribution_right_pct
            }),
            bound("of losses attributed, %", &self.found_min_pct, true, false, |one| {
                one.attribution_found_pct
            }),
            bound("wake-ups at p99, ratio", &self.wake_p99_max, false, false, |one| {
                one.wake_p99_over_first
            }),
        ]
    }

    /// Judges the scheduler with its first sensor set. A variant has its `allowance`, and is
    /// judged by what is lost alone.
    pub(super) fn judge(
        &self,
        judged: &str,
        all: &[Summary],
        allowance: Option<f64>,
    ) -> Vec<Judged> {
        let mut goals = Vec::new();
        let sensors = all.first().map_or("", |one| one.sensors.as_str());
        let ours = |one: &&Summary| one.scheduler == judged && one.sensors == sensors;
        for one in all.iter().filter(ours) {
            for bound in self.bounds() {
                if allowance.is_some() && !bound.is_loss {
                    continue;
                }
                if let Some(limit) = bound.bounds.get(&one.background) {
                    goals.push(bound.judge(one, limit * allowance.unwrap_or(1.0)));
                }
            }
            if allowance.is_none() {
                goals.extend(self.beside(one, all));
            }
        }
        goals
    }

    /// Goals that are another scheduler's figures.
    fn beside(&self, one: &Summary, all: &[Summary]) -> Vec<Judged> {
        let other = |name: &Option<String>| {
            let name = name.as_ref()?;
            let same =
                |other: &&Summary| other.scheduler == *name && other.background == one.background;
            all.iter().find(same)
        };
        let judged = |of: &Summary, figure, found, bound| Judged {
            of: Some(of.scheduler.clone()),
            ..Judged::new(one, figure, found, bound, true)
        };
        let culprits = other(&self.culprits_at_least_of).and_then(|other| {
            let rate = |one: &Summary| Some(one.culprit_rate_pct?.mean);
            Some(judged(other, "culprits' rate of work, %", rate(one), rate(other)?))
        });
        let throughput = other(&self.throughput_at_least_of).map(|other| {
            let found = Some(one.throughput_pct.mean);
            judged(other, "throughput, %", found, other.throughput_pct.mean)
        });
        [culprits, throughput].into_iter().flatten().collect()
    }

    /// Refuses a bound that is negative or not finite.
    ///
    /// # Errors
    /// Names the first value that is negative or not finite.
    pub fn check(&self) -> Result<(), BadGoal> {
        let mut all = self.bounds().into_iter().flat_map(|bound| {
            bound.bounds.iter().map(move |(background, &value)| (bound.figure, background, value))
        });
        match all.find(|(_, _, value)| !value.is_finite() || *value < 0.0) {
            None => Ok(()),
            Some((figure, background, value)) => {
                Err(BadGoal { figure, background: background.clone(), value })
            }
        }
    }
}

/// A goal that no figure can have.
#[derive(Debug, thiserror::Error)]
#[error("{figure} beside {background:?}: {value} is not a number from 0 on")]
pub struct BadGoal {
    figure: &'static str,
    background: String,
    value: f64,
}

impl Bound<'_> {
    fn judge(&self, one: &Summary, bound: f64) -> Judged {
        let judged = Judged::new(one, self.figure, (self.of)(one), bound, self.at_least);
        Judged { is_loss: self.is_loss, ..judged }
    }
}

impl Judged {
    fn new(
        one: &Summary,
        figure: &'static str,
        found: Option<f64>,
        bound: f64,
        at_least: bool,
    ) -> Self {
        let background = one.background.clone();
        Self { background, figure, found, bound, at_least, is_loss: false, of: None }
    }

    /// A goal without a value is not reached.
    pub(crate) fn holds(&self) -> bool {
        let is_within =
            |found: f64| if self.at_least { found >= self.bound } else { found <= self.bound };
        self.found.is_some_and(is_within)
    }

    /// The value found, in words.
    pub(crate) fn found_words(&self) -> String {
        self.found.map_or_else(|| "unknown".to_owned(), |found| self.number(found))
    }

    /// The bound in words.
    pub(crate) fn bound_words(&self) -> String {
        let sign = if self.at_least { "≥" } else { "≤" };
        let of = self.of.as_ref().map_or_else(String::new, |of| format!(" ({of})"));
        format!("{sign} {}{of}", self.number(self.bound))
    }

    /// As many digits as distinguish the value from the bound.
    fn number(&self, value: f64) -> String {
        let least = if self.figure.ends_with("ratio") { 2 } else { 1 };
        let differ = |digits: &usize| {
            let shown = |value: f64| format!("{value:.digits$}");
            self.found.is_none_or(|found| found == self.bound || shown(found) != shown(self.bound))
        };
        let digits = (least..5).find(differ).unwrap_or(5);
        format!("{value:.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixes::summaries;
    use crate::mixes::testing::{mix, run};

    fn by_background(value: f64) -> BTreeMap<String, f64> {
        [("avx512".to_owned(), value)].into()
    }

    fn judge(goals: &Goals, allowance: Option<f64>) -> Vec<bool> {
        let mut fair = run("fair", 9.0);
        fair.throughput_pct = 90.0;
        let mixes = [mix(1, vec![fair, run("even", 3.0)])];
        let judged = goals.judge("even", &summaries(&mixes, "fair"), allowance);
        judged.iter().map(Judged::holds).collect()
    }

    #[test]
    fn a_goal_holds_up_to_its_bound_and_variants_have_a_wider_one() {
        let goal = |bound| Goals { slowdown_max_pct: by_background(bound), ..Goals::default() };
        assert_eq!(judge(&goal(3.0), None), [true]);
        assert_eq!(judge(&goal(2.9), None), [false]);
        assert_eq!(judge(&goal(2.0), Some(1.5)), [true]);
        let elsewhere = [("avx2".to_owned(), 1.0)].into();
        let elsewhere = Goals { slowdown_max_pct: elsewhere, ..Goals::default() };
        assert!(judge(&elsewhere, None).is_empty());
    }

    #[test]
    fn a_goal_without_a_value_is_not_reached() {
        let nothing_attributed = Goals { right_min_pct: by_background(0.0), ..Goals::default() };
        assert_eq!(judge(&nothing_attributed, None), [false]);
        let negative = Goals { slower_max_pct: by_background(-1.0), ..Goals::default() };
        assert!(negative.check().is_err() && nothing_attributed.check().is_ok());
    }

    #[test]
    fn a_missed_goal_never_reads_as_if_it_were_reached() {
        let mixes = [mix(1, vec![run("fair", 9.0), run("even", 2.53)])];
        let goals = Goals { slowdown_max_pct: by_background(2.5), ..Goals::default() };
        let judged = &goals.judge("even", &summaries(&mixes, "fair"), None)[0];
        assert_eq!((judged.found_words(), judged.bound_words()), ("2.53".into(), "≤ 2.50".into()));
    }

    #[test]
    fn goals_beside_another_scheduler_are_of_the_work_as_it_is() {
        let than = |name: &str| Goals {
            throughput_at_least_of: Some(name.to_owned()),
            ..Goals::default()
        };
        assert_eq!(judge(&than("fair"), None), [true]);
        assert!(judge(&than("fair"), Some(2.0)).is_empty());
        assert!(judge(&than("cfs"), None).is_empty());
        let wakes = Goals { wake_p99_max: by_background(0.9), ..Goals::default() };
        assert_eq!(judge(&wakes, None), [false]);
        assert!(judge(&wakes, Some(2.0)).is_empty());
    }
}
