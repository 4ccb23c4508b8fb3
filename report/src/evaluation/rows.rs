//! An evaluation as CSV (RFC 4180): a row a work, mix, background, scheduler and sensor set.

use super::{Evaluation, Work};
use crate::mixes::MixRun;
use crate::rows::write_csv;
use crate::sample::ReportError;

const HEADS: [&str; 21] = [
    "variant",
    "work",
    "seed",
    "background",
    "scheduler",
    "sensors",
    "slowdown_pct",
    "ci95_half_width_pct",
    "slower_pct",
    "signed_pct",
    "worst_program",
    "worst_pct",
    "culprit_rate_pct",
    "throughput_pct",
    "lost_s",
    "attributed_s",
    "right_s",
    "wake_count",
    "wake_p99_us",
    "level_share_pct",
    "unfinished",
];

/// Writes the CSV; the lines end in CR LF, fields with commas or quotes are quoted.
///
/// # Errors
/// When the writer fails, which one into memory does not.
pub fn evaluation_csv(evaluation: &Evaluation) -> Result<String, ReportError> {
    let rows = evaluation.works.iter().flat_map(|work| {
        let of_mix = move |mix: &crate::Mix| -> Vec<[String; HEADS.len()]> {
            mix.runs.iter().map(|run| row(work, mix.seed, run)).collect()
        };
        work.mixes.iter().flat_map(of_mix)
    });
    write_csv(&HEADS, rows)
}

fn row(work: &Work, seed: u64, run: &MixRun) -> [String; HEADS.len()] {
    let number = |value: f64| format!("{value:.4}");
    let optional = |value: Option<f64>| value.map_or_else(String::new, number);
    let worst = run.worst();
    let levels: Vec<String> =
        run.level_share_pct.iter().map(|share| format!("{share:.2}")).collect();
    [
        work.variant.as_ref().map_or_else(String::new, |variant| variant.name.clone()),
        work.name.clone(),
        seed.to_string(),
        run.background.clone(),
        run.scheduler.clone(),
        run.sensors.clone(),
        number(run.isolation_slowdown_pct),
        optional(run.ci95_half_width_pct),
        number(run.slowdown_only_pct),
        number(run.signed_slowdown_pct),
        worst.map_or_else(String::new, |program| program.name.clone()),
        optional(worst.map(|program| program.slowdown_pct)),
        optional(run.culprit_rate_pct),
        number(run.throughput_pct),
        number(run.attribution.lost_s),
        number(run.attribution.attributed_s),
        number(run.attribution.right_s),
        run.wake_count.to_string(),
        number(run.wake_p99_us),
        levels.join("/"),
        run.unfinished.to_string(),
    ]
}
