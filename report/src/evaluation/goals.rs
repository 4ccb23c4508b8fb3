//! What a scheduler is to reach, and whether it does.

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
    /// The rate of work of culprits is at least what it is under this scheduler.
    pub culprits_at_least_of: Option<String>,
    /// Throughput is at least what it is under this scheduler.
    pub throughput_at_least_of: Option<String>,
}

/// A goal and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Judged {
    pub(crate) background: String,
    /// Name of the figure.
    pub(crate) figure: &'static str,
    pub(crate) found: f64,
    pub(crate) bound: f64,
    /// Whether the bound is a lower one.
    pub(crate) at_least: bool,
    /// Whether it is about what programs lose; a variant is judged by nothing else.
    #[serde(skip)]
    pub(crate) is_loss: bool,
    /// The scheduler whose figure the bound is.
    pub(crate) of: Option<String>,
    pub(crate) holds: bool,
}

/// Whether the goals of a figure hold, for a table's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Reached,
    Missed,
    NoGoal,
}

/// A bound, and how it is found in a summary.
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
                let limit = bound.bounds.get(&one.background);
                if let (Some(limit), Some(found)) = (limit, (bound.of)(one)) {
                    let limit = limit * allowance.unwrap_or(1.0);
                    goals.push(bound.judge(one, found, limit));
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
            background: one.background.clone(),
            figure,
            found,
            bound,
            at_least: true,
            is_loss: false,
            of: Some(of.scheduler.clone()),
            holds: found >= bound,
        };
        let culprits = other(&self.culprits_at_least_of).and_then(|other| {
            let (ours, theirs) = (one.culprit_rate_pct?.mean, other.culprit_rate_pct?.mean);
            Some(judged(other, "culprits' rate of work, %", ours, theirs))
        });
        let throughput = other(&self.throughput_at_least_of).map(|other| {
            judged(other, "throughput, %", one.throughput_pct.mean, other.throughput_pct.mean)
        });
        [culprits, throughput].into_iter().flatten().collect()
    }
}

impl Bound<'_> {
    fn judge(&self, one: &Summary, found: f64, bound: f64) -> Judged {
        Judged {
            background: one.background.clone(),
            figure: self.figure,
            found,
            bound,
            at_least: self.at_least,
            is_loss: self.is_loss,
            of: None,
            holds: if self.at_least { found >= bound } else { found <= bound },
        }
    }
}

impl Judged {
    /// The bound in words.
    pub(crate) fn bound_words(&self) -> String {
        let sign = if self.at_least { "≥" } else { "≤" };
        let of = self.of.as_ref().map_or_else(String::new, |of| format!(" ({of})"));
        format!("{sign} {}{of}", self.number(self.bound))
    }

    /// A number of this figure, as precise as it is.
    pub(crate) fn number(&self, value: f64) -> String {
        if self.figure.ends_with("ratio") {
            format!("{value:.2}")
        } else {
            crate::words::tenths(value)
        }
    }
}

impl Outcome {
    pub(crate) fn of<'a>(goals: impl Iterator<Item = &'a Judged>) -> Self {
        goals.fold(Self::NoGoal, |so_far, goal| match (so_far, goal.holds) {
            (Self::Missed, _) | (_, false) => Self::Missed,
            _ => Self::Reached,
        })
    }

    pub(crate) fn hit(self) -> Option<bool> {
        match self {
            Self::Reached => Some(true),
            Self::Missed => Some(false),
            Self::NoGoal => None,
        }
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
        let judged = goals.judge("even", &summaries(&mixes), allowance);
        judged.iter().map(|goal| goal.holds).collect()
    }

    #[test]
    fn a_goal_holds_up_to_its_bound_and_a_variants_is_wider() {
        let goal = |bound| Goals { slowdown_max_pct: by_background(bound), ..Goals::default() };
        assert_eq!(judge(&goal(3.0), None), [true]);
        assert_eq!(judge(&goal(2.9), None), [false]);
        assert_eq!(judge(&goal(2.0), Some(1.5)), [true]);
        let elsewhere = [("avx2".to_owned(), 1.0)].into();
        let elsewhere = Goals { slowdown_max_pct: elsewhere, ..Goals::default() };
        assert!(judge(&elsewhere, None).is_empty());
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
