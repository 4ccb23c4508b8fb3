//! One simulated run by application and by license level.

use scenarios::{Application, Role};
use simulator::Outcome;

use crate::application::{self, Got};
use crate::format::{clean, percent, seconds, short_count};
use crate::sample::ReportError;
use crate::text_table::{Column, TextTable, Tone};

/// The table of `simulate`: CPU time and work of each application, and the time at each level.
///
/// `thread_application` has the application of each thread, `level_names` those of the CPU.
///
/// # Errors
/// When threads and applications do not belong to the outcome.
pub fn history_summary(
    applications: &[Application],
    thread_application: &[u32],
    level_names: &[String],
    outcome: &Outcome,
) -> Result<String, ReportError> {
    let got = application::sum_up_all(applications, thread_application, outcome, "-", "-")?;
    let mut table = TextTable::new(vec![
        Column::words("application", 0),
        Column::words("class", 6),
        Column::numbers("threads", 7),
        Column::numbers("CPU time", 0),
        Column::numbers("lost", 0),
        Column::numbers("completion", 1),
        Column::numbers("work (ref. cycles)", 2),
        Column::numbers("waited", 3),
        Column::numbers("slices", 4),
        Column::numbers("mean slice", 5),
        Column::numbers("moves", 8),
    ]);
    for one in &got {
        table.push(row(one).into_iter().map(|text| (text, Tone::Plain)).collect());
    }
    let mut text = table.render(usize::MAX, false);
    text += &format!("\n{}", levels(level_names, outcome));
    let end = if outcome.completed { "" } else { " (ended by the time limit)" };
    text += &format!(
        "{} simulated{end}, {} switches, {} moves between CPUs, {} events\n",
        seconds(outcome.simulated_ns as f64 / 1e9),
        outcome.switches,
        outcome.migrations,
        outcome.events
    );
    Ok(text)
}

fn row(got: &Got) -> Vec<String> {
    let sum = &got.sum;
    let time = |ns: u64| seconds(ns as f64 / 1e9);
    let share = 100.0 * sum.lost_ns as f64 / sum.cpu_time_ns.max(1) as f64;
    let name = clean(&got.application.name);
    vec![
        match got.application.role {
            Role::Foreground => name,
            Role::Background => format!("{name} (background)"),
        },
        got.application.class.name().to_owned(),
        got.threads.to_string(),
        time(sum.cpu_time_ns),
        percent(share),
        sum.completion_ns.map_or_else(|| "-".to_owned(), time),
        short_count(sum.ref_cycles as f64),
        time(sum.waited_ns),
        short_count(sum.slices as f64),
        sum.cpu_time_ns.checked_div(sum.slices).map_or_else(|| "-".to_owned(), time),
        short_count(sum.migrations as f64),
    ]
}

fn levels(names: &[String], outcome: &Outcome) -> String {
    let all: u64 = outcome.level_ns.iter().sum();
    let mut table = TextTable::new(vec![
        Column::words("level", 0),
        Column::numbers("core time", 0),
        Column::numbers("share", 0),
    ]);
    let mut push = |name: String, ns: u64| {
        let share = percent(100.0 * ns as f64 / all.max(1) as f64);
        let row = [name, seconds(ns as f64 / 1e9), share];
        table.push(row.into_iter().map(|text| (text, Tone::Plain)).collect());
    };
    for (level, &ns) in outcome.level_ns.iter().enumerate() {
        if ns > 0 || level < names.len() {
            push(names.get(level).map_or_else(|| format!("level {level}"), |name| clean(name)), ns);
        }
    }
    push("throttled or halted".to_owned(), outcome.throttled_ns);
    table.render(usize::MAX, false)
}
