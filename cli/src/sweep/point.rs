//! A point of a grid: one comparison of a scheduler's runs with their control.

use anyhow::Result;
use report::Run;

use super::grid::Grid;
use crate::compare::{Choice, Plan, Work};
use crate::evaluate::{Flags, Source};

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
    let sets: Vec<String> = (grid.axes.iter().zip(values))
        .map(|(axis, value)| format!("--set {}={value}", axis.set))
        .collect();
    let flags = Flags::new(Source::Compare(&grid.compare), &sets.join(" "), &grid.folder)?;
    let work = flags.work()?;
    let schedulers = [scheduler.to_owned()];
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
pub fn rows(grid: &Grid, point: usize) -> Vec<String> {
    let (values, scheduler) = grid.at(point);
    let values: String = values.iter().map(|value| format!("{value},")).collect();
    let begin = format!("{point},{values}{scheduler},");
    match compared(grid, point) {
        Ok(runs) => runs.iter().map(|figures| format!("{begin}{figures},")).collect(),
        Err(error) => {
            let nothing = ",".repeat(FIGURES.len() + 2);
            let why = format!("{error:#}").replace('"', "\"\"").replace('\n', " ");
            vec![format!("{begin}{nothing}\"{why}\"")]
        }
    }
}

fn compared(grid: &Grid, point: usize) -> Result<Vec<String>> {
    let (work, plan) = plan(grid, point)?;
    let samples = plan.run(&work, &indicatif::ProgressBar::hidden())?;
    let comparison = report::compare(plan.setup(&work), samples)?;
    Ok(comparison.compared().map(figures).collect())
}

fn figures(run: &Run) -> String {
    let figures = [
        run.isolation_slowdown_pct,
        run.signed_slowdown_pct,
        run.slowdown_only_pct,
        run.remote_avx_overhead_pct,
        run.cpu_time_vs_sse_pct,
        run.unfairness,
        run.jain,
    ];
    let figures: Vec<String> = figures.map(|figure| format!("{figure:.4}")).to_vec();
    format!("{},{},{}", run.background, run.sensors, figures.join(","))
}
