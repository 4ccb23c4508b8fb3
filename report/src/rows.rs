//! The comparison as CSV (RFC 4180): a row a scheduler, background, program and application.

use crate::comparison::{Comparison, Run, Task};
use crate::sample::ReportError;

const HEADS: [&str; 22] = [
    "scheduler",
    "background",
    "sensors",
    "control",
    "program",
    "application",
    "role",
    "class",
    "threads",
    "replicates",
    "cpu_time_s",
    "lost_s",
    "completion_s",
    "progress_ref_cycles",
    "slowdown",
    "slowdown_ci95_half_width",
    "remote_avx_overhead_pct",
    "waited_s",
    "refunded_s",
    "billed_s",
    "slices",
    "migrations",
];

/// Writes the CSV; the lines end in CR LF, fields with commas or quotes are quoted.
///
/// # Errors
/// When the writer fails, which one into memory does not.
pub fn csv(comparison: &Comparison) -> Result<String, ReportError> {
    let tasks =
        comparison.runs.iter().flat_map(|run| run.tasks.iter().map(move |task| (run, task)));
    write_csv(&HEADS, tasks.map(|(run, task)| row(run, task)))
}

/// Rows below their heads.
pub(crate) fn write_csv<const N: usize>(
    heads: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Result<String, ReportError> {
    let failed = |error: &dyn std::fmt::Display| ReportError::Write {
        format: "CSV",
        reason: error.to_string(),
    };
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(heads).map_err(|error| failed(&error))?;
    for row in rows {
        writer.write_record(row).map_err(|error| failed(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|error| failed(&error))
}

fn row(run: &Run, task: &Task) -> [String; HEADS.len()] {
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let role = match task.role {
        scenarios::Role::Foreground => "foreground",
        scenarios::Role::Background => "background",
    };
    [
        run.scheduler.clone(),
        run.background.clone(),
        run.sensors.clone(),
        run.control.to_string(),
        task.program.clone().unwrap_or_default(),
        task.name.clone(),
        role.to_owned(),
        task.class.clone(),
        task.threads.to_string(),
        run.replicates.to_string(),
        task.cpu_time_s.to_string(),
        task.lost_s.to_string(),
        optional(task.completion_s),
        task.progress.to_string(),
        optional(task.slowdown),
        optional(task.slowdown_ci95_half_width),
        task.remote_avx_overhead_pct.to_string(),
        task.waited_s.to_string(),
        task.refunded_s.to_string(),
        task.billed_s.to_string(),
        task.slices.to_string(),
        task.migrations.to_string(),
    ]
}
