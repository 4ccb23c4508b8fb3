//! What did wide code gain its program, what did it cost the neighbours, where is the break-even?
//!
//! The same work runs with wide code and with narrow code in turn, on the same machine. Gain and
//! cost are both CPU seconds of one run, so one can be subtracted from the other.

use serde::Serialize;

use super::EstimateReport;

/// Which code a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Wide,
    Narrow,
}

/// The order of `runs` runs of each: A B B A A B, so that a drift of the machine favours neither.
pub fn order(runs: u32) -> Vec<Code> {
    let pair = |index| match index % 2 {
        0 => [Code::Wide, Code::Narrow],
        _ => [Code::Narrow, Code::Wide],
    };
    (0..runs).flat_map(pair).collect()
}

/// One run of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// From the command's start to its end.
    pub time_s: f64,
    /// CPU time of the command and its descendants.
    pub cpu_time_s: f64,
    /// CPU time of the other programs.
    pub others_cpu_time_s: f64,
    /// What the other programs lost to the command by the clock; `None`: not estimated.
    pub cost_s: Option<f64>,
}

/// A measure of both, and its ratio.
#[derive(Serialize, Clone, Copy)]
pub struct Both {
    /// Mean of the runs with wide code.
    pub wide_s: f64,
    /// Mean of the runs with narrow code.
    pub narrow_s: f64,
    /// Narrow over wide: geometric mean over pairs.
    pub ratio: EstimateReport,
}

/// Does wide code pay?
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The gain exceeds the cost.
    Pays,
    /// The cost exceeds the gain.
    CostsMore,
    /// A gain, and chance explains the difference of gain and cost.
    Undecided,
    /// A gain, and nothing tells the cost.
    CostNotKnown,
    /// The interval of the ratio of CPU times includes 1.
    NoGainShown,
    /// Wide code takes its program more CPU time.
    Slower,
}

/// The comparison. Seconds are CPU time of one run; intervals are of 95 %.
#[derive(Serialize)]
pub struct Gain {
    /// Pairs of runs.
    pub runs: usize,
    pub time: Both,
    pub cpu_time: Both,
    /// CPU time of the other programs. How much work they did in it is not known.
    pub others_cpu_time_wide_s: f64,
    pub others_cpu_time_narrow_s: f64,
    /// What the other programs lost by the clock beside wide code, and beside narrow code.
    pub others_lost_wide_s: Option<f64>,
    pub others_lost_narrow_s: Option<f64>,
    /// CPU time that wide code saves its program.
    pub gain_s: EstimateReport,
    /// What the other programs lose more beside wide code than beside narrow code.
    pub cost_s: Option<EstimateReport>,
    pub verdict: Verdict,
    /// Ratio of CPU times at which the gain would be the cost, with these neighbours.
    pub break_even_ratio: Option<f64>,
    /// How many times as much CPU time of the other programs would make the cost the gain.
    pub neighbours_factor: Option<f64>,
}

/// The comparison, or why there is none.
#[derive(Serialize)]
pub struct Compared {
    /// The command of --narrow.
    pub narrow: String,
    #[serde(flatten)]
    pub gain: Option<Gain>,
    /// Which run did not end as the others did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What the cost rests on.
    pub source: Source,
}

/// What the cost rests on.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The CPU leaves no lower clock to others.
    NoLevels,
    /// Counters of license levels.
    Counters,
    /// Registers and a CPU table.
    Table,
    /// Pauses of cores.
    Pauses,
    /// No run tells.
    NotKnown,
}

/// Compares pairs of runs, each the wide run and the narrow one; `None` for fewer than two pairs,
/// or where a run took no time.
pub fn compare(pairs: &[(Run, Run)]) -> Option<Gain> {
    let time = both(pairs, |run| run.time_s)?;
    let cpu_time = both(pairs, |run| run.cpu_time_s)?;
    let gains: Vec<f64> = pairs.iter().map(|(w, n)| n.cpu_time_s - w.cpu_time_s).collect();
    let costs: Option<Vec<f64>> = pairs.iter().map(|(w, n)| Some(w.cost_s? - n.cost_s?)).collect();
    let gain_s = estimate(&gains)?;
    let cost_s = costs.as_deref().and_then(estimate);
    let net_s = costs.and_then(|costs| {
        let nets: Vec<f64> = gains.iter().zip(costs).map(|(gain, cost)| gain - cost).collect();
        estimate(&nets)
    });
    let some_cost_s = cost_s.map(|it| it.value.max(0.0));
    let verdict = judge(&cpu_time.ratio, net_s.as_ref());
    let has_gain = !matches!(verdict, Verdict::NoGainShown | Verdict::Slower);
    let all = |of: fn(&Run) -> Option<f64>, code| {
        let values: Option<Vec<f64>> = pairs.iter().map(|pair| of(run_of(pair, code))).collect();
        values.map(|values| mean(&values))
    };
    let others = |code| all(|run| Some(run.others_cpu_time_s), code).unwrap_or_default();
    Some(Gain {
        runs: pairs.len(),
        time,
        cpu_time,
        others_cpu_time_wide_s: others(Code::Wide),
        others_cpu_time_narrow_s: others(Code::Narrow),
        others_lost_wide_s: all(|run| run.cost_s, Code::Wide),
        others_lost_narrow_s: all(|run| run.cost_s, Code::Narrow).filter(|_| cost_s.is_some()),
        gain_s,
        cost_s,
        verdict,
        break_even_ratio: some_cost_s.map(|cost_s| 1.0 + cost_s / cpu_time.wide_s),
        neighbours_factor: some_cost_s
            .filter(|&cost_s| has_gain && cost_s > 0.0)
            .map(|cost_s| gain_s.value / cost_s),
    })
}

fn run_of((wide, narrow): &(Run, Run), code: Code) -> &Run {
    match code {
        Code::Wide => wide,
        Code::Narrow => narrow,
    }
}

/// Judges the ratio of CPU times, and the gain less the cost.
fn judge(ratio: &EstimateReport, net_s: Option<&EstimateReport>) -> Verdict {
    if ratio.high < 1.0 {
        return Verdict::Slower;
    }
    if ratio.low <= 1.0 {
        return Verdict::NoGainShown;
    }
    match net_s {
        None => Verdict::CostNotKnown,
        Some(net_s) if net_s.low > 0.0 => Verdict::Pays,
        Some(net_s) if net_s.high < 0.0 => Verdict::CostsMore,
        Some(_) => Verdict::Undecided,
    }
}

/// Ratios multiply, so their logarithms are averaged: which run is the divisor makes no difference.
fn both(pairs: &[(Run, Run)], of: impl Fn(&Run) -> f64) -> Option<Both> {
    let (wide, narrow): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(w, n)| (of(w), of(n))).unzip();
    if wide.iter().chain(&narrow).any(|&it| it <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = wide.iter().zip(&narrow).map(|(w, n)| (n / w).ln()).collect();
    let EstimateReport { value, low, high } = estimate(&logs)?;
    let ratio = EstimateReport { value: value.exp(), low: low.exp(), high: high.exp() };
    Some(Both { wide_s: mean(&wide), narrow_s: mean(&narrow), ratio })
}

/// The mean, and its interval by Student's t; `None` for fewer than two values.
fn estimate(values: &[f64]) -> Option<EstimateReport> {
    let half = ::report::ci95_half_width(values)?;
    let value = mean(values);
    Some(EstimateReport { value, low: value - half, high: value + half })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(wide_s: f64, narrow_s: f64, cost_s: Option<f64>) -> (Run, Run) {
        let run = |cpu_time_s: f64, cost_s| Run {
            time_s: 2.0 * cpu_time_s,
            cpu_time_s,
            others_cpu_time_s: 8.0,
            cost_s,
        };
        (run(wide_s, cost_s), run(narrow_s, cost_s.map(|_| 0.0)))
    }

    fn three(wide_s: f64, narrow_s: f64, cost_s: Option<f64>) -> Gain {
        let all = [-0.01, 0.0, 0.01].map(|off| pair(wide_s + off, narrow_s - off, cost_s));
        compare(&all).unwrap()
    }

    #[test]
    fn runs_alternate_and_each_code_is_first_as_often() {
        use Code::{Narrow, Wide};
        assert_eq!(order(3), [Wide, Narrow, Narrow, Wide, Wide, Narrow]);
    }

    #[test]
    fn a_gain_beyond_its_cost_pays_up_to_some_more_neighbours() {
        let found = three(10.0, 12.0, Some(0.5));
        assert_eq!(found.verdict, Verdict::Pays);
        assert!((found.cpu_time.ratio.value - 1.2).abs() < 1e-3);
        assert!((found.gain_s.value - 2.0).abs() < 1e-9);
        assert!((found.break_even_ratio.unwrap() - 1.05).abs() < 1e-9);
        assert!((found.neighbours_factor.unwrap() - 4.0).abs() < 1e-9);
    }

    #[test]
    fn at_the_break_even_ratio_gain_and_cost_are_equal() {
        let ratio = three(10.0, 12.0, Some(0.5)).break_even_ratio.unwrap();
        let there = three(10.0, 10.0 * ratio, Some(0.5));
        assert!((there.gain_s.value - there.cost_s.unwrap().value).abs() < 1e-9);
        assert_eq!(there.verdict, Verdict::Undecided);
        assert!((there.neighbours_factor.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_cost_beyond_the_gain_is_told_and_so_is_one_that_is_not_known() {
        assert_eq!(three(10.0, 12.0, Some(3.0)).verdict, Verdict::CostsMore);
        let unknown = three(10.0, 12.0, None);
        assert_eq!(unknown.verdict, Verdict::CostNotKnown);
        assert!(unknown.break_even_ratio.is_none() && unknown.cost_s.is_none());
    }

    #[test]
    fn no_gain_is_shown_where_the_interval_includes_one() {
        let found = three(10.0, 10.0, Some(0.0));
        assert_eq!((found.verdict, found.neighbours_factor), (Verdict::NoGainShown, None));
        assert_eq!(three(12.0, 10.0, Some(0.0)).verdict, Verdict::Slower);
    }

    #[test]
    fn without_cost_no_amount_of_neighbours_outweighs_the_gain() {
        let found = three(10.0, 12.0, Some(0.0));
        assert_eq!((found.verdict, found.neighbours_factor), (Verdict::Pays, None));
        assert_eq!(found.break_even_ratio, Some(1.0));
    }

    #[test]
    fn one_pair_has_no_interval_and_a_run_without_time_no_ratio() {
        assert!(compare(&[pair(10.0, 12.0, None)]).is_none());
        assert!(compare(&[pair(0.0, 12.0, None), pair(1.0, 2.0, None)]).is_none());
    }
}
