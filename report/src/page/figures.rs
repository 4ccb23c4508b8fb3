//! The figures of the page: each with a finding as its title and its table beneath.

use super::parts::{Cell, Part, details, first, left_out, legend, table};
use crate::claims::Published;
use crate::comparison::{Comparison, Run, Task};
use crate::drawing::Svg;
use crate::format::{amount, clean, figure_words, how, percent, signed_percent, tenths, variant};
use crate::svg::{self, Bar, Group};
use crate::table::listed;
use crate::verdict::{Finding, findings};

pub(super) const WIDE: f64 = 940.0;
const NARROW: f64 = 326.0;

/// Schedulers in order of appearance; the place is the colour.
pub(super) fn schedulers(comparison: &Comparison) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for run in &comparison.runs {
        if !names.contains(&run.scheduler.as_str()) {
            names.push(&run.scheduler);
        }
    }
    names
}

pub(super) fn series(comparison: &Comparison, run: &Run) -> usize {
    schedulers(comparison).iter().position(|name| *name == run.scheduler).unwrap_or(0)
}

pub(super) fn runs_of<'a>(
    comparison: &'a Comparison,
    background: &'a str,
) -> impl Iterator<Item = &'a Run> {
    comparison.compared().filter(move |run| run.background == background)
}

/// The name of a run among those of its background; with the sensor set if the runs have several.
fn run_name(comparison: &Comparison, run: &Run) -> String {
    let several = runs_of(comparison, &run.background).any(|other| other.sensors != run.sensors);
    let scheduler = clean(&run.scheduler);
    if several { format!("{scheduler}, {}", clean(&run.sensors)) } else { scheduler }
}

/// The same drawing for wide and narrow windows.
pub(super) fn both(label: &str, draw: impl Fn(f64) -> (Svg, f64)) -> String {
    let one = |class: &str, width: f64| {
        let (svg, height) = draw(width);
        format!("<figure class=\"{class}\">\n{}</figure>\n", svg.inline(height, label))
    };
    format!("{}{}", one("wide", WIDE), one("narrow", NARROW))
}

/// Position of the published figure on the axis of slowdowns; `None` for other figures.
fn mark(run: &Run) -> Option<f64> {
    let is_slowdown =
        |figure: &str| matches!(figure, "isolation_slowdown_pct" | "signed_slowdown_pct");
    let published = run.published.as_ref();
    published.filter(|beside| is_slowdown(&beside.figure)).map(|beside| beside.value)
}

fn mean_groups(comparison: &Comparison, brief: bool) -> Vec<Group> {
    let group = |finding: Finding| {
        let background = &finding.baseline.background;
        let bar = |run: &Run| {
            let half = run.ci95_half_width_pct;
            let value = run.isolation_slowdown_pct;
            let beside = run.published.as_ref().map_or_else(String::new, |beside| {
                if brief && mark(run).is_none() {
                    String::new()
                } else if brief {
                    let mark = beside.hit.map_or("", |hit| if hit { " ✓" } else { " MISS" });
                    format!(" (pub. {}{mark})", tenths(beside.value))
                } else {
                    format!(" – published {}", beside.text())
                }
            });
            let text = if brief { tenths(value) } else { run.slowdown_text() };
            Bar {
                name: run_name(comparison, run),
                series: series(comparison, run),
                value,
                whisker: run.range_pct.or_else(|| half.map(|half| [value - half, value + half])),
                mark: mark(run),
                label: format!("{text}{beside}"),
                title: format!("{}: {}{beside}", clean(&run.scheduler), run.slowdown_text()),
            }
        };
        Group {
            name: format!("Background {}", variant(background)),
            bars: runs_of(comparison, background).map(bar).collect(),
        }
    };
    findings(comparison).into_iter().map(group).collect()
}

const MEAN_UNIT: &str = "mean slowdown of the programs, %";

fn mean_title(comparison: &Comparison) -> String {
    match findings(comparison).first() {
        Some(Finding { baseline, best: Some(best) })
            if best.isolation_slowdown_pct < baseline.isolation_slowdown_pct =>
        {
            format!(
                "{} cuts the mean slowdown from {} under {} to {}",
                clean(&best.scheduler),
                percent(baseline.isolation_slowdown_pct),
                clean(&baseline.scheduler),
                percent(best.isolation_slowdown_pct)
            )
        }
        Some(Finding { baseline, .. }) => format!(
            "Programs are slowed by {} under {}",
            percent(baseline.isolation_slowdown_pct),
            clean(&baseline.scheduler)
        ),
        None => "Nothing was compared".to_owned(),
    }
}

/// The mean slowdowns as a picture of its own, for light and dark surroundings.
#[must_use]
pub fn bars_svg(comparison: &Comparison) -> String {
    let title = mean_title(comparison);
    let (svg, height) = svg::bars(&mean_groups(comparison, false), 860.0, 18.0, MEAN_UNIT);
    svg.standalone(height, &title)
}

/// Mean slowdown by background, scheduler and sensor set, beside the published figures.
pub(super) fn means(comparison: &Comparison) -> Part {
    let title = mean_title(comparison);
    let figure = both(&title, |width| {
        svg::bars(&mean_groups(comparison, width < 500.0), width, 18.0, MEAN_UNIT)
    });
    let mut marks = String::new();
    if comparison.compared().any(|run| run.published.is_some()) {
        marks += "<p class=\"soft\">The diamond is the published figure. <b>Calibrated</b>: \
                  parameters were fitted to that very figure, so agreement says little. \
                  <b>Predicted</b>: nothing was fitted to it.</p>\n";
    }
    let has_whisker = |run: &Run| run.ci95_half_width_pct.is_some() || run.range_pct.is_some();
    if comparison.compared().any(has_whisker) {
        marks += "<p class=\"soft\">Whiskers: 95 % interval over seeds, or range over fitted \
                  parameter sets.</p>\n";
    }
    let rows: Vec<Vec<Cell>> = comparison.compared().map(mean_row).collect();
    let heads = [
        "scheduler",
        "background",
        "sensors",
        "#slowdown",
        "published",
        "outcome",
        "#signed",
        "#slowdowns only",
        "#overhead",
        "#CPU time",
        "#unfairness",
        "#Jain",
    ];
    let table = table(&format!("All figures: {title}"), &heads, &rows);
    let html = format!("{figure}{marks}{}", details("All figures of this chart", &table));
    Part { title, html }
}

fn mean_row(run: &Run) -> Vec<Cell> {
    let beside = run.published.as_ref();
    let hit = beside.and_then(|beside| beside.hit);
    vec![
        Cell::text(&run.scheduler),
        Cell::text(&variant(&run.background)),
        Cell::text(&run.sensors),
        Cell::number(&run.slowdown_text()),
        Cell::text(&beside.map_or_else(String::new, |beside| {
            let id = beside.id.as_deref().unwrap_or_default();
            let (value, how) = (amount(&beside.figure, beside.value), how(beside.calibrated));
            let figure = figure_words(&beside.figure);
            format!("{value} {figure} {how}, {} {id}", beside.source)
        })),
        Cell::judged(&beside.map_or_else(String::new, Published::outcome), hit),
        Cell::number(&signed_percent(run.signed_slowdown_pct)),
        Cell::number(&percent(run.slowdown_only_pct)),
        Cell::number(&percent(run.remote_avx_overhead_pct)),
        Cell::number(&signed_percent(run.cpu_time_vs_sse_pct)),
        Cell::number(&format!("{:.2}", run.unfairness)),
        Cell::number(&format!("{:.3}", run.jain)),
    ]
}

/// Slowdown of every judged program under every scheduler, a chart a background.
pub(super) fn programs(comparison: &Comparison) -> Vec<Part> {
    let mut parts = Vec::new();
    for finding in findings(comparison) {
        let baseline = finding.baseline;
        if baseline.judged().count() < 2 {
            continue;
        }
        let runs: Vec<&Run> = runs_of(comparison, &baseline.background)
            .filter(|run| run.sensors == baseline.sensors)
            .collect();
        let worst = baseline.worst();
        let title = format!(
            "{}: {} is slowed most, by {} under {}",
            variant(&baseline.background),
            worst.map_or_else(String::new, |task| clean(&task.name)),
            percent(worst.and_then(Task::slowdown_pct).unwrap_or(0.0)),
            clean(&baseline.scheduler)
        );
        let mut groups = vec![mean_group(comparison, &runs)];
        let shown = most_slowed(baseline);
        groups.extend(shown.iter().map(|task| program_group(comparison, task, &runs)));
        let names: Vec<String> = runs.iter().map(|run| clean(&run.scheduler)).collect();
        let colors: Vec<usize> = runs.iter().map(|run| series(comparison, run)).collect();
        let figure = both(&title, |width| {
            svg::bars(&groups, width, 11.0, "slowdown, %; left of 0 a speed-up")
        });
        let count = baseline.judged().count();
        let shown = if shown.len() < count {
            format!(
                "<p class=\"soft\">The {} programs of {count} that are slowed most.</p>\n",
                shown.len()
            )
        } else {
            String::new()
        };
        let table = program_table(&title, baseline, &runs);
        let html = format!(
            "{shown}{}{figure}{}",
            legend(&names, &colors),
            details("All figures of this chart", &table)
        );
        parts.push(Part { title, html });
    }
    parts
}

fn same_task<'a>(run: &'a Run, task: &Task) -> Option<&'a Task> {
    run.tasks.iter().find(|other| other.name == task.name && other.program == task.program)
}

/// How many programs a chart's table has.
const PROGRAMS_LISTED: usize = 500;

/// How many programs a chart shows.
const PROGRAMS_SHOWN: usize = 24;

/// The judged applications in their order; of too many, those slowed most.
fn most_slowed(run: &Run) -> Vec<&Task> {
    let mut tasks: Vec<&Task> = run.judged().collect();
    if tasks.len() > PROGRAMS_SHOWN {
        let slowdown = |task: &Task| task.slowdown.unwrap_or(0.0);
        tasks.sort_by(|a, b| slowdown(b).total_cmp(&slowdown(a)));
        tasks.truncate(PROGRAMS_SHOWN);
    }
    tasks
}

/// The means, with the published ones marked where they are means of the same kind.
fn mean_group(comparison: &Comparison, runs: &[&Run]) -> Group {
    let bar = |run: &&Run| {
        let value = run.isolation_slowdown_pct;
        let beside = run.published.as_ref().map(|beside| format!(" – published {}", beside.text()));
        Bar {
            name: String::new(),
            series: series(comparison, run),
            value,
            whisker: None,
            mark: mark(run),
            label: percent(value),
            title: format!(
                "{}: {}{}",
                clean(&run.scheduler),
                run.slowdown_text(),
                beside.unwrap_or_default()
            ),
        }
    };
    Group {
        name: "Mean of |slowdown| (diamond: published)".to_owned(),
        bars: runs.iter().map(bar).collect(),
    }
}

fn program_group(comparison: &Comparison, task: &Task, runs: &[&Run]) -> Group {
    let bar = |run: &&Run| {
        let other = same_task(run, task)?;
        let value = other.slowdown_pct()?;
        let half = other.slowdown_ci95_half_width.map(|half| 100.0 * half);
        Some(Bar {
            name: String::new(),
            series: series(comparison, run),
            value,
            whisker: None,
            mark: None,
            label: signed_percent(value),
            title: format!(
                "{} under {}: {}{}",
                clean(&task.name),
                clean(&run.scheduler),
                signed_percent(value),
                half.map_or_else(String::new, |half| format!(" ±{half:.2}"))
            ),
        })
    };
    Group { name: clean(&task.name), bars: runs.iter().filter_map(bar).collect() }
}

fn program_table(title: &str, baseline: &Run, runs: &[&Run]) -> String {
    let names: Vec<String> = runs.iter().map(|run| format!("#{}", run.scheduler)).collect();
    let mut heads = vec!["program"];
    heads.extend(names.iter().map(String::as_str));
    let row = |task: &Task| {
        let mut row = vec![Cell::text(&task.name)];
        row.extend(runs.iter().map(|run| {
            let slowdown = same_task(run, task).and_then(Task::slowdown_pct);
            Cell::number(&slowdown.map_or_else(|| "–".to_owned(), signed_percent))
        }));
        row
    };
    let (tasks, more) = first(listed(baseline), PROGRAMS_LISTED);
    let rows: Vec<Vec<Cell>> = tasks.into_iter().map(row).collect();
    table(&format!("All figures: {title}"), &heads, &rows) + &left_out(more, "programs")
}
