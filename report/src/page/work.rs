//! CPU time by application, switches by scheduler, and the command that makes the page again.

use super::parts::{Cell, Part, Rows, details, first, grouped_table, left_out, table};
use crate::claims::judged;
use crate::comparison::{Comparison, Run};
use crate::drawing::escape;
use crate::format::{clean, percent, seconds, short_count, signed_percent, variant};
use crate::sample::Replicates;
use crate::table::{culprits, per_second, repaid_pct};

/// How many rows the tables of applications and of losses have at most, in all runs together.
pub(super) const ROWS_MAX: usize = 1500;

/// A run in the words that its rows share.
pub(super) fn run_head(run: &Run) -> String {
    let scheduler = clean(&run.scheduler);
    format!("{scheduler}, background {}, sensors {}", variant(&run.background), clean(&run.sensors))
}

/// The figures of each application, and of each scheduler.
pub(super) fn work(comparison: &Comparison) -> Part {
    let most = (ROWS_MAX / comparison.runs.len().max(1)).max(10);
    let mut more = 0;
    let tasks: Vec<Rows> = comparison
        .runs
        .iter()
        .map(|run| {
            let mut tasks: Vec<&crate::Task> = run.tasks.iter().collect();
            if tasks.len() > most {
                tasks.sort_by(|a, b| b.cpu_time_s.total_cmp(&a.cpu_time_s));
            }
            let (tasks, left_out) = first(tasks, most);
            more += left_out;
            let rows = tasks.into_iter().map(|task| task_row(run, task)).collect();
            Rows { head: run_head(run), rows }
        })
        .collect();
    let heads = [
        "application",
        "program",
        "class",
        "#threads",
        "#CPU time",
        "#lost",
        "to whom",
        "#completion",
        "#slowdown",
        "#waited",
        "#refunded",
        "#billed",
        "#slices",
        "#moves",
    ];
    let runs: Vec<Vec<Cell>> = comparison.runs.iter().map(|run| run_row(comparison, run)).collect();
    let run_heads = [
        "scheduler",
        "background",
        "sensors",
        "#switches/s",
        "#moves/s",
        "#repaid",
        "levels",
        "#simulated",
        "#events",
        "#cut off",
    ];
    let tasks = grouped_table("What each application got, by run", &heads, &tasks);
    let runs = table("What each scheduler did", &run_heads, &runs);
    Part {
        title: "What each application got, and what each scheduler did".to_owned(),
        html: details("Applications", &(tasks + &left_out(more, "applications")))
            + &details("Schedulers", &runs),
    }
}

fn task_row(run: &Run, task: &crate::Task) -> Vec<Cell> {
    vec![
        Cell::text(&task.name),
        Cell::text(task.program.as_deref().unwrap_or("")),
        Cell::text(&task.class),
        Cell::number(&task.threads.to_string()),
        Cell::number(&seconds(task.cpu_time_s)),
        Cell::number(&seconds(task.lost_s)),
        Cell::text(&culprits(run, &task.name)),
        Cell::number(&task.completion_s.map_or_else(|| "–".to_owned(), seconds)),
        Cell::number(&task.slowdown_pct().map_or_else(|| "–".to_owned(), signed_percent)),
        Cell::number(&seconds(task.waited_s)),
        Cell::number(&seconds(task.refunded_s)),
        Cell::number(&seconds(task.billed_s)),
        Cell::number(&task.slices.to_string()),
        Cell::number(&task.migrations.to_string()),
    ]
}

fn run_row(comparison: &Comparison, run: &Run) -> Vec<Cell> {
    let level = |(level, share): (usize, &f64)| {
        let name = comparison.level_names.get(level).map_or("?", String::as_str);
        format!("{name} {share:.0} %")
    };
    let levels: Vec<String> = run.level_share_pct.iter().enumerate().map(level).collect();
    vec![
        Cell::text(&run.scheduler),
        Cell::text(&variant(&run.background)),
        Cell::text(&run.sensors),
        Cell::number(&per_second(run.switches, run)),
        Cell::number(&per_second(run.migrations, run)),
        Cell::number(&repaid_pct(run).map_or_else(|| "–".to_owned(), percent)),
        Cell::text(&levels.join(", ")),
        Cell::number(&seconds(run.simulated_s)),
        Cell::number(&short_count(run.events as f64)),
        Cell::number(&run.unfinished.to_string()),
    ]
}

const DEFINITIONS: [(&str, &str); 8] = [
    (
        "slowdown",
        "Completion with this background over completion with the control background, \
      same scheduler, program and seed; what does not end is judged by its rate of work. The mean \
      is that of |slowdown - 1| over programs, because speed-ups are unwanted too; \"signed\" lets \
      them cancel, \"slowdowns only\" counts them as none.",
    ),
    (
        "overhead",
        "CPU time over the CPU time at the frequency of a program's own level, minus one: \
      the remote AVX overhead.",
    ),
    ("CPU time", "CPU time over that with the control background, minus one."),
    ("unfairness", "Largest over smallest slowdown of the applications that run together."),
    ("Jain", "Jain's index of their normalised progress: 1 when all are slowed alike."),
    (
        "repaid",
        "Share of the lost CPU time that the scheduler refunded to its victims. A refund is an \
      earlier turn, and so it helps only those who wait for a CPU.",
    ),
    (
        "calibrated, predicted",
        "Calibrated: parameters were fitted to the published figure. \
      Predicted: they were not. A MISS is outside the tolerance that was fixed before the run.",
    ),
    ("sensors", "What the scheduler was allowed to know about its tasks."),
];

/// Parameters, costs, claims, words, and the command.
pub(super) fn settings(comparison: &Comparison) -> Part {
    let mut html = format!("<pre>{}</pre>\n", escape(&comparison.command));
    for note in &comparison.notes {
        html += &format!("<p>{}</p>\n", escape(note));
    }
    let parameters = parameters(comparison);
    let parameters = table("Parameters, costs and seed", &["name", "value"], &parameters);
    html += &details("Parameters, costs and seed", &parameters);
    if !comparison.claims.is_empty() {
        html += &details("Claims of the scenario", &claims(comparison));
    }
    let mut words = "<dl>\n".to_owned();
    for (word, meaning) in DEFINITIONS {
        words += &format!("<dt>{}</dt><dd>{}</dd>\n", escape(word), escape(meaning));
    }
    html += &details("Words", &(words + "</dl>\n"));
    Part { title: "How to get this again".to_owned(), html }
}

fn parameters(comparison: &Comparison) -> Vec<Vec<Cell>> {
    let costs = &comparison.costs;
    let replicates = match comparison.replicates {
        Replicates::Seeds => "seeds",
        Replicates::ParameterSets => "fitted parameter sets",
    };
    let count = comparison.runs.first().map_or(0, |run| run.replicates);
    let fixed = [
        ("version", comparison.evenkeel.clone()),
        ("scenario", comparison.scenario.clone()),
        ("CPU table", comparison.cpu.clone()),
        ("license levels", comparison.level_names.join(", ")),
        ("sensor sets", comparison.sensors.clone()),
        ("seed", comparison.seed.to_string()),
        ("replicates", format!("{count} {replicates}")),
        ("calibrated on", comparison.calibrated_on.join(", ")),
        ("context switch", format!("{} ns", costs.switch_ns)),
        ("trap", format!("{} ns", costs.trap_ns)),
        (
            "migration",
            format!(
                "{} ns + {} ns/KiB, times {} between packages",
                costs.migration_ns, costs.migration_ns_per_kib, costs.remote_package_factor
            ),
        ),
    ];
    let fixed = fixed.iter().map(|(name, value)| (*name, value.as_str()));
    let given = comparison.parameters.iter().map(|one| (one.name.as_str(), one.value.as_str()));
    fixed.chain(given).map(|(name, value)| vec![Cell::text(name), Cell::text(value)]).collect()
}

fn claims(comparison: &Comparison) -> String {
    let rows: Vec<Vec<Cell>> = comparison
        .claims
        .iter()
        .map(|claim| {
            let row = judged(claim);
            vec![
                Cell::text(&row.figure),
                Cell::text(&row.scheduler),
                Cell::text(&row.background),
                Cell::number(&row.published),
                Cell::number(&row.bound),
                Cell::number(&row.found),
                Cell::judged(&row.outcome, claim.holds.map(|holds| holds != claim.must_fail)),
                Cell::text(claim.known_miss.as_deref().unwrap_or_default()),
                Cell::text(&claim.source),
            ]
        })
        .collect();
    let heads = [
        "figure",
        "scheduler",
        "background",
        "#published",
        "#within",
        "#found",
        "outcome",
        "why it is missed",
        "source",
    ];
    table("What the scenario claims, and what was found", &heads, &rows)
}
