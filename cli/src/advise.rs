//! `evenkeel advise`: what should be done on a machine, and does core specialization pay there?

mod action;
mod changed;
mod gains;
mod late;
mod live;
mod predict;
mod print;
mod progress;
mod recommend;
mod recommend_text;
mod simulated;
mod situation;
mod speedup;
mod switch;
mod switches;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use serde::Serialize;
use silicon::Estimate;
use silicon::advice::{Advice, Verdict};

use crate::compare::Classes;
use crate::run_options::RunOptions;
use crate::{files, terminal};
use speedup::Speedup;

const EXAMPLES: &str = "\
Examples:
  sudo evenkeel trace record -a --duration 10 && evenkeel advise --trace recording.ektrace
      actions, each with the gain that the simulator predicts for the recorded programs, and with
      the commands that do it
  evenkeel advise --trace recording.ektrace --class 'x265*=avx512-heavy' --speedup 'x265*=1.12'
      the same where the class is known, and x265 does 1.12 times as much a cycle by 512-bit code
  sudo scx_evenkeel --mode fair-specialize & sudo evenkeel advise --live
      switches specialization of the running scheduler off and on, and counts instructions
  sudo evenkeel advise --live --progress 'cat /run/server/requests'
      the work is what the server has answered; for virtual machines, and for programs that spin
  evenkeel advise --trace recording.ektrace --scheduler fair-specialize
      what the simulator expects of specialization alone
  evenkeel advise nginx-crypto-no-ht --scheduler specialize
      the same of a scenario";

/// What should be done on a machine, and does core specialization pay there?
///
/// With --trace: which actions (schedulers, CPU sets, programs without 512-bit code) would change
/// how much work the recorded programs do, by simulation. Where --class or recorded registers give
/// classes, the simulated scx_evenkeel knows them by rules, unless --sensors names another set than
/// d7. With --live, a scenario or --scheduler: whether core specialization pays.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, next_help_heading = "Work")]
pub struct Args {
    /// Scenario to simulate: a file, or a name of `evenkeel scenarios`
    #[arg(conflicts_with_all = ["trace", "live"])]
    scenario: Option<String>,

    /// Simulates a recording (.ektrace of `evenkeel trace record` or `import`)
    #[arg(long, value_name = "FILE", conflicts_with = "live")]
    trace: Option<PathBuf>,

    /// Measures this machine, where scx_evenkeel runs with --mode specialize or fair-specialize;
    /// needs root
    #[arg(long)]
    live: bool,

    /// Command that prints a number which grows with the work done, such as requests answered; it
    /// is run by sh at the ends of windows [default: instructions in user mode, which needs a PMU]
    #[arg(long, value_name = "CMD", requires = "live")]
    progress: Option<String>,

    #[command(flatten)]
    classes: Classes,

    /// How many times as much a cycle a program with 512-bit code does as with 256-bit code, as you
    /// measured: cycles of its run with 256-bit code over those of its run with 512-bit code (perf
    /// stat -e cycles:u). Without it, advice says above which speed-up 512-bit code pays
    #[arg(long, value_name = "GLOB=FACTOR", value_parser = speedup::speedup,
        conflicts_with = "scheduler")]
    speedup: Vec<Speedup>,

    /// Foreground program, where a scenario runs them one by one [default: the last]
    #[arg(long, value_name = "NAME", conflicts_with = "live")]
    program: Option<String>,

    /// Background of a scenario [default: the last, which demands most]
    #[arg(long, value_name = "NAME", conflicts_with = "live")]
    background: Option<String>,

    /// Length of a window with specialization or without, in ms [default: 1000 live, else 200]
    #[arg(long, value_name = "MS", help_heading = "Windows",
        value_parser = clap::value_parser!(u32).range(10..=3_600_000))]
    window: Option<u32>,

    /// Pairs of windows at most; it ends sooner when the interval is narrow [default: 100 live,
    /// else as many as the work is long]
    #[arg(long, value_name = "N", help_heading = "Windows",
        value_parser = clap::value_parser!(u32).range(6..=1_000_000))]
    pairs: Option<u32>,

    /// Scheduler whose specialization is judged: specialize, fair-specialize, or one of these after
    /// scx: [default: fair-specialize for a scenario; for a recording all actions]
    #[arg(long, value_name = "NAME", conflicts_with = "live", help_heading = "Simulation")]
    scheduler: Option<String>,

    /// Seeds to simulate
    #[arg(long, value_name = "N", default_value_t = 8, conflicts_with = "live",
        value_parser = clap::value_parser!(u32).range(6..=10_000), help_heading = "Simulation")]
    replicates: u32,

    #[command(flatten)]
    run: RunOptions,

    /// Writes every pair and the result as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<PathBuf>,
}

/// This part of a window belongs to the switch: tasks move then.
const SETTLE_PERCENT: u64 = 20;
/// The window of a machine, and of a simulation, which has no noise to average.
const WINDOW_LIVE_MS: u32 = 1000;
const WINDOW_SIMULATED_MS: u32 = 200;

/// The results.
#[derive(Serialize)]
struct Report {
    schema: u32,
    /// Name of the scenario or recording; `None`: this machine.
    work: Option<String>,
    /// The simulated CPU.
    cpu: Option<String>,
    scheduler: String,
    /// What was counted.
    counted: String,
    window_ms: u32,
    seed: u64,
    /// Specialization switched off and on; `None` where the work was too short for that.
    switched: Option<Advice>,
    /// Why there is no such advice.
    not_switched: Option<String>,
    /// Simulated runs with specialization and without.
    whole_runs: Option<WholeRuns>,
}

#[derive(Serialize)]
struct WholeRuns {
    change_pct: Estimate,
    verdict: Verdict,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.json {
        files::refuse_unwritable(path)?;
    }
    if let (Some(trace), None) = (&args.trace, &args.scheduler) {
        return recommend::run(args, trace);
    }
    ensure!(args.speedup.is_empty(), "--speedup is for advice from a recording (--trace)");
    let report = match (args.live, &args.scenario, &args.trace) {
        (true, ..) => live::run(args)?,
        (false, None, None) => {
            bail!("name a scenario or a recording (--trace), or measure this machine (--live)")
        }
        _ => simulated::run(args)?,
    };
    let took_stdout =
        args.json.as_ref().map(|path| files::write_json(path, &report)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&::report::fit(&print::text(&report), terminal::width()))
}

impl Args {
    fn plan(
        &self,
        window_ms: u32,
        pairs_max: usize,
        half_width_points: f64,
    ) -> silicon::advice::Plan {
        let window_ns = u64::from(window_ms) * 1_000_000;
        silicon::advice::Plan {
            window_ns,
            settle_ns: window_ns * SETTLE_PERCENT / 100,
            pairs_min: PAIRS_MIN.min(pairs_max),
            pairs_max,
            half_width_points,
            seed: self.run.seed,
        }
    }

    fn refuse_simulation(&self) -> Result<()> {
        let is_simulated = self.run.cpu.is_some() || !self.classes.class.is_empty();
        ensure!(!is_simulated, "--cpu and --class are for simulations; --live measures");
        Ok(())
    }
}

/// Fewer pairs are never enough on a machine.
const PAIRS_MIN: usize = 20;
