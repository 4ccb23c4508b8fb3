//! The figures of the page: each with a finding as its title and its table beneath.

use std::collections::BTreeMap;

use super::Gantt;
use super::parts::{Cell, details, legend, table};
use crate::comparison::{Comparison, Run, Task};
use crate::svg::{self, Bar, Curve, Group, Heat, Svg, escape};
use crate::table::listed;
use crate::verdict::{Finding, findings};
use crate::window::Window;
use crate::words::{clean, outcome, percent, published, signed_percent, slowdown, tenths, variant};

const WIDE: f64 = 940.0;
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

fn series(comparison: &Comparison, run: &Run) -> usize {
    schedulers(comparison).iter().position(|name| *name == run.scheduler).unwrap_or(0)
}

fn runs_of<'a>(comparison: &'a Comparison, background: &'a str) -> impl Iterator<Item = &'a Run> {
    comparison.compared().filter(move |run| run.background == background)
}

/// The name of a run among those of its background: with the sensor set where it matters.
fn run_name(comparison: &Comparison, run: &Run) -> String {
    let several = runs_of(comparison, &run.background).any(|other| other.sensors != run.sensors);
    let scheduler = clean(&run.scheduler);
    if several { format!("{scheduler}, {}", clean(&run.sensors)) } else { scheduler }
}

/// The same drawing for wide and narrow windows.
fn both(label: &str, draw: impl Fn(f64) -> (Svg, f64)) -> String {
    let one = |class: &str, width: f64| {
        let (svg, height) = draw(width);
        format!("<figure class=\"{class}\">\n{}</figure>\n", svg.inline(height, label))
    };
    format!("{}{}", one("wide", WIDE), one("narrow", NARROW))
}

fn mean_groups(comparison: &Comparison, brief: bool) -> Vec<Group> {
    let group = |finding: Finding| {
        let background = &finding.baseline.background;
        let bar = |run: &Run| {
            let half = run.ci95_half_width_pct;
            let value = run.isolation_slowdown_pct;
            let beside = run.published.as_ref().map_or_else(String::new, |beside| {
                if brief {
                    let mark = beside.hit.map_or("", |hit| if hit { " ✓" } else { " MISS" });
                    format!(" (pub. {}{mark})", tenths(beside.value_pct))
                } else {
                    format!(" – published {}", published(beside))
                }
            });
            let text = if brief { tenths(value) } else { slowdown(run) };
            Bar {
                name: run_name(comparison, run),
                series: series(comparison, run),
                value,
                whisker: run.range_pct.or_else(|| half.map(|half| [value - half, value + half])),
                mark: run.published.as_ref().map(|beside| beside.value_pct),
                label: format!("{text}{beside}"),
                title: format!("{}: {}{beside}", clean(&run.scheduler), slowdown(run)),
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
pub(super) fn means(comparison: &Comparison) -> String {
    let title = mean_title(comparison);
    let figure = both(&title, |width| {
        svg::bars(&mean_groups(comparison, width < 500.0), width, 18.0, MEAN_UNIT)
    });
    let any = comparison.compared().any(|run| run.published.is_some());
    let marks = if any {
        "<p class=\"soft\">The diamond is the published figure. <b>Calibrated</b>: parameters were \
         fitted to that very figure, so agreement says little. <b>Predicted</b>: nothing was fitted \
         to it. Whiskers: 95 % interval over seeds, or range over fitted parameter sets.</p>\n"
    } else {
        "<p class=\"soft\">Whiskers: 95 % interval over seeds, or range over fitted parameter \
         sets. Nothing was published about these runs.</p>\n"
    };
    let rows: Vec<Vec<Cell>> = comparison.compared().map(|run| mean_row(run)).collect();
    let heads = [
        "background",
        "scheduler",
        "sensors",
        "#slowdown",
        "#signed",
        "#slowdowns only",
        "#lost CPU",
        "#CPU time",
        "#unfairness",
        "#Jain",
        "published",
        "outcome",
    ];
    format!(
        "<h2>{}</h2>\n{figure}{marks}{}",
        escape(&title),
        details("All figures of this chart", &table(&heads, &rows))
    )
}

fn mean_row(run: &Run) -> Vec<Cell> {
    let beside = run.published.as_ref();
    let hit = beside.and_then(|beside| beside.hit);
    vec![
        Cell::text(&variant(&run.background)),
        Cell::text(&run.scheduler),
        Cell::text(&run.sensors),
        Cell::number(&slowdown(run)),
        Cell::number(&signed_percent(run.signed_slowdown_pct)),
        Cell::number(&percent(run.slowdown_only_pct)),
        Cell::number(&percent(run.remote_avx_overhead_pct)),
        Cell::number(&signed_percent(run.cpu_time_vs_sse_pct)),
        Cell::number(&format!("{:.2}", run.unfairness)),
        Cell::number(&format!("{:.3}", run.jain)),
        Cell::text(&beside.map_or_else(String::new, |beside| {
            let how = if beside.calibrated { "calibrated" } else { "predicted" };
            let id = beside.id.as_deref().unwrap_or_default();
            format!(
                "{} % {} {how}, {} {id}",
                tenths(beside.value_pct),
                beside.metric,
                beside.source
            )
        })),
        Cell::judged(&beside.map_or_else(String::new, outcome), hit),
    ]
}

/// Slowdown of every judged program under every scheduler, a chart a background.
pub(super) fn programs(comparison: &Comparison) -> String {
    let mut text = String::new();
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
        groups.extend(baseline.judged().map(|task| program_group(comparison, task, &runs)));
        let names: Vec<String> = runs.iter().map(|run| clean(&run.scheduler)).collect();
        let colors: Vec<usize> = runs.iter().map(|run| series(comparison, run)).collect();
        let figure = both(&title, |width| {
            svg::bars(&groups, width, 11.0, "slowdown, %; left of 0 a speed-up")
        });
        text += &format!(
            "<h2>{}</h2>\n{}{figure}{}",
            escape(&title),
            legend(&names, &colors),
            details("All figures of this chart", &program_table(baseline, &runs))
        );
    }
    text
}

fn same_task<'a>(run: &'a Run, task: &Task) -> Option<&'a Task> {
    run.tasks.iter().find(|other| other.name == task.name && other.program == task.program)
}

/// The means, with the published ones marked where they are means of the same kind.
fn mean_group(comparison: &Comparison, runs: &[&Run]) -> Group {
    let bar = |run: &&Run| {
        let value = run.isolation_slowdown_pct;
        let beside =
            run.published.as_ref().map(|beside| format!(" – published {}", published(beside)));
        Bar {
            name: String::new(),
            series: series(comparison, run),
            value,
            whisker: None,
            mark: run.published.as_ref().map(|beside| beside.value_pct),
            label: percent(value),
            title: format!(
                "{}: {}{}",
                clean(&run.scheduler),
                slowdown(run),
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

fn program_table(baseline: &Run, runs: &[&Run]) -> String {
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
    table(&heads, &listed(baseline).into_iter().map(row).collect::<Vec<_>>())
}

/// Victims and culprits by scheduler, for the background that slows most.
pub(super) fn losses(comparison: &Comparison) -> String {
    let found = findings(comparison);
    let Some(first) = found.first() else { return String::new() };
    let runs: Vec<&Run> = runs_of(comparison, &first.baseline.background)
        .filter(|run| run.sensors == first.baseline.sensors)
        .collect();
    let heats = heats(&runs);
    let most = heats.iter().flat_map(|(_, heat)| heat.values.iter().flatten());
    let most = most.copied().fold(0.0, f64::max);
    if most == 0.0 {
        return "<h2>Nobody lost CPU time to a license of another</h2>\n".to_owned();
    }
    let top = first.baseline.losses.iter().max_by(|a, b| a.lost_s.total_cmp(&b.lost_s));
    let title = format!(
        "{} makes the others' work cost {} of CPU time under {}",
        top.map_or_else(String::new, |loss| clean(&loss.culprit)),
        signed_percent(first.baseline.remote_avx_overhead_pct),
        clean(&first.baseline.scheduler)
    );
    let mut text = format!(
        "<h2>{}</h2>\n<p class=\"soft\">Share of a victim's CPU time that it would not have needed \
         at the frequency of its own level, by whose level it was; background {}.</p>\n\
         <div class=\"side\">\n",
        escape(&title),
        escape(&variant(&first.baseline.background))
    );
    for (name, matrix) in &heats {
        let (svg, height) = svg::heat(matrix, most);
        let label = format!("CPU time lost, {name}");
        let svg = svg.inline(height, &label);
        text += &format!("<figure class=\"scroll\"><h3>{}</h3>\n{svg}</figure>\n", escape(name));
    }
    let rows: Vec<Vec<Cell>> = comparison.compared().flat_map(loss_rows).collect();
    let heads =
        ["background", "scheduler", "victim", "culprit", "#lost", "#of its CPU time", "#repaid"];
    text + "</div>\n" + &details("All losses", &table(&heads, &rows))
}

fn cpu_time_s(run: &Run, name: &str) -> f64 {
    run.tasks.iter().filter(|task| task.name == name).map(|task| task.cpu_time_s).sum()
}

fn loss_pct(run: &Run, victim: &str, culprit: &str) -> f64 {
    let of = |loss: &&crate::LossEntry| loss.victim == victim && loss.culprit == culprit;
    let lost_s: f64 = run.losses.iter().filter(of).map(|loss| loss.lost_s).sum();
    let all_s = cpu_time_s(run, victim);
    if all_s > 0.0 { 100.0 * lost_s / all_s } else { 0.0 }
}

/// A matrix a scheduler; or one with a column a scheduler, where all lost to the same culprit.
fn heats(runs: &[&Run]) -> Vec<(String, Heat)> {
    let each: Vec<Heat> = runs.iter().map(|run| heat_of(run)).collect();
    let first = &each[0];
    let same = |heat: &Heat| heat.culprits == first.culprits && heat.victims == first.victims;
    if first.culprits.len() == 1 && each.iter().all(same) {
        let row = |row: usize| each.iter().map(|heat| heat.values[row][0]).collect();
        let joined = Heat {
            victims: first.victims.clone(),
            culprits: runs.iter().map(|run| clean(&run.scheduler)).collect(),
            values: (0..first.victims.len()).map(row).collect(),
        };
        return vec![(format!("to {}, by scheduler", first.culprits[0]), joined)];
    }
    let name = |run: &&Run| format!("under {}", clean(&run.scheduler));
    runs.iter().map(name).zip(each).collect()
}

fn heat_of(run: &Run) -> Heat {
    let mut culprits: Vec<&str> = run.losses.iter().map(|loss| loss.culprit.as_str()).collect();
    culprits.sort_unstable();
    culprits.dedup();
    let victims: Vec<&str> = listed(run).into_iter().map(|task| task.name.as_str()).collect();
    let row = |victim: &&str| culprits.iter().map(|one| loss_pct(run, victim, one)).collect();
    Heat {
        values: victims.iter().map(row).collect(),
        victims: victims.iter().map(|name| clean(name)).collect(),
        culprits: culprits.iter().map(|name| clean(name)).collect(),
    }
}

fn loss_rows(run: &Run) -> Vec<Vec<Cell>> {
    let row = |loss: &crate::LossEntry| {
        vec![
            Cell::text(&variant(&run.background)),
            Cell::text(&run.scheduler),
            Cell::text(&loss.victim),
            Cell::text(&loss.culprit),
            Cell::number(&crate::words::seconds(loss.lost_s)),
            Cell::number(&percent(loss_pct(run, &loss.victim, &loss.culprit))),
            Cell::number(&crate::words::seconds(loss.repaid_s)),
        ]
    };
    run.losses.iter().map(row).collect()
}

/// Who ran where in one run, with levels and frequency.
pub(super) fn history(comparison: &Comparison, gantt: &Gantt) -> String {
    let window = Window::of(gantt.history);
    let names: BTreeMap<u32, (String, String)> = gantt
        .history
        .header
        .tasks
        .iter()
        .map(|task| (task.tid, (clean(&task.app), clean(&task.comm))))
        .collect();
    let shares = window.level_shares_pct();
    let slow: f64 = shares.iter().filter(|(level, _)| **level > 0).map(|(_, share)| share).sum();
    let with = gantt.program.map_or_else(String::new, |name| format!(" with {}", clean(name)));
    let title = format!(
        "Under {}{with}, {slow:.0} % of the CPU time shown ran below full frequency",
        clean(gantt.scheduler)
    );
    let (svg, height) = svg::gantt(&window, &names, &comparison.level_names, WIDE);
    let joined = if window.joined_below_ns > 0 {
        format!(" Stretches below {} µs are joined.", window.joined_below_ns / 1000)
    } else {
        String::new()
    };
    let rows: Vec<Vec<Cell>> = shares
        .iter()
        .map(|(level, share)| {
            let name = comparison.level_names.get(usize::from(*level));
            let name = name.cloned().unwrap_or_else(|| format!("level {level}"));
            vec![Cell::text(&name), Cell::number(&percent(*share))]
        })
        .collect();
    format!(
        "<h2>{}</h2>\n<p class=\"soft\">Background {}: the first {} CPUs from {:.0} to {:.0} ms, \
         coloured by the license level of the core; beneath each core its frequency.{joined}</p>\n\
         <figure class=\"scroll\">\n{}</figure>\n{}",
        escape(&title),
        escape(&variant(gantt.background)),
        window.cpus.len(),
        window.from_ns as f64 / 1e6,
        window.to_ns as f64 / 1e6,
        svg.inline(height, &title),
        details("Time at each level", &table(&["level", "#share of busy time"], &rows)),
    )
}

/// How long wake-ups wait, by scheduler, for the background that slows most.
pub(super) fn latency(comparison: &Comparison) -> String {
    let found = findings(comparison);
    let Some(first) = found.first() else { return String::new() };
    let runs: Vec<&Run> = runs_of(comparison, &first.baseline.background)
        .filter(|run| run.sensors == first.baseline.sensors && run.wake_latency.count > 0)
        .collect();
    if runs.is_empty() {
        return String::new();
    }
    let best = first.best.filter(|run| run.wake_latency.count > 0);
    let mut title = format!(
        "99 % of wake-ups run within {} under {}",
        duration(first.baseline.wake_latency.p99_us),
        clean(&first.baseline.scheduler)
    );
    if let Some(best) = best {
        let p99 = duration(best.wake_latency.p99_us);
        title += &format!(", within {p99} under {}", clean(&best.scheduler));
    }
    let curves: Vec<Curve> = runs
        .iter()
        .map(|run| Curve {
            name: clean(&run.scheduler),
            series: series(comparison, run),
            points: distribution(run),
        })
        .collect();
    let figure = both(&title, |width| svg::ecdf(&curves, width));
    let rows: Vec<Vec<Cell>> = comparison.runs.iter().map(latency_row).collect();
    let heads =
        ["background", "scheduler", "#wake-ups", "#50 %", "#90 %", "#99 %", "#99.9 %", "#longest"];
    format!(
        "<h2>{}</h2>\n<p class=\"soft\">Share of the wake-ups of judged programs that ran within \
         a time; background {}.</p>\n{figure}{}",
        escape(&title),
        escape(&variant(&first.baseline.background)),
        details("Quantiles", &table(&heads, &rows))
    )
}

/// At most some two hundred steps of a distribution, in microseconds.
fn distribution(run: &Run) -> Vec<(f64, f64)> {
    let histogram = &run.wake_histogram_ns;
    let all = histogram.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut below = 0;
    for value in histogram.iter_recorded() {
        below += value.count_at_value();
        let point = (value.value_iterated_to() as f64 / 1e3, below as f64 / all);
        match points.last_mut() {
            Some(last)
                if point.1 - last.1 < 0.005 && point.1 < 1.0 && points_close(*last, point) =>
            {
                *last = point;
            }
            _ => points.push(point),
        }
    }
    points
}

/// Whether two values are within a pixel or two of each other on the axis.
fn points_close(a: (f64, f64), b: (f64, f64)) -> bool {
    b.0 < a.0 * 1.02 + 1e-3
}

fn latency_row(run: &Run) -> Vec<Cell> {
    let latency = &run.wake_latency;
    let mut row = vec![
        Cell::text(&variant(&run.background)),
        Cell::text(&run.scheduler),
        Cell::number(&latency.count.to_string()),
    ];
    let quantiles =
        [latency.p50_us, latency.p90_us, latency.p99_us, latency.p999_us, latency.max_us];
    row.extend(quantiles.map(|us| Cell::number(&duration(us))));
    row
}

fn duration(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.2} s", us / 1e6),
        us if us >= 1e3 => format!("{:.2} ms", us / 1e3),
        us => format!("{us:.1} µs"),
    }
}
