//! `evenkeel reproduce`: every published figure, and ours.

mod answer;
mod computed;
mod figures;
mod frequency_policies;
mod profiler;
mod scenarios;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use report::reproduction::Reproduction;

use crate::{files, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel reproduce --page figures.html
      every figure of the four documents, on one page; about a minute
  evenkeel reproduce --only T089,T090
      some figures, by their numbers";

/// Every published figure, and ours.
///
/// Simulates what a model can answer, and says of each other figure what measures it, or why
/// nothing here does. Tolerances are those that were written down before the first run.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Figures to answer, by number: T089, or P01 for papers beside the documents [default: all]
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    only: Vec<String>,

    /// Seeds to average over [default: what each scenario says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    replicates: Option<u32>,

    /// First seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::run_options::seed)]
    seed: u64,

    /// Writes a page to read and print
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    page: Option<PathBuf>,

    /// Writes the answers as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<PathBuf>,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    for path in args.page.iter().chain(&args.json) {
        files::refuse_unwritable(path)?;
    }
    let all = figures::read()?;
    if let Some(unknown) = args.only.iter().find(|id| !all.iter().any(|it| it.id == **id)) {
        let last = all.last().map_or("", |it| it.id.as_str());
        ensure!(false, "--only: no figure {unknown:?}; they are T001 to T107, and P01 to {last}");
    }
    let is_wanted = |id: &String| args.only.is_empty() || args.only.contains(id);
    let wanted: Vec<_> = all.into_iter().filter(|it| is_wanted(&it.id)).collect();
    let answers = answer::all(&wanted, args.seed, args.replicates)?;
    let reproduction = Reproduction::new(args.seed, args.replicates, answers);
    if let Some(path) = &args.page {
        files::write(path, report::reproduction_page(&reproduction).as_bytes())?;
    }
    let took_stdout =
        args.json.as_ref().map(|path| files::write_json(path, &reproduction)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&report::fit(&reproduction.text(), terminal::width()))
}
