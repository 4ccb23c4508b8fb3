//! `evenkeel sweep`: a grid of runs, in shards that any launcher can run.

mod grid;
mod merge;
mod part;
mod point;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args as ClapArgs, Subcommand};
use rayon::prelude::*;

use crate::compare::with_jobs;
use crate::{files, terminal};
use grid::Grid;
use part::{Origin, Shard};
use table::Table;

const EXAMPLES: &str = "\
Examples:
  evenkeel sweep smt.toml -o parts
      all points of the grid, one part
  seq 8 | parallel --joblog log --resume-failed \\
      evenkeel sweep smt.toml -o parts --jobs 1 --shard {}/8
      the same in eight shards; a shard that failed is run again alone
  evenkeel sweep merge parts -o smt.parquet
      one table, the same bytes for any number of shards

A grid is a file:
  schema = 1
  compare = \"half-load\"               # the arguments of evenkeel compare: work and settings;
                                      # or `mixes = 500`: random mixes, an axis of their own
  schedulers = [\"cfs\", \"even\"]
  replicates = 3                      # seeds of each point
  axis = [
      { set = \"smt-share\", values = [550, 600, 650] },
      { set = \"hold-us\", from = 0, to = 1000, steps = 11 },
  ]";

/// A grid of runs, in shards that any launcher can run.
///
/// Every combination of the axes' values and of the schedulers is a point. A shard takes the points
/// that a hash deals to it, runs them on all CPUs and writes one part, or none where it fails. A
/// point that cannot be simulated has a row that says why.
#[derive(ClapArgs)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    run: Option<Run>,
}

#[derive(Subcommand)]
enum Verb {
    /// Puts the parts of a grid together, or names those that are missing, double or foreign.
    Merge(Merge),
}

#[derive(ClapArgs)]
struct Run {
    /// The grid
    #[arg(value_name = "GRID.toml")]
    grid: PathBuf,

    /// Folder of the parts
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Which of N shards to run; a part that is there already is kept
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,

    /// Runs at a time; the results do not depend on it [default: one a CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

#[derive(ClapArgs)]
struct Merge {
    /// Folder of the parts
    folder: PathBuf,

    /// Writes the table of all points as Parquet, or as CSV
    #[arg(short, long, value_name = "FILE.parquet|FILE.csv")]
    output: PathBuf,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    match (args.verb, args.run) {
        (Some(Verb::Merge(merge)), _) => merged(&merge),
        (None, Some(run)) => shard(&run),
        (None, None) => anyhow::bail!("name a grid and a folder (-o)"),
    }
}

fn shard(args: &Run) -> Result<()> {
    let grid = Grid::read(&args.grid)?;
    let origin = Origin { grid: grid.digest(), shard: args.shard };
    let path = args.output.join(args.shard.file_name());
    std::fs::create_dir_all(&args.output).with_context(|| args.output.display().to_string())?;
    files::refuse_unwritable(&path)?;
    if path.exists() {
        let (_, found) = part::read(&path)?;
        let name = path.display();
        ensure!(found == origin, "{name}: it is of another grid or version; name another folder");
        return terminal::print(&format!("{name} is there already and is kept\n"));
    }
    // Whatever is wrong with the work or with a scheduler is wrong with the first point of each
    // scheduler, before hours of others.
    (0..grid.schedulers.len()).try_for_each(|at| point::plan(&grid, at).map(drop))?;
    let points: Vec<usize> = (0..grid.points()).filter(|&at| args.shard.has(at as u64)).collect();
    let bar = terminal::progress(points.len() as u64, "points");
    let rows: Vec<Vec<table::Row>> = with_jobs(args.jobs, || {
        let rows = points.par_iter().map(|&at| {
            let rows = point::rows(&grid, at);
            bar.inc(1);
            rows
        });
        Ok(rows.collect())
    })?;
    bar.finish_and_clear();
    let axes = grid.axes.iter().map(|axis| axis.set.clone()).collect();
    let table = Table { axes, rows: rows.into_iter().flatten().collect() };
    files::write(&path, &table.parquet(&origin.to_string())?)?;
    terminal::print(&said(&path, points.len(), grid.points(), table.failed()))
}

fn said(path: &Path, points: usize, all: usize, failed: usize) -> String {
    let failed = match failed {
        0 => String::new(),
        _ => format!("; {failed} of them could not be simulated, and say why"),
    };
    format!("{}: {points} of {all} points{failed}\n", path.display())
}

fn merged(args: &Merge) -> Result<()> {
    files::refuse_unwritable(&args.output)?;
    let (table, grid) = merge::merged(&args.folder)?;
    let bytes = match args.output.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => table.csv()?,
        Some("parquet") => table.parquet(&Origin { grid, shard: Shard::WHOLE }.to_string())?,
        _ => anyhow::bail!("-o: expected a name that ends with .csv or .parquet"),
    };
    files::write(&args.output, &bytes)?;
    let failed = match table.failed() {
        0 => String::new(),
        failed => format!("; {failed} say why their point could not be simulated"),
    };
    terminal::print(&format!("{}: {} rows{failed}\n", args.output.display(), table.rows.len()))
}
