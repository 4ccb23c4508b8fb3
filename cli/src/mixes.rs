//! `evenkeel mixes`: schedulers over random program mixes.

use std::path::PathBuf;

use anyhow::Result;
use indicatif::ProgressBar;
use rayon::prelude::*;
use report::Mix;
use scenarios::Scenario;

use crate::compare::{Choice, Plan, Work, with_jobs};
use crate::run_options::{RunOptions, SCHEDULERS};
use crate::{files, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel mixes --mixes 3 --scheduler fair,fair-isolation
      two schedulers over the first three mixes
  evenkeel mixes --mixes 2 --scheduler fair,fair-isolation --sensors d7,rules --json -
      with two sensor sets, results as JSON, the figures of each mix among them
  evenkeel mixes --show 17
      the scenario of mix 17; saved to a file it is one for evenkeel compare";

/// The release whose held-out half this version has.
const TAG: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// Schedulers over random program mixes: figures with intervals, paired.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// How many mixes, of the half that is chosen
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    mixes: u32,

    /// The half that nobody looks at while developing: its seeds are a hash of the release's name.
    /// Log each look at it in docs/measurements/mixes.md
    #[arg(long)]
    held_out: bool,

    /// Schedulers to compare; differences are to the first [default: fair, then all others]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    scheduler: Vec<String>,

    /// Seeds of each mix to average over [default: 8, as its scenario says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    replicates: Option<u32>,

    /// Prints the scenario of a mix instead, by its seed
    #[arg(long, value_name = "SEED", conflicts_with_all = ["held_out", "json"])]
    show: Option<u64>,

    /// Writes the results as JSON; - is standard output, then without the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Runs at a time; the results do not depend on it [default: one a CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    #[command(flatten)]
    run: RunOptions,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    if let Some(seed) = args.show {
        return terminal::print(&scenarios::mix(seed));
    }
    let schedulers = schedulers(&args.scheduler);
    let planned: Vec<Planned> = seeds(args.held_out, args.mixes)
        .map(|seed| Planned::new(seed, &schedulers, args.replicates, &args.run))
        .collect::<Result<_>>()?;
    args.json.iter().try_for_each(|path| files::refuse_unwritable(path))?;
    if args.held_out {
        eprintln!("evenkeel: {}", reminder());
    }
    let runs: usize = planned.iter().map(|planned| planned.plan.runs()).sum();
    let bar = terminal::progress(runs as u64, "simulating");
    let mixes: Vec<Mix> = with_jobs(args.jobs, || {
        planned.par_iter().map(|planned| planned.run(&bar)).collect::<Result<_>>()
    })?;
    bar.finish_and_clear();
    let setup = planned[0].plan.setup(&planned[0].work);
    let result = report::mixes(setup, &half(args.held_out), mixes);
    let took_stdout = args.json.map(|path| files::write_json(&path, &result)).transpose()?;
    if took_stdout != Some(true) {
        let table = report::mixes_table(&result, terminal::width(), terminal::color());
        terminal::print(&table)?;
    }
    Ok(())
}

/// Those asked for; else all of them, `fair` first.
fn schedulers(asked: &[String]) -> Vec<String> {
    if !asked.is_empty() {
        return asked.to_vec();
    }
    let others = SCHEDULERS.iter().filter(|name| **name != "fair");
    std::iter::once(&"fair").chain(others).map(|&name| name.to_owned()).collect()
}

fn seeds(held_out: bool, count: u32) -> impl Iterator<Item = u64> {
    (0..count).map(move |index| {
        if held_out {
            scenarios::held_out_seed(TAG, index)
        } else {
            scenarios::development_seed(index)
        }
    })
}

fn half(held_out: bool) -> String {
    if held_out { format!("held-out of {TAG}") } else { "development".to_owned() }
}

fn reminder() -> String {
    format!(
        "this is the held-out half of {TAG}: log this look in docs/measurements/mixes.md, and \
         change nothing because of it"
    )
}

/// The runs of a mix.
struct Planned {
    seed: u64,
    work: Work,
    plan: Plan,
}

impl Planned {
    fn new(
        seed: u64,
        schedulers: &[String],
        replicates: Option<u32>,
        options: &RunOptions,
    ) -> Result<Self> {
        let file = format!("mix {seed}");
        let scenario = Scenario::parse(&scenarios::mix(seed), &file)?;
        let work = Work::Scenario(Box::new(scenario));
        let choice = Choice { schedulers, backgrounds: &[], programs: &[], replicates };
        let plan = Plan::new(&work, &file, options, &choice)?;
        Ok(Self { seed, work, plan })
    }

    fn run(&self, bar: &ProgressBar) -> Result<Mix> {
        let samples = self.plan.run(&self.work, bar)?;
        let comparison = report::compare(self.plan.setup(&self.work), samples)?;
        Ok(report::mix(self.seed, &comparison))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_have_no_mix_in_common() {
        let held_out: std::collections::BTreeSet<u64> = seeds(true, 10_000).collect();
        assert_eq!(held_out.len(), 10_000);
        assert!(seeds(false, 10_000).all(|seed| !held_out.contains(&seed)));
        assert_eq!(seeds(false, 3).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_look_at_the_held_out_half_says_which_and_where_to_log_it() {
        let says = reminder();
        assert!(says.contains(TAG) && says.contains("docs/measurements/mixes.md"), "{says}");
        assert_eq!(
            (half(false).as_str(), half(true)),
            ("development", format!("held-out of {TAG}"))
        );
    }

    #[test]
    fn fair_is_what_others_are_compared_with_unless_said_otherwise() {
        let all = schedulers(&[]);
        assert_eq!((all[0].as_str(), all.len()), ("fair", SCHEDULERS.len()));
        assert_eq!(schedulers(&["cfs".to_owned()]), ["cfs"]);
    }
}
