//! Means over mixes, and of differences mix by mix.

use serde::Serialize;

use super::figures::{Mix, MixRun, Program};
use crate::attribution::Attribution;
use crate::format::tenths;
use crate::statistics::{ci95_half_width, mean};

/// Fewer wake-ups than this have no 99th percentile of their own.
const WAKES_MIN: u64 = 100;
/// About what a wake-up itself takes, which the model does not have: a shorter latency counts as
/// this, so that none is a thousand times another.
const WAKE_US: f64 = 5.0;

/// A scheduler with a background over all mixes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) scheduler: String,
    pub(crate) sensors: String,
    pub(crate) background: String,
    /// Mixes.
    pub(crate) mixes: usize,
    /// Simulated runs that the time limit ended.
    pub(crate) unfinished: usize,
    /// |x|, a mean over the programs of a mix, then over mixes.
    pub(crate) isolation_slowdown_pct: Mean,
    /// Its median over mixes: a few mixes whose programs hardly wait for a CPU make up most of
    /// the mean of a scheduler that compensates.
    pub(crate) isolation_slowdown_median_pct: f64,
    /// Its mean with speed-ups as 0.
    pub(crate) slowdown_only_pct: Mean,
    /// x.
    pub(crate) signed_slowdown_pct: Mean,
    /// The program with the largest |x|.
    pub(crate) worst: Option<Worst>,
    /// Rate of work of the culprits over theirs beside the control.
    pub(crate) culprit_rate_pct: Option<Mean>,
    /// Throughput of the whole machine; 100 is the first scheduler beside the control.
    pub(crate) throughput_pct: Mean,
    /// Share of the attributed time of all mixes that the billed task had caused.
    pub(crate) attribution_right_pct: Option<f64>,
    /// Share of the time lost to other applications that was attributed rightly.
    pub(crate) attribution_found_pct: Option<f64>,
    /// Wake-up latency at the 99th percentile over that of the first scheduler: geometric mean over
    /// the mixes with at least 100 wake-ups under both.
    pub(crate) wake_p99_over_first: Option<f64>,
    /// How many mixes these are.
    pub(crate) wake_mixes: usize,
    /// Share of busy core time at each license level.
    pub(crate) level_share_pct: Vec<f64>,
    /// Less the first scheduler in the same mix, in percentage points; `None` for that itself.
    pub(crate) less_first: Option<LessFirst>,
}

/// A mean over mixes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    /// Half the 95 % confidence interval over mixes. Of one mix: of its slowdown over its seeds, of
    /// a slowdown's difference over its programs; else `None`.
    pub(crate) ci95_half_width: Option<f64>,
}

/// The program that is off most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Worst {
    /// Its mix.
    pub(crate) seed: u64,
    pub(crate) program: String,
    pub(crate) slowdown_pct: f64,
}

/// Mean differences to the first scheduler, mix by mix.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LessFirst {
    pub(crate) isolation_slowdown_pct: Mean,
    pub(crate) slowdown_only_pct: Mean,
    pub(crate) culprit_rate_pct: Option<Mean>,
    pub(crate) throughput_pct: Mean,
    /// Mixes in which |x| is smaller than the first scheduler's.
    pub(crate) mixes_less_slowed: usize,
}

/// A mix's seed, a scheduler's figures in it, and the first scheduler's.
type Paired<'a> = (u64, &'a MixRun, &'a MixRun);

/// Summaries in the order in which the runs of a mix stand; the scheduler `first` is what others
/// are compared with, with its first sensor set.
pub(crate) fn summaries(mixes: &[Mix], first: &str) -> Vec<Summary> {
    let runs = mixes.first().map_or(&[][..], |mix| &mix.runs);
    runs.iter().map(|like| summarize(like, &paired(mixes, like, first))).collect()
}

/// The scheduler that ran first.
pub(crate) fn first_scheduler(mixes: &[Mix]) -> &str {
    let run = mixes.first().and_then(|mix| mix.runs.first());
    run.map_or("", |run| &run.scheduler)
}

/// The runs of all mixes that are like one of the first mix.
fn paired<'a>(mixes: &'a [Mix], like: &MixRun, first: &str) -> Vec<Paired<'a>> {
    let pair = |mix: &'a Mix| {
        let beside = |run: &&MixRun| run.background == like.background;
        let first = mix.runs.iter().filter(beside).find(|run| run.scheduler == first)?;
        let same = |run: &&MixRun| run.scheduler == like.scheduler && run.sensors == like.sensors;
        Some((mix.seed, mix.runs.iter().filter(beside).find(same)?, first))
    };
    mixes.iter().filter_map(pair).collect()
}

fn summarize(like: &MixRun, pairs: &[Paired]) -> Summary {
    let each = |of: fn(&MixRun) -> f64| {
        Mean::of(&pairs.iter().map(|(_, run, _)| of(run)).collect::<Vec<_>>())
    };
    let attributions = pairs.iter().map(|(_, run, _)| &run.attribution);
    let attribution = attributions.fold(Attribution::default(), Attribution::with);
    let culprits: Vec<f64> = pairs.iter().filter_map(|(_, run, _)| run.culprit_rate_pct).collect();
    let slowdowns: Vec<f64> = pairs.iter().map(|(_, run, _)| run.isolation_slowdown_pct).collect();
    let is_first = pairs.iter().all(|(_, run, first)| std::ptr::eq(*run, *first));
    let wakes = wake_ratios(pairs);
    Summary {
        scheduler: like.scheduler.clone(),
        sensors: like.sensors.clone(),
        background: like.background.clone(),
        mixes: pairs.len(),
        unfinished: pairs.iter().map(|(_, run, _)| run.unfinished).sum(),
        isolation_slowdown_pct: match pairs {
            [(_, run, _)] => {
                Mean { mean: run.isolation_slowdown_pct, ci95_half_width: run.ci95_half_width_pct }
            }
            _ => Mean::of(&slowdowns),
        },
        isolation_slowdown_median_pct: silicon::median(&slowdowns),
        slowdown_only_pct: each(|run| run.slowdown_only_pct),
        signed_slowdown_pct: each(|run| run.signed_slowdown_pct),
        worst: worst(pairs),
        culprit_rate_pct: Mean::of_some(&culprits),
        throughput_pct: each(|run| run.throughput_pct),
        attribution_right_pct: attribution.right_pct(),
        attribution_found_pct: attribution.found_pct(),
        wake_p99_over_first: (!wakes.is_empty()).then(|| geometric_mean(&wakes)),
        wake_mixes: wakes.len(),
        level_share_pct: level_shares(pairs),
        less_first: (!is_first).then(|| less_first(pairs)),
    }
}

impl Mean {
    fn of(values: &[f64]) -> Self {
        Self { mean: mean(values), ci95_half_width: ci95_half_width(values) }
    }

    /// The mean with its interval.
    pub(crate) fn words(&self) -> String {
        match self.ci95_half_width {
            Some(half) => format!("{} ±{half:.1}", tenths(self.mean)),
            None => tenths(self.mean),
        }
    }

    fn of_some(values: &[f64]) -> Option<Self> {
        (!values.is_empty()).then(|| Self::of(values))
    }
}

fn less_first(pairs: &[Paired]) -> LessFirst {
    let each = |of: fn(&MixRun) -> f64| {
        Mean::of(&pairs.iter().map(|(_, run, first)| of(run) - of(first)).collect::<Vec<_>>())
    };
    let culprits = |(_, run, first): &Paired| Some(run.culprit_rate_pct? - first.culprit_rate_pct?);
    let culprits: Vec<f64> = pairs.iter().filter_map(culprits).collect();
    let is_less =
        |(_, run, first): &&Paired| run.isolation_slowdown_pct < first.isolation_slowdown_pct;
    let by_program = |of| Mean::of(&program_differences(pairs, of));
    LessFirst {
        isolation_slowdown_pct: match pairs {
            [_] => by_program(f64::abs),
            _ => each(|run| run.isolation_slowdown_pct),
        },
        slowdown_only_pct: match pairs {
            [_] => by_program(|x| x.max(0.0)),
            _ => each(|run| run.slowdown_only_pct),
        },
        culprit_rate_pct: Mean::of_some(&culprits),
        throughput_pct: each(|run| run.throughput_pct),
        mixes_less_slowed: pairs.iter().filter(is_less).count(),
    }
}

/// Differences of programs from their figures under the first scheduler.
fn program_differences(pairs: &[Paired], of: fn(f64) -> f64) -> Vec<f64> {
    let programs = |(_, run, first): &Paired| -> Vec<f64> {
        let same = |ours: &Program| first.programs.iter().find(|other| other.name == ours.name);
        let both = run.programs.iter().filter_map(|ours| Some((ours, same(ours)?)));
        both.map(|(ours, theirs)| of(ours.slowdown_pct) - of(theirs.slowdown_pct)).collect()
    };
    pairs.iter().flat_map(programs).collect()
}

fn worst(pairs: &[Paired]) -> Option<Worst> {
    let worst = pairs.iter().filter_map(|(seed, run, _)| Some((*seed, run.worst()?)));
    let (seed, program) = worst.max_by(|(_, a), (_, b)| a.off_pct().total_cmp(&b.off_pct()))?;
    Some(Worst { seed, program: program.name.clone(), slowdown_pct: program.slowdown_pct })
}

fn wake_ratios(pairs: &[Paired]) -> Vec<f64> {
    let is_known = |run: &MixRun| run.wake_count >= WAKES_MIN;
    let p99_us = |run: &MixRun| run.wake_p99_us.max(WAKE_US);
    let known = pairs.iter().filter(|(_, run, first)| is_known(run) && is_known(first));
    known.map(|(_, run, first)| p99_us(run) / p99_us(first)).collect()
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    mean(&ratios.iter().map(|ratio| ratio.ln()).collect::<Vec<_>>()).exp()
}

/// Mean over mixes of each level's share; a level that a mix never has is 0 there.
fn level_shares(pairs: &[Paired]) -> Vec<f64> {
    let levels = pairs.iter().map(|(_, run, _)| run.level_share_pct.len()).max().unwrap_or(0);
    let share = |level: usize| {
        let of = |(_, run, _): &Paired| run.level_share_pct.get(level).copied().unwrap_or(0.0);
        mean(&pairs.iter().map(of).collect::<Vec<_>>())
    };
    (0..levels).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, run};
    use super::*;

    fn mix(seed: u64, first: f64, second: f64) -> Mix {
        testing::mix(seed, vec![run("fair", first), run("even", second)])
    }

    #[test]
    fn paired_differences_have_a_narrower_interval_than_differences_of_means() {
        let mixes = [mix(1, 5.0, 4.0), mix(2, 25.0, 24.1), mix(3, 60.0, 58.9)];
        let [fair, even] = &summaries(&mixes, "fair")[..] else { panic!("two schedulers") };
        assert!(fair.less_first.is_none());
        let less = even.less_first.as_ref().unwrap();
        assert!((less.isolation_slowdown_pct.mean + 1.0).abs() < 1e-9);
        let paired = less.isolation_slowdown_pct.ci95_half_width.unwrap();
        assert!(paired < 0.3, "{paired}");
        assert!(even.isolation_slowdown_pct.ci95_half_width.unwrap() > 10.0);
        assert_eq!(less.mixes_less_slowed, 3);
        assert!((even.isolation_slowdown_median_pct - 24.1).abs() < 1e-9);
        let two = &summaries(&mixes[..2], "fair")[0];
        assert!((two.isolation_slowdown_median_pct - 15.0).abs() < 1e-9);
    }

    #[test]
    fn one_mix_has_the_interval_of_its_seeds_and_differences_by_program() {
        let mut one = mix(0, 20.0, 3.0);
        let program = |name: &str, slowdown_pct| Program { name: name.into(), slowdown_pct };
        one.runs[0].programs.push(program("steps-2", 24.0));
        one.runs[1].programs.push(program("steps-2", -5.0));
        let even = &summaries(&[one], "fair")[1];
        assert_eq!(even.isolation_slowdown_pct, Mean { mean: 3.0, ci95_half_width: Some(0.5) });
        let less = even.less_first.as_ref().unwrap();
        assert!((less.isolation_slowdown_pct.mean + 18.0).abs() < 1e-9);
        assert!((less.slowdown_only_pct.mean + 20.5).abs() < 1e-9);
        assert!(less.isolation_slowdown_pct.ci95_half_width.is_some());
    }

    #[test]
    fn a_speed_up_is_the_worst_where_it_is_largest_and_no_slowdown() {
        let summary = &summaries(&[mix(7, 3.0, 2.0), mix(8, -9.0, 1.0)], "fair")[0];
        let worst = summary.worst.as_ref().unwrap();
        assert_eq!((worst.seed, worst.slowdown_pct), (8, -9.0));
        assert!((summary.isolation_slowdown_pct.mean - 6.0).abs() < 1e-9);
        assert!((summary.slowdown_only_pct.mean - 1.5).abs() < 1e-9);
        assert!((summary.signed_slowdown_pct.mean + 3.0).abs() < 1e-9);
    }

    #[test]
    fn latencies_are_compared_by_ratio_and_only_where_there_are_enough() {
        let mut mixes = [mix(1, 0.0, 0.0), mix(2, 0.0, 0.0), mix(3, 0.0, 0.0)];
        mixes[0].runs[1].wake_p99_us = 400.0;
        mixes[1].runs[1].wake_p99_us = 25.0;
        mixes[2].runs[1].wake_p99_us = 1e6;
        mixes[2].runs[0].wake_count = WAKES_MIN - 1;
        let even = &summaries(&mixes, "fair")[1];
        assert_eq!(even.wake_mixes, 2);
        assert!((even.wake_p99_over_first.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_level_that_a_mix_never_has_counts_as_none() {
        let mut mixes = [mix(1, 0.0, 0.0), mix(2, 0.0, 0.0)];
        mixes[1].runs[0].level_share_pct = vec![40.0, 60.0];
        assert_eq!(summaries(&mixes, "fair")[0].level_share_pct, [70.0, 30.0]);
    }
}
