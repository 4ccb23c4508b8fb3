//! `evenkeel evaluate`: a study of a scheduler, on one page.

mod study;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;
use report::{About, Evaluation, Kind, Measured};

use self::study::{Study, Unit};
use crate::compare::{Choice, Plan, Work, command, with_jobs};
use crate::mixes::{Drawn, Planned};
use crate::{files, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel evaluate docs/measurements/even/study.toml --page out/evidence.html
      all that is known of `even`: experiments, mixes, recordings, its parts left out, mistakes
  evenkeel evaluate mine.toml --mixes 20 --replicates 4
      a quick look at a study of your own; docs/decisions/0020-studies.md says what is in one";

/// A study of a scheduler, on one page.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The study: works, schedulers, goals, and what may be wrong
    study: PathBuf,

    /// How many random mixes, instead of what the study says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    mixes: Option<u32>,

    /// Mixes of the half that nobody looks at while developing (evenkeel mixes --help)
    #[arg(long)]
    held_out: bool,

    /// Seeds to average over, instead of what the study says
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
    let drawn = Drawn { mixes: study.mixes(), held_out: args.held_out };
    let planned: Vec<(Unit, Runs)> = study
        .units()?
        .into_iter()
        .map(|unit| Runs::new(&unit, &drawn).map(|runs| (unit, runs)))
        .collect::<Result<_>>()?;
    let on_stdout = args.files().filter(|path| *path == Path::new("-")).count();
    ensure!(on_stdout <= 1, "standard output (-) can take one of --json, --csv, --page");
    args.files().try_for_each(files::refuse_unwritable)?;
    if study.has_mixes() {
        drawn.remind();
    }
    let runs: usize = planned.iter().map(|(_, runs)| runs.count()).sum();
    let bar = terminal::progress(runs as u64, "simulating");
    let measured: Vec<Measured> = with_jobs(args.jobs, || {
        planned.into_iter().map(|(unit, runs)| measure(unit, &runs, &bar)).collect()
    })?;
    bar.finish_and_clear();
    let evaluation = report::evaluate(about(&study, &drawn), measured);
    write(&evaluation, &args, on_stdout == 1)?;
    let (missed, all) = evaluation.missed();
    ensure!(!args.check || missed == 0, "{missed} of {all} goals are missed");
    Ok(())
}

fn about(study: &Study, drawn: &Drawn) -> About {
    About {
        evenkeel: env!("CARGO_PKG_VERSION").into(),
        title: study.title.clone(),
        description: study.description.clone(),
        judged: study.judged.clone(),
        ablations: study.ablations.clone(),
        beside: study.beside.clone(),
        half: format!("{}, {} of them", drawn.half(), drawn.mixes),
        command: command(),
    }
}

/// What is to be run for a unit of a study.
enum Runs {
    Mixes(Planned),
    /// An experiment or a recording.
    One(Box<(Work, Plan)>),
}

impl Runs {
    fn new(unit: &Unit, drawn: &Drawn) -> Result<Self> {
        let runs = Self::planned(unit, drawn).with_context(|| unit.title())?;
        let known = match &runs {
            Self::Mixes(planned) => planned.backgrounds(),
            Self::One(one) => one.0.compared_backgrounds(),
        };
        let unknown = unit.goals.backgrounds().find(|name| !known.iter().any(|it| it == name));
        let title = unit.title();
        ensure!(
            unknown.is_none(),
            "{title}: a goal is for {:?}, which is not one of {}",
            unknown.unwrap(),
            known.join(", ")
        );
        Ok(runs)
    }

    fn planned(unit: &Unit, drawn: &Drawn) -> Result<Self> {
        let Some(work) = unit.work()? else {
            let planned = Planned::new(drawn, &unit.schedulers, unit.replicates, unit.options())?;
            return Ok(Self::Mixes(planned));
        };
        let choice = Choice {
            schedulers: &unit.schedulers,
            backgrounds: &[],
            programs: &[],
            replicates: unit.replicates,
        };
        let plan = Plan::new(&work, work.name(), unit.options(), &choice)?;
        Ok(Self::One(Box::new((work, plan))))
    }

    fn count(&self) -> usize {
        match self {
            Self::Mixes(planned) => planned.runs(),
            Self::One(one) => one.1.runs(),
        }
    }
}

fn measure(unit: Unit, runs: &Runs, bar: &ProgressBar) -> Result<Measured> {
    bar.set_message(unit.title());
    let (kind, mixes) = match runs {
        Runs::Mixes(planned) => (Kind::Mixes, planned.run(bar)?),
        Runs::One(one) => {
            let (work, plan) = &**one;
            let comparison = report::compare(plan.setup(work), plan.run(work, bar)?)?;
            let kind = match work {
                Work::Scenario(_) => Kind::Scenario,
                Work::Recording(_) => Kind::Recording,
            };
            (kind, vec![report::mix(0, &comparison)])
        }
    };
    Ok(Measured {
        name: unit.name,
        kind,
        command: unit.command,
        variant: unit.variant,
        goals: unit.goals,
        mixes,
    })
}

fn write(evaluation: &Evaluation, args: &Args, is_on_stdout: bool) -> Result<()> {
    if !is_on_stdout {
        let table = report::evaluation_table(evaluation, terminal::width(), terminal::color());
        terminal::print(&table)?;
    }
    if let Some(path) = &args.json {
        files::write_json(path, evaluation)?;
    }
    if let Some(path) = &args.csv {
        files::write(path, report::evaluation_csv(evaluation)?.as_bytes())?;
    }
    if let Some(path) = &args.page {
        files::write(path, report::evaluation_page(evaluation).as_bytes())?;
        if !is_on_stdout {
            terminal::print(&format!("\nThe page with all charts: {}\n", path.display()))?;
        }
    }
    Ok(())
}
