//! The answer of clocks that pauses measured on this machine.

use profiler::Tally;

use super::{Report, VictimReport};

/// Fewer pauses in all leave the question open: our choice.
const PAUSES_MIN: u64 = 50;
/// A program that needs less than so much longer, in percent, has nothing to gain: a license level
/// of 4 % that is in force for an eighth of the time costs as much.
const LONGER_MIN_PCT: f64 = 0.5;
/// Fewer pauses of a program do not show a loss that is none by chance.
const OF_PROGRAM_MIN: usize = 20;

/// Whether no program of this machine loses time to the clock of others; `None`: too few pauses.
pub fn nothing_to_gain(victims: &[VictimReport], samples: &Tally) -> Option<bool> {
    (samples.taken >= PAUSES_MIN).then(|| !victims.iter().any(has_lost))
}

/// Whether a program lost more than chance explains.
fn has_lost(victim: &VictimReport) -> bool {
    victim.samples >= OF_PROGRAM_MIN
        && victim.overhead_pct.value >= LONGER_MIN_PCT
        && victim.overhead_pct.low > 0.0
}

/// How the clock was measured.
pub fn estimator(report: &Report, samples: &Tally) -> String {
    let without = samples.switched + samples.held;
    let all = samples.taken + without + samples.idle;
    format!(
        "Clock: measured in {all} pauses of a core, {:.0} a second: {} of a program, {} of an idle \
         CPU, and {without} without a result. Without counters nothing tells how long a program \
         waits for memory, so a loss is at most so great",
        all as f64 / report.length_s.max(1e-9),
        samples.taken,
        samples.idle,
    )
}

/// The answer, where no program lost time or nothing can be said.
pub fn answer(report: &Report) -> Option<String> {
    let samples = report.samples.as_ref()?;
    match report.nothing_to_gain {
        None => Some(format!(
            "Too few pauses met a program, {} of {PAUSES_MIN}, to say what the clock costs: \
             profile for longer, or raise --rate.",
            samples.taken
        )),
        Some(true) => {
            let all_s: f64 = report.victims.iter().map(|it| it.cpu_time_s).sum();
            let lost_s: f64 = report.victims.iter().map(|it| it.lost_s.value).sum();
            Some(format!(
                "Nothing to gain: no program ran at a lower clock than its own code demands. The \
                 clock took {:.2} % of the CPU time of all.",
                100.0 * lost_s / all_s.max(1e-9)
            ))
        }
        Some(false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::EstimateReport;

    fn victim(samples: usize, value: f64, low: f64) -> VictimReport {
        let overhead_pct = EstimateReport { value, low, high: value + 1.0 };
        VictimReport {
            name: "program".to_owned(),
            labels: Default::default(),
            cpu_time_s: 1.0,
            waited_s: 0.0,
            samples,
            basis: "measured",
            demands: "L0".to_owned(),
            overhead_pct,
            lost_s: overhead_pct,
            true_overhead_pct: None,
            unprofiled_overhead_pct: None,
        }
    }

    #[test]
    fn only_a_loss_beyond_chance_is_something_to_gain() {
        let taken = |taken| Tally { taken, ..Tally::default() };
        let ask = |it: VictimReport| nothing_to_gain(&[it], &taken(200));
        assert_eq!(ask(victim(200, 8.0, 5.0)), Some(false));
        assert_eq!(ask(victim(200, 8.0, 0.0)), Some(true));
        assert_eq!(ask(victim(200, 0.2, 0.1)), Some(true));
        assert_eq!(ask(victim(9, 8.0, 5.0)), Some(true));
        assert_eq!(nothing_to_gain(&[victim(40, 8.0, 5.0)], &taken(40)), None);
    }
}
