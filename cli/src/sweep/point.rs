//! A point of a grid: one comparison of a scheduler's runs with their control.

use anyhow::{Result, bail};
use report::Run;

use super::grid::{Axis, Grid, Of};
use super::table::Row;
use crate::compare::{Choice, Plan, Work};
use crate::evaluate::{Flags, Source};
use crate::scx_source;

/// The figures of a row, as `compare --json` names them.
pub const FIGURES: [&str; 7] = [
    "isolation_slowdown_pct",
    "signed_slowdown_pct",
    "slowdown_only_pct",
    "remote_avx_overhead_pct",
    "cpu_time_vs_sse_pct",
    "unfairness",
    "jain",
];

/// The work of a point, and its runs.
pub fn plan(grid: &Grid, point: usize) -> Result<(Work, Plan)> {
    let (values, scheduler) = grid.at(point);
    let set = |(axis, value): (&Axis, f64)| format!("--set {}={value}", axis.set);
    let sets = |values: &[f64]| -> String {
        let axes = &grid.axes[grid.axes.len() - values.len()..];
        axes.iter().zip(values.iter().copied()).map(set).collect::<Vec<_>>().join(" ")
    };
    let (work, flags) = match (&grid.of, values.as_slice()) {
        (Of::Mixes, [seed, others @ ..]) => {
            let flags = Flags::new(Source::Mixes, &sets(others), &grid.folder)?;
            (Work::mix(*seed as u64)?, flags)
        }
        (Of::Mixes, []) => bail!("a grid of mixes has their axis"),
        (Of::Compare(arguments), values) => {
            let flags = Flags::new(Source::Compare(arguments), &sets(values), &grid.folder)?;
            (flags.work()?, flags)
        }
    };
    let schedulers = [scx_source::seen_from(scheduler, &grid.folder)];
    let choice = Choice {
        schedulers: &schedulers,
        backgrounds: &[],
        programs: &[],
        replicates: grid.replicates,
    };
    let plan = Plan::new(&work, work.name(), flags.options(), &choice)?;
    plan.check(&work)?;
    Ok((work, plan))
}

/// The rows of a point, one for each background; of a point that fails, one with the reason.
pub fn rows(grid: &Grid, point: usize) -> Vec<Row> {
    let (values, scheduler) = grid.at(point);
    let row =
        Row { point: point as u64, values, scheduler: scheduler.to_owned(), ..Row::default() };
    match compared(grid, point) {
        Ok(runs) => runs
            .into_iter()
            .map(|(background, sensors, figures)| Row {
                background: Some(background),
                sensors: Some(sensors),
                figures: Some(figures),
                ..row.clone()
            })
            .collect(),
        Err(error) => vec![Row { error: Some(format!("{error:#}")), ..row }],
    }
}

type Compared = (String, String, [f64; FIGURES.len()]);

fn compared(grid: &Grid, point: usize) -> Result<Vec<Compared>> {
    let (work, plan) = plan(grid, point)?;
    let samples = plan.run(&work, &indicatif::ProgressBar::hidden())?;
    let comparison = report::compare(plan.setup(&work), samples)?;
    let of = |run: &Run| (run.background.clone(), run.sensors.clone(), figures(run));
    Ok(comparison.compared().map(of).collect())
}

fn figures(run: &Run) -> [f64; FIGURES.len()] {
    [
        run.isolation_slowdown_pct,
        run.signed_slowdown_pct,
        run.slowdown_only_pct,
        run.remote_avx_overhead_pct,
        run.cpu_time_vs_sse_pct,
        run.unfairness,
        run.jain,
    ]
}
