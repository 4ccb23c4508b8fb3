//! Profiles this machine: records its schedule for a while, then analyses the recording.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sensors::facts::Facts;
use sensors::recorder::Wanted;

use super::{Args, CpuOf, LIVE_RATE, Report, recorded};
use crate::recorder::{PausePlan, Plan, Workload, cores, record};
use crate::seconds::seconds;
use crate::{doctor, files};

/// Tasks and time to record.
#[derive(clap::Args)]
#[command(next_help_heading = "This machine")]
pub struct Live {
    /// Profiles this machine, all CPUs and tasks
    #[arg(short, long, conflicts_with_all = ["scenario", "trace", "command"])]
    all: bool,

    /// How long; CMD ends then [default: 10 s, or until CMD ends]
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["scenario", "trace"],
        value_parser = |text: &str| seconds(text, 0.1..=86_400.0))]
    duration: Option<Duration>,

    /// Also pauses one core after another for a moment, and times scalar code in it: whether
    /// programs run at a lower clock than their code demands. Takes no counters; needs root
    #[arg(long, conflicts_with_all = ["scenario", "trace", "no_pauses"])]
    pauses: bool,

    /// Keeps the recording, which --replay analyses again, here or elsewhere
    #[arg(long, value_name = "FILE.ektrace", conflicts_with_all = ["scenario", "trace"])]
    record: Option<PathBuf>,

    /// Command to run while the machine is profiled
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["scenario", "trace"])]
    command: Vec<OsString>,
}

/// Length of a profile without a command.
const DURATION: Duration = Duration::from_secs(10);
/// How long switches are counted to estimate the cost.
const LOOK: Duration = Duration::from_millis(200);
/// CPU time that a switch costs with its wake-up and registers, in the kernel and in the reader,
/// and bytes of the file (docs/measurements/profiler.md).
const COST_OF_SWITCH_US: f64 = 2.2;
const BYTES_OF_SWITCH: f64 = 20.0;

impl Live {
    /// Whether this machine is to be profiled.
    pub fn is_wanted(&self, has_focus: bool) -> bool {
        self.all || !self.command.is_empty() || self.duration.is_some() || has_focus
    }
}

impl Args {
    /// How cores are to be paused, if they are.
    fn pauses(&self, facts: &Facts) -> Result<Option<PausePlan>> {
        if !self.live.pauses {
            ensure!(self.rate.is_none(), "--rate: on this machine it needs --pauses");
            return Ok(None);
        }
        ensure!(
            facts.steady_tsc,
            "--pauses: the time-stamp counter of this CPU is not steady, so no clock can be timed"
        );
        let named = self.run.cpu.as_deref();
        let cpu = named.unwrap_or(CpuOf::machine(&facts.cpu).table());
        let cpu = self.run.cpu_model(cpu, true)?;
        let seed = self.run.seed;
        let plan = profiler::Plan::published(&cpu, seed).with_rate(self.rate.unwrap_or(LIVE_RATE));
        let (interval_ns, raise_delay_ns) = (plan.interval_ns, plan.pause_ns);
        Ok(Some(PausePlan { cores: cores(facts)?, interval_ns, raise_delay_ns, seed }))
    }
}

/// Profiles this machine; the exit code is that of the command.
pub fn run(args: &Args) -> Result<(Report, i32)> {
    let live = &args.live;
    args.focus.refuse_missing()?;
    let facts = doctor::probe();
    if let Some(path) = &live.record {
        files::refuse_unwritable(path)?;
    }
    let folder = tempfile::tempdir().context("making a folder for the recording")?;
    let kept = live.record.clone().unwrap_or_else(|| folder.path().join("profile.ektrace"));
    // First of all: the warden is a fork of this process.
    let command = (!live.command.is_empty())
        .then(|| Workload::prepare(&live.command))
        .transpose()
        .context("preparing the command")?;
    let duration = if command.is_none() { Some(DURATION) } else { None };
    let duration = live.duration.or(duration);
    let pauses = args.pauses(&facts)?;
    eprint!("{}", expected_cost(facts.online.len(), duration));
    if let Some(plan) = &pauses {
        eprint!("{}", cost_of_pauses(plan));
    }
    let ended = record(
        Plan {
            output: &kept,
            duration,
            wanted: Wanted { marks: &[], messages: live.record.is_some(), stacks: true },
            words: &live.command,
            facts: &facts,
            pauses,
        },
        command,
    )?;
    let title = match live.command.first() {
        None => "this machine".to_owned(),
        Some(program) => {
            let program = Path::new(program).file_name().unwrap_or(program);
            format!("this machine with {}", trace::clean(program.as_encoded_bytes()))
        }
    };
    let mut report = recorded::run(args, &kept, &title)?;
    report.notes.extend(ended.end);
    if live.record.is_some() {
        report.notes.push(format!("the recording is {}; --replay reads it", kept.display()));
    }
    Ok((report, ended.code))
}

/// The cost of recording at the present rate of switches.
fn expected_cost(cpus: usize, duration: Option<Duration>) -> String {
    let begin = Instant::now();
    let before = switches();
    std::thread::sleep(LOOK);
    let (Some(before), Some(after)) = (before, switches()) else { return String::new() };
    let rate = (after.saturating_sub(before)) as f64 / begin.elapsed().as_secs_f64();
    let share_pct = 100.0 * rate * COST_OF_SWITCH_US * 1e-6 / cpus.max(1) as f64;
    let mb = rate * BYTES_OF_SWITCH * 1e-6;
    let length = duration
        .map_or("until the command ends".to_owned(), |it| format!("for {} s", it.as_secs_f64()));
    format!(
        "Recording {length}: at the present {rate:.0} switches a second this costs about \
         {share_pct:.2} % of {cpus} CPUs, and {mb:.2} MB/s\n"
    )
}

/// The cost of pauses, as they are planned.
fn cost_of_pauses(plan: &PausePlan) -> String {
    let (least_ns, most_ns) = plan.interval_ns;
    let interval_ms = (least_ns + most_ns) as f64 / 2e6;
    let pause_ms = plan.raise_delay_ns as f64 / 1e6;
    let paused_pct = 100.0 * pause_ms / interval_ms / plan.cores.len() as f64;
    format!(
        "Pausing one of {} cores every {interval_ms:.0} ms for {pause_ms:.2} ms: each core stands \
         still for about {paused_pct:.2} % of the time, and programs that wait for each other lose \
         more\n",
        plan.cores.len(),
    )
}

/// Switches of the machine since its start.
fn switches() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("ctxt "))?.trim().parse().ok()
}
