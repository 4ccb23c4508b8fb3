//! `evenkeel dvfs`: what would other frequency policies of the hardware give?

mod print;
mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::dvfs::Policy;
use anyhow::{Result, ensure};
use clap::ArgAction;
use serde::Serialize;

use crate::compare::Classes;
use crate::run_options::RunOptions;
use crate::{files, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel dvfs parsec-onednn-four-cores
      D's study: the hold of the CPU, a shorter one, ours, and an oracle
  evenkeel dvfs nginx-crypto-four-cores --policy stock,timeout=300us,oracle
  evenkeel dvfs --trace recording.ektrace --class 'x265*=avx512-heavy'
      a recorded schedule, as if it had been recorded at a constant clock
  evenkeel compare parsec-onednn --set hold-us=150 --scheduler cfs,fair-isolation
      the same question where schedulers react: licenses that are held for 150 us";

/// What would other frequency policies of the hardware give?
///
/// A schedule at a constant clock is stretched by the clock that each policy would have set, and a
/// delay is inserted for each change (dissertation 5.3). The schedule does not react; so an oracle
/// that knows the whole future can be computed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, next_help_heading = "Work")]
pub struct Args {
    /// Scenario to simulate at a constant clock: a file, or a name of `evenkeel scenarios`
    #[arg(conflicts_with = "trace")]
    scenario: Option<String>,

    /// The schedule of a recording (.ektrace of `evenkeel trace record` or `import`)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    #[command(flatten)]
    classes: Classes,

    /// Foreground programs, where a scenario runs them one by one [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "trace")]
    program: Vec<String>,

    /// Background of a scenario [default: the last, which demands most]
    #[arg(long, value_name = "NAME", conflicts_with = "trace")]
    background: Option<String>,

    /// Policies: stock (the CPU's own hold), timeout=N with us, 2-competitive (150 us, as
    /// published), adaptive (the break-even time of the current frequencies), oracle
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', action = ArgAction::Set,
        default_values_t = Policy::ALL, help_heading = "Policies")]
    policy: Vec<Policy>,

    /// Active cores of the package, which decide the frequencies [default: all]
    #[arg(long, value_name = "N", help_heading = "Policies",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    active_cores: Option<u32>,

    /// Scheduler that makes the schedule of a scenario
    #[arg(
        long,
        value_name = "NAME",
        default_value = "cfs",
        conflicts_with = "trace",
        help_heading = "Simulation"
    )]
    scheduler: String,

    /// Seeds to average over
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with = "trace",
        value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Simulation")]
    replicates: u32,

    #[command(flatten)]
    run: RunOptions,

    /// Writes the results as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<PathBuf>,
}

/// The results.
#[derive(Serialize)]
struct Report {
    schema: u32,
    /// Name of the scenario or recording.
    work: String,
    cpu: String,
    /// What made the schedule: a scheduler, or `None` for a recording.
    scheduler: Option<String>,
    seed: u64,
    active_cores: u32,
    /// Frequencies of the levels, MHz.
    mhz: Vec<u32>,
    /// By level above 0: for how long its lower clock costs as much as changing it twice.
    break_even_us: Vec<Option<f64>>,
    policies: Vec<PolicyResult>,
    notes: Vec<String>,
}

/// One policy.
#[derive(Serialize)]
struct PolicyResult {
    policy: String,
    /// By program: CPU time beyond that at the clock of level 0 without changes.
    overhead_pct: BTreeMap<String, f64>,
    /// The mean of `overhead_pct`.
    mean_overhead_pct: f64,
    /// The delays of changes, in percent of busy time.
    delays_pct: f64,
    /// Time lost by that of the oracle.
    competitive_ratio: f64,
    /// The largest ratio of a core.
    worst_ratio: f64,
    rises_per_s: f64,
}

/// Overheads on a scenario, by policy and then by program, in percent.
pub fn overheads(
    scenario: &str,
    seed: u64,
    replicates: u32,
) -> Result<BTreeMap<String, BTreeMap<String, f64>>> {
    #[derive(clap::Parser)]
    struct Words {
        #[command(flatten)]
        args: Args,
    }
    let (seed, replicates) = (seed.to_string(), replicates.to_string());
    let words = ["dvfs", scenario, "--seed", &seed, "--replicates", &replicates];
    let report = work::report(&<Words as clap::Parser>::try_parse_from(words)?.args)?;
    Ok(report.policies.into_iter().map(|it| (it.policy, it.overhead_pct)).collect())
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.json {
        files::refuse_unwritable(path)?;
    }
    for (index, policy) in args.policy.iter().enumerate() {
        let is_new = !args.policy[..index].contains(policy);
        ensure!(is_new, "--policy: {policy} is named twice");
    }
    let report = work::report(args)?;
    let took_stdout =
        args.json.as_ref().map(|path| files::write_json(path, &report)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&::report::fit(&print::text(&report), terminal::width()))
}
