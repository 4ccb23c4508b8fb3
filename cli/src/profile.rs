//! `evenkeel profile`: how much is lost to the clock of other tasks, by which task, to which.

mod clock;
mod error;
mod estimator;
mod focus;
#[cfg(feature = "record")]
mod gain;
#[cfg(feature = "record")]
mod gain_runs;
#[cfg(feature = "record")]
mod gain_tasks;
#[cfg(feature = "record")]
mod gain_text;
mod labels;
#[cfg(feature = "record")]
mod live;
mod merge;
mod outputs;
mod print;
mod recorded;
mod simulated;
mod table;
mod view;

pub use table::CpuOf;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};
use profiler::matrix::{Entry, Estimate, Matrix, Victim};
use profiler::time_line::TimeLine;
use profiler::{Basis, Profile, Tally, Truth};
use sensors::control_groups::Labels;
use serde::Serialize;

use crate::compare::Classes;
use crate::run_options::RunOptions;
use crate::seconds::seconds;

const EXAMPLES: &str = "\
Examples:
  sudo evenkeel profile -a --page profile.html
      what the programs of this machine wait for, and what wide code costs them, for 10 s
  sudo evenkeel profile --cgroup /system.slice/nginx.service --by control-group --duration 60
      what a service lost to others, and others to it
  sudo evenkeel profile --record p.ektrace -- ./encode.sh; evenkeel profile --replay p.ektrace
      while a command runs; the recording can be analysed again, here or elsewhere
  sudo evenkeel profile -a --pauses --duration 60
      whether programs run at a lower clock than their code demands, measured in pauses of cores
  sudo evenkeel profile --narrow 'x265 --asm avx2 in.y4m -o out' -- x265 in.y4m -o out
      what wide code gains the command, what it costs others, and where it breaks even
  evenkeel profile parsec-x265 --program ferret --background avx512
      what the profiler finds on a simulated machine, beside what is true there
  evenkeel profile nginx-crypto --no-pauses
      the same without pausing cores, from counters at switches alone
  evenkeel profile parsec-x265 --set counter-noise=20 --json -
      with counters that are off by up to 2 %
  evenkeel profile --trace recording.ektrace --cpu machine.toml --class 'x265*=avx512-heavy'
      the same where the class is known, and the CPU was measured by `evenkeel characterize`";

/// How much is lost to the clock of other tasks, by which task, and to which?
///
/// Of this machine or a recording: what tasks waited for, and what the CPU table says that 512-bit
/// instructions cost others, by the registers that tasks left their CPUs with. Of a scenario: what
/// a profiler with counters finds on a simulated machine, beside the truth. That profiler looks at
/// one CPU after another: it measures frequency and level, pauses the core until its level is back,
/// and looks which level the task demands alone.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, next_help_heading = "Work")]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// Scenario to simulate: a file, or a name of `evenkeel scenarios`
    #[arg(conflicts_with = "trace")]
    scenario: Option<String>,

    /// Profiles a recording: .ektrace of --record, or of `evenkeel trace record` or `import`
    #[arg(long, visible_alias = "replay", value_name = "FILE")]
    trace: Option<PathBuf>,

    #[command(flatten)]
    classes: Classes,

    #[cfg(feature = "record")]
    #[command(flatten)]
    live: live::Live,

    #[command(flatten)]
    focus: focus::Focus,

    /// Foreground program, where a scenario runs them one by one [default: the last]
    #[arg(long, value_name = "NAME")]
    program: Option<String>,

    /// Background of a scenario [default: the last, which demands most]
    #[arg(long, value_name = "NAME")]
    background: Option<String>,

    /// Samples a second of the whole machine, on average [default: 50; with --pauses 25]
    #[arg(long, value_name = "N", help_heading = "Profiler", value_parser = rate)]
    rate: Option<f64>,

    /// Pauses no core: what tasks demand follows from counters at switches
    #[arg(long, help_heading = "Profiler",
        conflicts_with_all = ["split_causes", "method", "end_early", "rate"])]
    no_pauses: bool,

    /// Lets all tasks of the core run for a further 70 us in each sample, and so measures whether a
    /// sibling causes a loss (D 4.2.1, step 5)
    #[arg(long, help_heading = "Profiler")]
    split_causes: bool,

    /// Ends each pause as soon as the level is back: pauses of wide code are then longer than
    /// others, which biases the result (D 4.6.1)
    #[arg(long, help_heading = "Profiler")]
    end_early: bool,

    /// How samples are read: our way, or as published in D 4.2 and 4.3 [default: ours]
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Profiler")]
    method: Option<MethodName>,

    /// Scheduler to simulate: cfs, eevdf, muqss, or another one of `compare` [default: eevdf]
    #[arg(long, value_name = "NAME", help_heading = "Simulation")]
    scheduler: Option<String>,

    /// Runs to profile, one after the other, with seeds of their own [default: 8]; with --narrow
    /// runs of each command, from 2 to 100 [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Simulation")]
    runs: Option<u32>,

    /// Stops each run after this much simulated time [default: what the work says]
    #[arg(long, value_name = "SECONDS", help_heading = "Simulation",
        value_parser = |text: &str| seconds(text, 0.001..=1_000_000.0))]
    limit: Option<std::time::Duration>,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    outputs: outputs::Outputs,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Profiles of many machines as one
    Merge(merge::Args),
}

#[cfg(feature = "record")]
use gain::Compared;
/// Without the recorder nothing is compared.
#[cfg(not(feature = "record"))]
type Compared = ();

/// Samples a second, as D 4.2.1.
const RATE: f64 = 50.0;
/// Pauses a second of this machine: at 50 a barrier program of two CPUs takes 4.6 % longer
/// (docs/measurements/profiler.md).
#[cfg(feature = "record")]
const LIVE_RATE: f64 = 25.0;
/// The stock scheduler of current kernels.
const SCHEDULER: &str = "eevdf";
const RUNS: u32 = 8;

/// Names of [`profiler::Method`].
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum MethodName {
    Ours,
    Published,
}

/// The results.
#[derive(Serialize)]
pub struct Report {
    schema: u32,
    work: String,
    /// The CPU of a recorded machine, as the machine calls it.
    machine_cpu: Option<String>,
    /// The CPU table that losses of clock are of; `None`: no table holds for this CPU.
    cpu: Option<String>,
    /// Of a simulation, as are the runs.
    scheduler: Option<String>,
    seed: u64,
    runs: Option<u32>,
    cpus: u32,
    /// Length of the recording, or of all simulated runs.
    pub length_s: f64,
    /// The same runs without the profiler.
    pub unprofiled_s: Option<f64>,
    estimator: Estimator,
    /// How far such estimates are off.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimator_error: Option<error::Error>,
    samples: Option<Tally>,
    /// Whether no program loses time to the clock of others; not said by tables of levels.
    nothing_to_gain: Option<bool>,
    /// By how much longer the work of all programs took, in percent of their CPU time.
    overhead_pct: EstimateReport,
    /// Whether the CPU table is that of the recorded CPU.
    is_own_table: bool,
    /// Whether it is known which CPUs share a core.
    knows_siblings: bool,
    /// The CPUs of each core; each alone where that is not known.
    cores: Vec<Vec<u32>>,
    /// Share of the time for which a core is paused.
    paused_pct: Option<f64>,
    /// Change of the time until the foreground ended, by the profiler's pauses.
    pub longer_by_profiling_pct: Option<EstimateReport>,
    pub victims: Vec<VictimReport>,
    losses: Vec<LossReport>,
    /// Call stacks of wide code, those of the greatest losses first.
    stacks: Vec<StackReport>,
    /// What makes tasks one victim or culprit, as a heading.
    by: &'static str,
    /// Names in question; empty: all.
    focus: Vec<String>,
    /// What a reader should know of the recording.
    notes: Vec<String>,
    /// What wide code gained and cost, with --narrow.
    #[serde(skip_serializing_if = "Option::is_none")]
    gain: Option<Compared>,
    /// Which program ran when, for the page.
    #[serde(skip)]
    time_line: Option<TimeLine>,
}

/// Where wide code was called.
#[derive(Serialize, Clone)]
struct StackReport {
    culprit: String,
    thread: String,
    /// From the outermost function to the innermost.
    functions: Vec<String>,
    /// How often a task left its CPU there with 512-bit registers or tiles in use.
    count: u64,
    /// CPU time that others lost to the culprit, by its stacks in proportion to their counts.
    lost_s: f64,
}

/// What an estimate rests on.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Estimator {
    /// Pauses of cores, and counters.
    Pauses,
    /// Pauses of cores, and the clock that scalar code runs at in them.
    Clock,
    /// Counters at switches.
    Counters,
    /// Classes of tasks, by `--class` and marks, and the CPU table.
    Classes,
    /// Registers at switches, and the CPU table.
    Registers,
    /// The recorded CPU has no license levels.
    NoLevels,
    /// Registers were recorded, and show no 512-bit code.
    NoneShown,
    /// Neither classes nor registers are known.
    NotRecorded,
}

/// What one application lost.
#[derive(Serialize)]
pub struct VictimReport {
    name: String,
    /// Of a control group: its container, pod, virtual machine or unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Labels>,
    cpu_time_s: f64,
    waited_s: f64,
    samples: usize,
    /// "measured"; "table": by classes or registers and a CPU table; "assumed": too few samples,
    /// taken to demand no level; "at least": demands a level, and is never taken for a victim of
    /// that level; "unknown": too few samples, or no estimate of any group.
    basis: &'static str,
    /// The highest level that its tasks demand, by the CPU table.
    demands: Option<String>,
    /// By how much longer its work took, in percent.
    pub overhead_pct: EstimateReport,
    lost_s: EstimateReport,
    /// The truth of the profiled runs, in a simulation.
    pub true_overhead_pct: Option<f64>,
    /// The truth of the same runs without the profiler.
    unprofiled_overhead_pct: Option<f64>,
}

/// What one application lost to another.
#[derive(Serialize)]
pub struct LossReport {
    victim: String,
    /// `None`: no task on the core is known to demand such a level.
    culprit: Option<String>,
    lost_s: EstimateReport,
    /// After the culprit had run on the core.
    by_hold_s: f64,
    /// While the culprit ran on a sibling.
    by_sibling_s: f64,
    /// While the core was throttled or halted on the way to the level.
    by_transition_s: f64,
    true_lost_s: Option<f64>,
    /// Time for which the victim was runnable while the culprit had the CPU.
    waited_s: f64,
    /// CPU time lost to the culprit's share of the core, by a model: the time beside it, less the
    /// throughput of one of two siblings.
    by_shared_core_s: f64,
}

/// A value and its 95 % interval. What is not known is not finite, and null in JSON.
#[derive(Serialize, Clone, Copy)]
pub struct EstimateReport {
    pub value: f64,
    low: f64,
    high: f64,
}

impl EstimateReport {
    /// An estimate of that basis. Only what was measured has bounds: a table, and what a group is
    /// taken to demand, have errors that the spread of the moments does not show.
    fn of(estimate: &Estimate, factor: f64, basis: Basis) -> Self {
        let measured = Self::scaled(estimate, factor);
        let unbounded = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, ..measured };
        match basis {
            Basis::Measured => measured,
            Basis::Table | Basis::Assumed | Basis::AtLeast => unbounded,
            Basis::Unknown => Self { value: f64::NAN, ..unbounded },
        }
    }

    /// 0 for a value that is not known.
    fn known(&self) -> f64 {
        if self.value.is_finite() { self.value } else { 0.0 }
    }

    fn scaled(estimate: &Estimate, factor: f64) -> Self {
        Self {
            // Never -0.
            value: estimate.value * factor + 0.0,
            low: estimate.low * factor + 0.0,
            high: estimate.high * factor + 0.0,
        }
    }
}

#[derive(Parser)]
struct Parsed {
    #[command(flatten)]
    args: Args,
}

/// The results for the words of a command line.
pub fn report(words: &[&str]) -> Result<Report> {
    let words = ["profile"].iter().chain(words);
    let args = Parsed::try_parse_from(words)?.args;
    simulated::run(&args, args.scenario.as_deref().unwrap_or_default())
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    if let Some(Verb::Merge(args)) = &args.verb {
        return merge::run(args);
    }
    args.outputs.refuse_unwritable()?;
    let (report, code) = match (&args.trace, &args.scenario) {
        (Some(path), _) => (recorded::run(args, path, &path.display().to_string())?, 0),
        (None, Some(scenario)) => (simulated::run(args, scenario)?, 0),
        (None, None) => this_machine(args)?,
    };
    outputs::write(&args.outputs, &report)?;
    match code {
        0 => Ok(()),
        code => std::process::exit(code),
    }
}

#[cfg(feature = "record")]
fn this_machine(args: &Args) -> Result<(Report, i32)> {
    ensure!(
        args.live.is_wanted(args.focus.is_given()),
        "expected -a for this machine, a command after --, a scenario, or a recording with --replay"
    );
    match &args.live.narrow {
        Some(narrow) => gain_runs::run(args, narrow),
        None => live::run(args),
    }
}

#[cfg(not(feature = "record"))]
fn this_machine(_: &Args) -> Result<(Report, i32)> {
    anyhow::bail!(
        "name a scenario, or a recording with --replay; this evenkeel was built without recorder"
    )
}

fn rate(text: &str) -> Result<f64, String> {
    let range = 0.1..=1000.0;
    let wanted = || format!("expected samples a second from {} to {}", range.start(), range.end());
    let rate: f64 = text.parse().map_err(|_| wanted())?;
    if range.contains(&rate) { Ok(rate) } else { Err(wanted()) }
}

/// Refuses settings that the verb does not have.
fn refuse_settings(args: &Args) -> Result<()> {
    let simulation = &args.run.set.simulation;
    for (key, is_given) in
        [("private-licenses", simulation.private_licenses), ("placebo", simulation.placebo)]
    {
        ensure!(!is_given, "--set {key}: a profile is of a CPU as it is");
    }
    Ok(())
}

/// The victims; `truth` is that of runs with the profiler, and without.
fn victims(profile: &Profile, matrix: &Matrix, truth: Option<[&Truth; 2]>) -> Vec<VictimReport> {
    let of = |victim: &Victim| {
        let truth = truth.map(|both| both.map(|truth| truth.overhead_pct(victim.group)));
        VictimReport {
            name: profile.groups[victim.group].clone(),
            labels: None,
            cpu_time_s: victim.cpu_time_ns as f64 / 1e9,
            waited_s: victim.waited_ns as f64 / 1e9,
            samples: victim.samples,
            basis: match victim.basis {
                Basis::Measured => "measured",
                Basis::Assumed => "assumed",
                Basis::AtLeast => "at least",
                Basis::Table => "table",
                Basis::Unknown => "unknown",
            },
            demands: Some(profile.cpu.level_names[usize::from(victim.own_level)].clone()),
            overhead_pct: EstimateReport::of(&victim.overhead_pct, 1.0, victim.basis),
            lost_s: EstimateReport::of(&victim.lost_ns, 1e-9, victim.basis),
            true_overhead_pct: truth.map(|[with, _]| with),
            unprofiled_overhead_pct: truth.map(|[_, without]| without),
        }
    };
    matrix.victims.iter().map(of).collect()
}

/// The pairs that the matrix has, those with the greatest loss of clock first.
fn losses(
    profile: &Profile,
    matrix: &Matrix,
    smt_share_permille: u32,
    truth: Option<&Truth>,
) -> Vec<LossReport> {
    let lost_share = 1.0 - f64::from(smt_share_permille) / 1000.0;
    let true_s = |victim: usize, culprit: Option<usize>| {
        let truth = truth?;
        Some(culprit.map_or(0.0, |culprit| truth.pair_ns(victim, culprit) as f64 / 1e9))
    };
    let of = |entry: &Entry| {
        let basis = matrix.victims[entry.victim].basis;
        let cause_s = |ns: f64| if basis == Basis::Unknown { f64::NAN } else { ns / 1e9 };
        let [by_hold_s, by_sibling_s, by_transition_s] = entry.by_cause_ns.map(cause_s);
        LossReport {
            victim: profile.groups[entry.victim].clone(),
            culprit: entry.culprit.map(|group| profile.groups[group].clone()),
            lost_s: EstimateReport::of(&entry.lost_ns, 1e-9, basis),
            by_hold_s,
            by_sibling_s,
            by_transition_s,
            true_lost_s: true_s(entry.victim, entry.culprit),
            waited_s: entry.waited_ns as f64 / 1e9,
            by_shared_core_s: entry.beside_ns as f64 / 1e9 * lost_share,
        }
    };
    let mut losses: Vec<LossReport> = matrix.entries.iter().map(of).collect();
    losses
        .sort_by(|a, b| b.clock_s().total_cmp(&a.clock_s()).then(b.all_s().total_cmp(&a.all_s())));
    losses
}

impl LossReport {
    /// The loss of clock, as estimated or true, whichever is larger.
    fn clock_s(&self) -> f64 {
        self.lost_s.known().max(self.true_lost_s.unwrap_or_default())
    }

    /// All that the victim lost to the culprit, of whatever kind.
    fn all_s(&self) -> f64 {
        self.lost_s.known() + self.waited_s + self.by_shared_core_s
    }
}
