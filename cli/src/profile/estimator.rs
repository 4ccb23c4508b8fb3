//! How losses of clock were estimated, or why they are not known.

use super::{Estimator, Report, clock, error};

/// Whether losses of clock are known.
pub fn has_clock(report: &Report) -> bool {
    use Estimator::{NoLevels, NoneShown, NotRecorded};
    !matches!(report.estimator, NoLevels | NoneShown | NotRecorded)
}

/// The estimator with its error, and what was not known of the machine; at least one sentence.
pub fn sentences(report: &Report) -> Vec<String> {
    let cpu = report.cpu.as_deref().unwrap_or_default();
    let by_table = if report.is_own_table {
        format!("by the table {cpu} of this CPU; no clock was measured")
    } else {
        format!("as if on {cpu} (--cpu); no clock was measured")
    };
    let first = match (report.estimator, &report.samples) {
        (Estimator::Pauses, Some(samples)) => {
            let dropped = samples.switched + samples.held + samples.halted;
            let all = samples.taken + dropped + samples.idle;
            format!(
                "Estimated with simulated pauses of cores, {:.0} a second: {} of a task, {dropped} \
                 without a result, as another task came, and {} of an idle CPU",
                all as f64 / report.length_s,
                samples.taken,
                samples.idle,
            )
        }
        (Estimator::Clock, Some(samples)) => clock::estimator(report, samples),
        (Estimator::Pauses | Estimator::Counters | Estimator::Clock, _) => {
            "Estimated without pauses, from counters at switches".to_owned()
        }
        (Estimator::Classes, _) => format!("Clock: from the classes of tasks, {by_table}"),
        (Estimator::Registers, _) => {
            format!("Clock: from 512-bit registers at switches, {by_table}")
        }
        (Estimator::NoLevels, _) => {
            "Clock: not estimated, as AMD's cores have no license levels (what if they had: --cpu \
             xeon-gold-6130 --class 'NAME*=avx512-heavy')"
                .to_owned()
        }
        (Estimator::NoneShown, _) => {
            "Clock: not estimated. No task left a CPU with 512-bit registers; 256-bit code, and a \
             CPU without AVX-512, do not show (--class 'NAME*=avx2-heavy' says more)"
                .to_owned()
        }
        (Estimator::NotRecorded, _) => {
            "Clock: not estimated. The recording has no registers (evenkeel trace record has), and \
             no --class says which program uses wide code"
                .to_owned()
        }
    };
    let first = first + &error::sentence(report);
    let siblings = "Shared core: not known which CPUs share one (--set threads-per-core=2 says it)";
    let mut lines = vec![first];
    if !report.knows_siblings {
        lines.push(siblings.to_owned());
    }
    lines
}
