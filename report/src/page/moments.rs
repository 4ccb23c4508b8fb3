//! Moments: who ran where, and how long wake-ups waited.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::Gantt;
use super::figures::{WIDE, both, runs_of, series};
use super::parts::{Cell, details, table};
use crate::comparison::{Comparison, Run};
use crate::svg::{self, Curve, escape};
use crate::verdict::findings;
use crate::window::Window;
use crate::words::{clean, percent, variant};

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

/// Shortest wait worth a chart: nobody can tell a wake-up from its switch below.
const SHOWN_US: f64 = 1.0;

/// How long wake-ups wait, by scheduler, for the background that slows most.
pub(super) fn latency(comparison: &Comparison) -> String {
    let found = findings(comparison);
    let Some(first) = found.first() else { return String::new() };
    let runs: Vec<&Run> = runs_of(comparison, &first.baseline.background)
        .filter(|run| run.sensors == first.baseline.sensors && run.wake_latency.count > 0)
        .collect();
    // Threads that only ever start wait for nothing that a chart could show.
    if runs.iter().all(|run| run.wake_latency.p99_us < SHOWN_US) {
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
            points: distribution(&run.wake_histogram_ns),
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

/// Steps of a logarithmic axis within which wake-ups are drawn as one: 2.5 %, under two pixels.
const STEPS: f64 = 40.0;

/// The steps of a distribution, in microseconds; those within 2.5 % of each other as one, at
/// the longest of them.
fn distribution(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    let all = histogram.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut below = 0;
    let mut step = i64::MIN;
    for value in histogram.iter_recorded() {
        below += value.count_at_value();
        let us = value.value_iterated_to() as f64 / 1e3;
        let next = (us.max(1e-3).ln() * STEPS) as i64;
        if next == step {
            points.pop();
        }
        points.push((us, below as f64 / all));
        step = next;
    }
    points
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_distribution_stays_where_it_is() {
        let mut histogram = Histogram::new(3).unwrap();
        for ns in 1..=100_000 {
            histogram.record(ns).unwrap();
        }
        let points = distribution(&histogram);
        assert!((100..600).contains(&points.len()), "{}", points.len());
        for (us, share) in points {
            assert!((share - us / 100.0).abs() < 0.002, "{us} us: {share}");
        }
    }
}
