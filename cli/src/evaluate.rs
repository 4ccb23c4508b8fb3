//! `evenkeel evaluate`: a study of a scheduler, on one page.

mod study;
mod unit;

pub use unit::{Flags, Source};

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use report::{About, Evaluation, Measured};

use self::study::Study;
use self::unit::{Runs, Unit};
use crate::compare::{command, with_jobs};
use crate::missed::Missed;
use crate::mixes::Drawn;
use crate::{files, terminal};

const EXAMPLES: &str = "\
A study is a TOML file with these keys:
  schema = 1, title, description
  judged       the scheduler whose goals these are
  schedulers   all that run; differences are to the first
  ablations    `judged` with a part left out, each; differences are to `judged`
  shown        those that charts show and that run in variants
  replicates   seeds of each work; mixes have 8 of their own
  [mixes]      random mixes: count, goals
  [[work]]     name, compare (arguments of `evenkeel compare`), goals, varies (true)
  [[variant]]  name, flags (of compare and mixes), allowance (a factor on the goals), works (all
               that vary), replicates
  goals        by background, such as { avx2 = 2, avx512 = 2.5 }: slowdown_max_pct, slower_max_pct,
               program_max_pct, right_min_pct, found_min_pct, wake_p99_max (a ratio); by scheduler:
               culprits_at_least_of, throughput_at_least_of. Variants are judged by the first three

Examples:
  evenkeel evaluate data/measurements/even/study.toml --page out/evidence.html
      all that is known of `even`: experiments, mixes, recordings, its parts left out, mistakes
  evenkeel evaluate mine.toml --mixes 20 --replicates 4
      a quick look at a study of your own";

/// A study of a scheduler, on one page.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The study: works, schedulers, goals, and mistakes of the policy
    study: PathBuf,

    /// How many random mixes, instead of the study's number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    mixes: Option<u32>,

    /// Mixes of the half that stays unseen during development (evenkeel mixes --help)
    #[arg(long)]
    held_out: bool,

    /// Seeds to average over, instead of the study's number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    replicates: Option<u32>,

    /// Runs at a time; the results do not depend on it [default: one a CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Writes a page with charts; it needs no network
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// Writes the summaries as JSON; - is standard output, then without the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Writes a row a work, mix, background, scheduler and sensor set as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Fails when a goal is missed
    #[arg(long)]
    check: bool,
}

impl Args {
    fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.json, &self.csv, &self.page].into_iter().flatten().map(PathBuf::as_path)
    }
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    let study = Study::read(&args.study, args.mixes, args.replicates)?;
    let drawn = study.mixes().map(|mixes| Drawn { mixes, held_out: args.held_out });
    for (flag, is_given) in [("--mixes", args.mixes.is_some()), ("--held-out", args.held_out)] {
        ensure!(!is_given || drawn.is_some(), "{flag}: the study has no mixes");
    }
    let planned = plan(&study, drawn).with_context(|| args.study.display().to_string())?;
    let on_stdout = args.files().filter(|path| *path == Path::new("-")).count();
    ensure!(on_stdout <= 1, "standard output (-) can take one of --json, --csv, --page");
    args.files().try_for_each(files::refuse_unwritable)?;
    if let Some(drawn) = drawn {
        drawn.remind();
    }
    let runs: usize = planned.iter().map(|(_, runs)| runs.count()).sum();
    let bar = terminal::progress(runs as u64, "simulating");
    let measured: Vec<Measured> = with_jobs(args.jobs, || {
        planned.into_iter().map(|(unit, runs)| unit.measure(&runs, &bar)).collect()
    })?;
    bar.finish_and_clear();
    let evaluation = report::evaluate(about(&study, drawn), measured);
    write(&evaluation, &args)?;
    let printed = if on_stdout == 0 { print(&evaluation, args.page.as_deref()) } else { Ok(()) };
    let (missed, all) = evaluation.missed();
    if args.check && missed > 0 {
        return Err(Missed(format!("{missed} of {all} goals are missed")).into());
    }
    printed
}

/// Everything is planned before anything runs, so that no mistake is found after hours.
fn plan(study: &Study, drawn: Option<Drawn>) -> Result<Vec<(Unit, Runs)>> {
    let plan = |unit: Unit| {
        let runs = unit.plan(drawn).with_context(|| unit.title())?;
        Ok((unit, runs))
    };
    study.units()?.into_iter().map(plan).collect()
}

fn about(study: &Study, drawn: Option<Drawn>) -> About {
    About {
        evenkeel: env!("CARGO_PKG_VERSION").into(),
        title: study.title.clone(),
        description: study.description.clone(),
        judged: study.judged.clone(),
        ablations: study.ablations.clone(),
        shown: study.shown.clone(),
        half: drawn.map(|drawn| drawn.half()),
        command: command(),
    }
}

fn write(evaluation: &Evaluation, args: &Args) -> Result<()> {
    if let Some(path) = &args.json {
        files::write_json(path, evaluation)?;
    }
    if let Some(path) = &args.csv {
        files::write(path, report::evaluation_csv(evaluation)?.as_bytes())?;
    }
    if let Some(path) = &args.page {
        files::write(path, report::evaluation_page(evaluation).as_bytes())?;
    }
    Ok(())
}

fn print(evaluation: &Evaluation, page: Option<&Path>) -> Result<()> {
    terminal::print(&report::evaluation_table(evaluation, terminal::width(), terminal::color()))?;
    if let Some(path) = page {
        terminal::print(&format!("\nThe page with all charts: {}\n", path.display()))?;
    }
    Ok(())
}
