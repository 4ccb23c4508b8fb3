//! How long wake-ups waited.

use hdrhistogram::Histogram;

use super::figures::{both, runs_of, series};
use super::parts::{Cell, Part, details, table};
use crate::comparison::{Comparison, Run};
use crate::drawing::escape;
use crate::format::{clean, microseconds, variant};
use crate::svg::{self, Curve};
use crate::verdict::findings;

/// Shortest wait worth a chart: a reader cannot tell a wake-up from its switch below.
const SHOWN_US: f64 = 1.0;

/// How long wake-ups wait, by scheduler, for the background that slows most.
pub(super) fn latency(comparison: &Comparison) -> Option<Part> {
    let found = findings(comparison);
    let first = found.first()?;
    let runs: Vec<&Run> = runs_of(comparison, &first.baseline.background)
        .filter(|run| run.sensors == first.baseline.sensors && run.wake_latency.count > 0)
        .collect();
    // Threads that only ever start wait for nothing that a chart could show.
    if runs.iter().all(|run| run.wake_latency.p99_us < SHOWN_US) {
        return None;
    }
    let best = first.best.filter(|run| run.wake_latency.count > 0);
    let mut title = format!(
        "99 % of wake-ups run within {} under {}",
        microseconds(first.baseline.wake_latency.p99_us),
        clean(&first.baseline.scheduler)
    );
    if let Some(best) = best {
        let p99 = microseconds(best.wake_latency.p99_us);
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
    let figure = both(&title, |width| svg::ecdf(&curves, svg::WAKE_LATENCY, width));
    let rows: Vec<Vec<Cell>> = comparison.runs.iter().map(latency_row).collect();
    let heads =
        ["scheduler", "background", "#wake-ups", "#50 %", "#90 %", "#99 %", "#99.9 %", "#longest"];
    let html = format!(
        "<p class=\"soft\">Share of the wake-ups of judged programs that ran within a time; \
         background {}.</p>\n{figure}{}",
        escape(&variant(&first.baseline.background)),
        details("Quantiles", &table("Quantiles of the time that wake-ups wait", &heads, &rows))
    );
    Some(Part { title, html })
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
        Cell::text(&run.scheduler),
        Cell::text(&variant(&run.background)),
        Cell::number(&latency.count.to_string()),
    ];
    let quantiles =
        [latency.p50_us, latency.p90_us, latency.p99_us, latency.p999_us, latency.max_us];
    row.extend(quantiles.map(|us| Cell::number(&microseconds(us))));
    row
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
