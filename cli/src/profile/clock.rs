//! The answer of clocks that pauses or counters measured on this machine, or that have no levels.

use profiler::Tally;

use super::{EstimateReport, Estimator, Report, VictimReport};

/// Fewer pauses in all leave the question open: our choice.
const PAUSES_MIN: u64 = 50;
/// A program that needs less than so much longer, in percent, has nothing to gain: a license level
/// of 4 % that is in force for an eighth of the time costs as much.
const LONGER_MIN_PCT: f64 = 0.5;
/// All programs together have nothing to gain if the upper bound of their overhead is below this.
const BOUND_PCT: f64 = 1.0;
/// Fewer pauses of a program do not show a loss that is none by chance.
const OF_PROGRAM_MIN: usize = 20;
/// Programs that some pause met have at least this share of the CPU time, or the question is open.
const MET_MIN: f64 = 0.9;

/// Whether no program of this machine loses time to the clock of others; `None`: the pauses do not
/// tell. `all` is the overhead of all programs, in percent.
pub fn nothing_to_gain(
    victims: &[VictimReport],
    all: &EstimateReport,
    samples: &Tally,
) -> Option<bool> {
    let has_lost = |it: &VictimReport| {
        it.samples >= OF_PROGRAM_MIN && it.basis == "measured" && is_shown(&it.overhead_pct)
    };
    if samples.taken < PAUSES_MIN {
        return None;
    }
    if is_shown(all) || victims.iter().any(has_lost) {
        return Some(false);
    }
    let all_s: f64 = victims.iter().map(|it| it.cpu_time_s).sum();
    let met = victims.iter().filter(|it| it.samples > 0);
    let met_s: f64 = met.map(|it| it.cpu_time_s).sum();
    // A program whose demands are not known counts with the most that it can have lost.
    (all.high < BOUND_PCT && met_s >= MET_MIN * all_s).then_some(true)
}

/// Whether an overhead is none by chance, and large enough to matter.
fn is_shown(it: &EstimateReport) -> bool {
    it.value >= LONGER_MIN_PCT && it.low > 0.0
}

/// As [`nothing_to_gain`], where counters at switches tell the levels of all CPU time.
pub fn nothing_counted(victims: &[VictimReport], all: &EstimateReport) -> Option<bool> {
    if is_shown(all) || victims.iter().any(|it| is_shown(&it.overhead_pct)) {
        return Some(false);
    }
    (all.high < BOUND_PCT).then_some(true)
}

/// How the clock was measured.
pub fn estimator(report: &Report, samples: &Tally) -> String {
    let without = samples.switched + samples.held;
    let all = samples.taken + without + samples.idle + samples.after_idle;
    format!(
        "Clock: measured in {all} pauses of a core, {:.0} a second: {} of a program, {} of a CPU \
         that was idle or had just been, and {without} without a result. Losses of clock are upper \
         bounds: without counters nothing tells how much of its CPU time a program stalls for \
         memory",
        all as f64 / report.length_s.max(1e-9),
        samples.taken,
        samples.idle + samples.after_idle,
    )
}

/// The answer of a measurement, where no program lost time or nothing can be said, and of cores
/// without levels.
pub fn answer(report: &Report) -> Option<String> {
    if report.estimator == Estimator::NoLevels {
        let none = "Nothing to gain: AMD's cores have no license levels, so that wide code of one \
                    program does not lower the clock of another.";
        return Some(none.to_owned());
    }
    let is_measured = matches!(report.estimator, Estimator::Clock | Estimator::Counters);
    if !is_measured || report.scheduler.is_some() {
        return None;
    }
    let (taken, remedy) = match &report.samples {
        Some(samples) => (Some(samples.taken), "Profile for longer, or raise --rate"),
        None => (None, "Profile for longer"),
    };
    // Rounded first, as what rounds to -0 would be printed so.
    let shown = |pct: f64| (pct * 100.0).round() / 100.0 + 0.0;
    let EstimateReport { value, low, high } = report.overhead_pct;
    let (value, low, high) = (shown(value), shown(low), shown(high));
    match report.nothing_to_gain {
        None if taken.is_some_and(|taken| taken < PAUSES_MIN) => Some(format!(
            "Cannot say: too few pauses met a program, {} of {PAUSES_MIN}. {remedy}.",
            taken.unwrap_or_default()
        )),
        None => Some(format!(
            "Cannot say: the clock of others made all programs together {low:.2} to {high:.2} % \
             slower (95 %; measured: {value:.2} %), which may be something or nothing. {remedy}."
        )),
        Some(true) => Some(format!(
            "Nothing to gain: the clock of others made all programs together at most {high:.2} % \
             slower (95 %; measured: {value:.2} %), and each program's loss can be chance."
        )),
        Some(false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn victim(samples: usize, value: f64, low: f64) -> VictimReport {
        let overhead_pct = EstimateReport { value, low, high: value + 1.0 };
        VictimReport {
            name: "program".to_owned(),
            labels: Default::default(),
            cpu_time_s: 1.0,
            waited_s: 0.0,
            samples,
            basis: "measured",
            demands: None,
            overhead_pct,
            lost_s: overhead_pct,
            true_overhead_pct: None,
            unprofiled_overhead_pct: None,
        }
    }

    fn all(value: f64, low: f64, high: f64) -> EstimateReport {
        EstimateReport { value, low, high }
    }

    fn ask(it: VictimReport, all: EstimateReport) -> Option<bool> {
        let taken = Tally { taken: 200, ..Tally::default() };
        nothing_to_gain(&[it], &all, &taken)
    }

    #[test]
    fn a_loss_beyond_chance_is_something_to_gain() {
        let little = all(0.1, 0.0, 0.4);
        assert_eq!(ask(victim(200, 8.0, 5.0), little), Some(false));
        // Programs of few pauses each, which lost time together.
        assert_eq!(ask(victim(9, 47.0, 43.0), all(46.0, 43.0, 51.0)), Some(false));
    }

    #[test]
    fn nothing_is_said_only_where_the_bound_is_small() {
        let little = all(0.1, 0.0, 0.4);
        assert_eq!(ask(victim(200, 0.2, 0.1), little), Some(true));
        assert_eq!(ask(victim(200, 0.2, 0.0), all(1.1, 0.0, 2.9)), None);
        assert_eq!(ask(victim(0, 0.0, 0.0), little), None, "no pause met most of the CPU time");
        let few = Tally { taken: 40, ..Tally::default() };
        assert_eq!(nothing_to_gain(&[victim(40, 8.0, 5.0)], &little, &few), None);
    }
}
