//! `evenkeel mixes`: schedulers over random program mixes.

use std::path::PathBuf;

use anyhow::Result;
use indicatif::ProgressBar;
use report::{Mix, Setup};

use crate::compare::{Choice, Plan, Work, with_jobs};
use crate::parallel::in_order;
use crate::run_options::{RunOptions, SCHEDULERS, seed};
use crate::settings::{replay, results};
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

    /// The half that stays unseen during development: its seeds are a hash of the release's name.
    /// Log each look in docs/measurements/mixes.md
    #[arg(long)]
    held_out: bool,

    /// Schedulers to compare; differences are to the first [default: fair, then all others]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    scheduler: Vec<String>,

    /// Seeds of each mix to average over [default: 8, as its scenario says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    replicates: Option<u32>,

    /// Prints the scenario of a mix instead, by its seed
    #[arg(long, value_name = "SEED", value_parser = seed,
        conflicts_with_all = ["held_out", "json"])]
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
    let drawn = Drawn { mixes: args.mixes, held_out: args.held_out };
    let planned = Planned::new(&drawn, &schedulers, args.replicates, &args.run)?;
    args.json.iter().try_for_each(|path| files::refuse_unwritable(path))?;
    drawn.remind();
    let bar = terminal::progress(planned.runs() as u64, "simulating");
    let mixes = with_jobs(args.jobs, || planned.run(&bar))?;
    bar.finish_and_clear();
    let result = report::mixes(planned.setup(), &drawn.half(), mixes);
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

/// Which mixes are run.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// How many.
    pub mixes: u32,
    /// Whether they are of the half that is not looked at while developing.
    pub held_out: bool,
}

impl Drawn {
    fn seeds(&self) -> impl Iterator<Item = u64> {
        let held_out = self.held_out;
        (0..self.mixes).map(move |index| {
            if held_out {
                scenarios::held_out_seed(TAG, index)
            } else {
                scenarios::development_seed(index)
            }
        })
    }

    /// The half in words.
    pub fn half(&self) -> String {
        if self.held_out { format!("held-out of {TAG}") } else { "development".to_owned() }
    }

    /// Reminds of the obligations after a look at the held-out half.
    pub fn remind(&self) {
        if self.held_out {
            eprintln!("evenkeel: {}", reminder());
        }
    }
}

fn reminder() -> String {
    format!(
        "this is the held-out half of {TAG}: log this look in docs/measurements/mixes.md, and \
         change nothing because of it"
    )
}

/// The runs of several mixes.
pub struct Planned(Vec<PlannedMix>);

struct PlannedMix {
    seed: u64,
    work: Work,
    plan: Plan,
}

impl Planned {
    /// Plans the runs; refuses unknown schedulers and incomplete CPU tables.
    pub fn new(
        drawn: &Drawn,
        schedulers: &[String],
        replicates: Option<u32>,
        options: &RunOptions,
    ) -> Result<Self> {
        options.set.refuse(replay::GROUP, "only `compare --trace` replays a recording")?;
        options.set.refuse(results::GROUP, "only `compare` writes that")?;
        let plan = |seed| {
            let work = Work::mix(seed)?;
            let choice = Choice { schedulers, backgrounds: &[], programs: &[], replicates };
            let plan = Plan::new(&work, &format!("mix {seed}"), options, &choice)?;
            Ok(PlannedMix { seed, work, plan })
        };
        Ok(Self(drawn.seeds().map(plan).collect::<Result<_>>()?))
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.0.iter().map(|mix| mix.plan.runs()).sum()
    }

    /// Names of the backgrounds besides the control.
    pub fn backgrounds(&self) -> Vec<String> {
        self.0[0].work.compared_backgrounds()
    }

    /// Runs them all in parallel; of several errors the first mix's is told.
    pub fn run(&self, bar: &ProgressBar) -> Result<Vec<Mix>> {
        in_order(&self.0, |mix| mix.run(bar))
    }

    /// Facts that all mixes share.
    pub fn setup(&self) -> Setup {
        self.0[0].plan.setup(&self.0[0].work)
    }
}

impl PlannedMix {
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
        let drawn = |held_out, mixes| Drawn { mixes, held_out };
        let held_out: std::collections::BTreeSet<u64> = drawn(true, 10_000).seeds().collect();
        assert_eq!(held_out.len(), 10_000);
        assert!(drawn(false, 10_000).seeds().all(|seed| !held_out.contains(&seed)));
        assert_eq!(drawn(false, 3).seeds().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_look_at_the_held_out_half_says_which_and_where_to_log_it() {
        let says = reminder();
        assert!(says.contains(TAG) && says.contains("docs/measurements/mixes.md"), "{says}");
        let half = |held_out| Drawn { mixes: 1, held_out }.half();
        assert_eq!((half(false), half(true)), ("development".into(), format!("held-out of {TAG}")));
    }

    #[test]
    fn fair_is_what_others_are_compared_with_unless_said_otherwise() {
        let all = schedulers(&[]);
        assert_eq!((all[0].as_str(), all.len()), ("fair", SCHEDULERS.len()));
        assert_eq!(schedulers(&["cfs".to_owned()]), ["cfs"]);
    }
}
