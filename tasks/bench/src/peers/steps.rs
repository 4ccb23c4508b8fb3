//! `cargo steps`: from a central queue to the tree, one step after the other as the thesis
//! went, all on this machine and with the same programs.
//!
//! The steps are those of the thesis's chapters 3 to 5, and then ours. In 3 and 4 tasks use the
//! system's allocator, as in the thesis.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::chart::{self, Shown, Sweep};
use super::plan::{self, Size, Work};
use super::runtimes::{Model, Runtime};
use super::summary::{self, Figures, Group};
use super::{QUICK, all_are_ok, build, load, machine, measure, results, table};
use commands::target;

/// The thesis's schedulers and allocators, from the first to ours.
///
/// Writes samples.csv, summary.txt and steps.svg.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    settings: measure::Settings,
    /// Where the results go.
    #[arg(long, default_value = "out/steps")]
    out: PathBuf,
    /// Small sizes: do all steps work?
    #[arg(long)]
    quick: bool,
}

/// Name of each step, and its rules. All but the last are without our cutoff.
const STEPS: [(&str, &str); 14] = [
    ("plain", "central-lifo-system-nocutoff"),
    ("polling", "central-lifo-polling-system-nocutoff"),
    ("successor", "central-lifo-successor-system-nocutoff"),
    (BASE, "central-priority-system-nocutoff"),
    ("static-fifo", "tree-fifo-static20-give-system-nocutoff"),
    ("static-lifo", "tree-lifo-static20-give-system-nocutoff"),
    ("dynamic-fifo", "tree-fifo-dynamic-give-system-nocutoff"),
    ("dynamic-lifo", "tree-lifo-dynamic-give-system-nocutoff"),
    ("balanced-fifo", "tree-fifo-dynamic-rebalance-system-nocutoff"),
    ("balanced-lifo", "tree-lifo-dynamic-rebalance-system-nocutoff"),
    ("pools", "tree-lifo-dynamic-rebalance-pools-nocutoff"),
    ("old-pools", "central-priority-pools-nocutoff"),
    ("pull", "tree-lifo-dynamic-pull-pools-nocutoff"),
    ("evenkeel", "tree"),
];

/// The baseline of the thesis: the default scheduler of its time.
const BASE: &str = "priority";

/// Rows of the thesis's matrix.
const ORDER: i64 = 16_384;

const SWEEPS: [Sweep; 2] = [
    Sweep {
        name: "multiaxpy-noop",
        title: "multiaxpy-noop: the same work in ever smaller leaves",
        x_caption: "elements a leaf; half of it, twice the tasks",
        block: chart::leaf_of_multiaxpy,
        shown: Shown::Median,
        is_falling: true,
    },
    Sweep {
        name: "cholesky",
        title: "cholesky without its numbers: 16,384 rows in ever smaller tiles",
        x_caption: "rows and columns a tile; half of it, eight times the tasks",
        block: |work| {
            let count = work.parameter("blocks").filter(|_| work.program == "cholesky")?;
            Some(ORDER / count)
        },
        shown: Shown::Median,
        is_falling: true,
    },
];

/// Builds and runs the steps, and writes the results.
pub fn run(args: &Args) -> Result<()> {
    args.settings.check()?;
    let folder = target().join("peers");
    let steps = STEPS.map(|(name, rules)| Runtime {
        rules: Some(rules),
        ..Runtime::new(name, Model::Evenkeel, name == "evenkeel")
    });
    let works = works(if args.quick { Size::Quick } else { Size::Full });

    let jobs = plan::jobs(&works, &steps);
    build::all(&folder, &jobs)?;
    let begin = load::now()?;
    let samples = measure::all(&folder, &jobs, &args.settings)?;
    let others = begin.until(&load::now()?);

    let groups = summary::groups(&samples, &works, &steps);
    let about = machine::about(&folder.join("packages"), &steps, &args.settings, &others);
    let mut text = format!("{about}{}\n\n", if args.quick { QUICK.trim_start() } else { "" });
    for sweep in &SWEEPS {
        text += &series(sweep, &groups);
    }
    text += &failed(&groups);
    let drawing = chart::sheet(&SWEEPS, &groups, &steps).context("no run has a time")?;
    results::write(&args.out, &samples, &text)?;
    results::write_drawings(&args.out, &[("steps", drawing)])?;
    print!("{text}");
    println!("written to {}", args.out.display());
    all_are_ok(&samples)
}

/// The thesis's own problems, as far as two cores do them in some seconds. Tiles of more than 512
/// rows would be hardly any tasks, which compute nothing.
fn works(size: Size) -> Vec<Work> {
    let tiles: &[i64] = match size {
        Size::Full => &[64, 128, 256, 512],
        Size::Quick => &[128, 256, 512],
    };
    let cholesky =
        tiles.iter().map(|tile| Work::new("cholesky", &[("blocks", ORDER / tile), ("size", 0)]));
    plan::multiaxpy_noop(size).into_iter().chain(cholesky).collect()
}

/// A line for each step: for each size the seconds, their spread, and the speed relative to
/// [`BASE`].
fn series(sweep: &Sweep, groups: &[Group]) -> String {
    let columns: Vec<(i64, &Group)> =
        groups.iter().filter_map(|group| Some((sweep.block(group)?, group))).collect();
    let mut text = format!(
        "{}; median seconds, (worst - best) / median, times as fast as {BASE}\n  {:<13}",
        sweep.title, ""
    );
    for (block, _) in &columns {
        let _ = write!(text, " {:>20}", table::grouped(block.unsigned_abs()));
    }
    for (step, _) in STEPS {
        let _ = write!(text, "\n  {step:<13}");
        for (_, group) in &columns {
            let _ = write!(text, " {:>20}", cell(group, step));
        }
    }
    text + "\n\n"
}

fn cell(group: &Group, step: &str) -> String {
    let median = |figures: Figures| figures.seconds(figures.wall.median);
    match (figures(group, step), figures(group, BASE)) {
        (Some(own), base) => {
            let faster =
                base.map_or(String::new(), |base| format!("{:.2}x", median(base) / median(own)));
            format!("{:.4} {:>4.0}% {faster:>6}", median(own), 100.0 * own.wall.width)
        }
        (None, _) => "failed".to_string(),
    }
}

/// Of a step all of whose runs were well.
fn figures(group: &Group, step: &str) -> Option<Figures> {
    let row = group.rows.iter().find(|row| row.runtime == step)?;
    row.figures.filter(|_| row.failures.is_empty())
}

fn failed(groups: &[Group]) -> String {
    let rows = groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row)));
    rows.filter(|(_, row)| !row.failures.is_empty())
        .map(|(group, row)| {
            format!("{} on {}: {}\n", table::title(group), row.runtime, table::failures(row))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_has_a_place_in_the_drawing() {
        for size in [Size::Quick, Size::Full] {
            for work in works(size) {
                let places = SWEEPS.iter().filter(|sweep| (sweep.block)(&work).is_some());
                assert_eq!(places.count(), 1, "{work:?}");
            }
        }
    }

    #[test]
    fn the_base_of_comparison_is_a_step() {
        assert!(STEPS.iter().any(|(name, _)| *name == BASE));
    }
}
