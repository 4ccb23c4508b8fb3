//! Profiles this machine: records its schedule for a while, then analyses the recording.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sensors::facts::Facts;
use sensors::pauses::Pauser;
use sensors::pmu::Refusal;
use sensors::recorder::{Counters, Wanted};

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
    pub record: Option<PathBuf>,

    /// The same work as CMD without wide instructions, for `sh -c`: runs in turn with CMD, to say
    /// what wide code gains CMD, what it costs others, and where it breaks even. Both must end
    /// after the same work, not after the same time. --record keeps the first run
    #[arg(long, value_name = "COMMAND", requires = "command",
        conflicts_with_all = ["scenario", "trace", "all", "duration"])]
    pub narrow: Option<OsString>,

    /// Command to run while the machine is profiled
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["scenario", "trace"])]
    pub command: Vec<OsString>,
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
        let rate = self.rate.unwrap_or(LIVE_RATE);
        let plan = profiler::Plan::published(&cpu, seed).with_rate(rate);
        let (interval_ns, raise_delay_ns) = (plan.interval_ns, plan.pause_ns);
        let cores = cores(facts)?;
        let rate_max = Pauser::rate_max(cores.len(), raise_delay_ns);
        ensure!(
            rate <= rate_max,
            "--rate: at most {rate_max:.0} pauses a second of {} cores, each paused for a fifth of \
             the time at most",
            cores.len()
        );
        Ok(Some(PausePlan { cores, interval_ns, raise_delay_ns, seed }))
    }
}

/// Profiles this machine; the exit code is that of the command.
pub fn run(args: &Args) -> Result<(Report, i32)> {
    let live = &args.live;
    recorded::refuse_simulation(args)?;
    args.outputs.refuse_mixing(!live.command.is_empty())?;
    args.focus.refuse_missing()?;
    ensure!(args.runs.is_none(), "--runs: on this machine it needs --narrow");
    let facts = doctor::probe();
    if let Some(path) = &live.record {
        files::refuse_unwritable(path)?;
    }
    // First of all: the warden is a fork of this process.
    let command = (!live.command.is_empty())
        .then(|| Workload::prepare(&live.command))
        .transpose()
        .context("preparing the command")?;
    let recordings = Recordings::start(args, &facts)?;
    let recorded = recordings.record(&live.command, command, true)?;
    Ok((recorded.report, recorded.code))
}

/// Recordings of this machine, one after the other.
pub struct Recordings<'a> {
    args: &'a Args,
    facts: &'a Facts,
    pauses: Option<PausePlan>,
    /// `None`: a user who asks for pauses gets the clock that they time, or no counter opens.
    counters: Option<Counters>,
    lack_of_counters: Option<String>,
    /// What a recording costs.
    announcement: String,
    folder: tempfile::TempDir,
}

/// A recording and its profile.
pub struct Recorded {
    pub report: Report,
    /// The exit code of the command; 0 if the recording ended first.
    pub code: i32,
    /// Why the recording or the command ended, where that was not its plain end.
    pub end: Vec<String>,
}

impl<'a> Recordings<'a> {
    /// Makes room for recordings.
    pub fn start(args: &'a Args, facts: &'a Facts) -> Result<Self> {
        if let Some(name) = &args.run.cpu {
            args.run.cpu_model(name, true).context("--cpu")?;
        }
        let folder = tempfile::tempdir().context("making a folder for the recording")?;
        let pauses = args.pauses(facts)?;
        let opened = pauses.is_none().then(|| counters(facts));
        let (counters, lack_of_counters) = match opened {
            None => (None, None),
            Some(Ok(counters)) => (Some(counters), None),
            Some(Err(refusal)) => (None, lack_of_counters(facts, refusal)),
        };
        let cost = expected_cost(facts.online.len(), duration(&args.live));
        let announcement = cost + &pauses.as_ref().map(cost_of_pauses).unwrap_or_default();
        Ok(Self { args, facts, pauses, counters, lack_of_counters, announcement, folder })
    }

    /// The file of a recording; that of the first one is kept if the user asks for it.
    pub fn path(&self, is_first: bool) -> PathBuf {
        let wanted = self.args.live.record.clone().filter(|_| is_first);
        wanted.unwrap_or_else(|| self.folder.path().join("profile.ektrace"))
    }

    /// Records, and profiles the recording.
    pub fn record(
        &self,
        words: &[OsString],
        command: Option<Workload>,
        is_first: bool,
    ) -> Result<Recorded> {
        let path = self.path(is_first);
        let has_messages = self.args.live.record.is_some();
        let plan = Plan {
            output: &path,
            duration: duration(&self.args.live),
            wanted: Wanted {
                marks: &[],
                messages: has_messages,
                stacks: true,
                counters: self.counters.as_ref(),
            },
            words,
            facts: self.facts,
            pauses: self.pauses.clone(),
            announcement: if is_first { &self.announcement } else { "" },
        };
        let ended = record(plan, command)?;
        let mut report = recorded::run(self.args, &path, &title(words.first()))?;
        report.notes.extend(self.lack_of_counters.clone());
        report.notes.extend(ended.end.iter().cloned());
        if let Some(path) = self.args.live.record.as_ref().filter(|_| is_first) {
            report.notes.push(format!("the recording is {}; --replay reads it", path.display()));
        }
        Ok(Recorded { report, code: ended.code, end: ended.end })
    }
}

/// Length of a recording; `None`: until the command ends.
fn duration(live: &Live) -> Option<Duration> {
    live.duration.or_else(|| live.command.is_empty().then_some(DURATION))
}

/// Counters of license levels, which tell more than registers and a CPU table, and cost less than
/// pauses.
fn counters(facts: &Facts) -> Result<Counters, Refusal> {
    Counters::open(Some(facts.pmu()?), facts.has_hyper_threading(), &facts.online)
}

/// Why levels were not counted, on a CPU that has some.
fn lack_of_counters(facts: &Facts, refusal: Refusal) -> Option<String> {
    let has_levels = CpuOf::machine(&facts.cpu) != CpuOf::NoLevels;
    let sentence = || refusal.sentence(&facts.circumstances());
    has_levels.then(|| format!("counters of license levels, which tell more: {}", sentence()))
}

/// What the report calls the work.
fn title(program: Option<&OsString>) -> String {
    let Some(program) = program else { return "this machine".to_owned() };
    let program = Path::new(program).file_name().unwrap_or(program);
    format!("this machine with {}", trace::clean(program.as_encoded_bytes()))
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
         {share_pct:.2} % of {}, and {mb:.2} MB/s\n",
        ::report::counted(cpus, "CPU"),
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
