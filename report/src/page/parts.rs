//! Tables and lists of the page.

use crate::claims::judged;
use crate::comparison::{Comparison, Run};
use crate::sample::Replicates;
use crate::svg::{SERIES, escape};
use crate::table::{culprits, per_second, repaid_pct};
use crate::words::{percent, seconds, short_count, signed_percent, variant};

/// A cell of a table, escaped.
pub(super) struct Cell {
    class: &'static str,
    html: String,
}

impl Cell {
    pub(super) fn text(text: &str) -> Self {
        Self { class: "w", html: escape(text) }
    }

    pub(super) fn number(text: &str) -> Self {
        Self { class: "n", html: escape(text) }
    }

    /// Marked by what was found; the words say it too.
    pub(super) fn judged(text: &str, hit: Option<bool>) -> Self {
        let html = match hit {
            Some(true) => format!("<span class=\"hit\">{}</span>", escape(text)),
            Some(false) => format!("<span class=\"miss\">{}</span>", escape(text)),
            None => escape(text),
        };
        Self { class: "w", html }
    }
}

/// A table; heads that begin with `#` are those of numbers.
pub(super) fn table(heads: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut html = "<div class=\"table\"><table>\n<thead><tr>".to_owned();
    for head in heads {
        let (class, text) = head.strip_prefix('#').map_or(("w", *head), |text| ("n", text));
        html += &format!("<th scope=\"col\" class=\"{class}\">{}</th>", escape(text));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += "<tr>";
        for cell in row {
            html += &format!("<td class=\"{}\">{}</td>", cell.class, cell.html);
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

/// A part that opens when it is asked for.
pub(super) fn details(summary: &str, html: &str) -> String {
    format!("<details><summary>{}</summary>\n{html}</details>\n", escape(summary))
}

/// Names beside their colours.
pub(super) fn legend(names: &[String], colors: &[usize]) -> String {
    let mut html = "<ul class=\"legend\">\n".to_owned();
    for (name, color) in names.iter().zip(colors) {
        html += &format!(
            "<li><svg class=\"chart\" width=\"14\" height=\"12\" aria-hidden=\"true\">\
             <rect class=\"f{}\" width=\"14\" height=\"12\"/></svg>{}</li>\n",
            color % SERIES,
            escape(name)
        );
    }
    html + "</ul>\n"
}

/// What each application got, and what each scheduler did.
pub(super) fn work(comparison: &Comparison) -> String {
    let tasks: Vec<Vec<Cell>> = comparison.runs.iter().flat_map(task_rows).collect();
    let heads = [
        "background",
        "scheduler",
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
        "background",
        "scheduler",
        "sensors",
        "#switches/s",
        "#moves/s",
        "#repaid",
        "levels",
        "#simulated",
        "#events",
        "#cut off",
    ];
    format!(
        "<h2>What each application got, and what each scheduler did</h2>\n{}{}",
        details("Applications", &table(&heads, &tasks)),
        details("Schedulers", &table(&run_heads, &runs))
    )
}

fn task_rows(run: &Run) -> Vec<Vec<Cell>> {
    let row = |task: &crate::Task| {
        vec![
            Cell::text(&variant(&run.background)),
            Cell::text(&run.scheduler),
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
    };
    run.tasks.iter().map(row).collect()
}

fn run_row(comparison: &Comparison, run: &Run) -> Vec<Cell> {
    let level = |(level, share): (usize, &f64)| {
        let name = comparison.level_names.get(level).map_or("?", String::as_str);
        format!("{name} {share:.0} %")
    };
    let levels: Vec<String> = run.level_share_pct.iter().enumerate().map(level).collect();
    vec![
        Cell::text(&variant(&run.background)),
        Cell::text(&run.scheduler),
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
    ("repaid", "Share of the lost CPU time that the scheduler refunded to its victims."),
    (
        "calibrated, predicted",
        "Calibrated: parameters were fitted to the published figure. \
      Predicted: they were not. A MISS is outside the tolerance that was fixed before the run.",
    ),
    ("sensors", "What the scheduler was allowed to know about its tasks."),
];

/// Parameters, costs, claims, words, and the command.
pub(super) fn settings(comparison: &Comparison) -> String {
    let mut html = "<h2>How to get this again</h2>\n".to_owned();
    html += &format!("<pre>{}</pre>\n", escape(&comparison.command));
    for note in &comparison.notes {
        html += &format!("<p>{}</p>\n", escape(note));
    }
    html +=
        &details("Parameters, costs and seed", &table(&["name", "value"], &parameters(comparison)));
    if !comparison.claims.is_empty() {
        html += &details("Claims of the scenario", &claims(comparison));
    }
    let mut words = "<dl>\n".to_owned();
    for (word, meaning) in DEFINITIONS {
        words += &format!("<dt>{}</dt><dd>{}</dd>\n", escape(word), escape(meaning));
    }
    html + &details("Words", &(words + "</dl>\n"))
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
    table(&heads, &rows)
}
