//! `scx_evenkeel`: loads the scheduler and waits until it is told to go, or is made to.

use std::io::{IsTerminal, stderr};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use cpu_model::{CpuTable, TurboMode};
use libbpf_rs::PrintLevel;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use scheduler::interface::{Compensation, Config, End, Sensor};
use scheduler::kernel::Kernel;
use scheduler::load::Running;
use scheduler::topology::Topology;

/// Fair scheduling by virtual time, as a sched_ext scheduler.
///
/// All tasks of the normal classes are scheduled by it until it ends; then the kernel's own
/// scheduler has them back. It ends by Ctrl-C, SIGTERM or after --for, and nothing of it is left
/// however it ends.
#[derive(Parser)]
#[command(
    name = "scx_evenkeel",
    version,
    after_help = "\
Examples:
  scx_evenkeel                     schedule until Ctrl-C
  scx_evenkeel --for 10m --stats 1s
  scx_evenkeel --check             can this kernel take it?"
)]
struct Args {
    /// Ends by itself after this time, as in 90s or 10m.
    #[arg(long = "for", value_name = "TIME")]
    duration: Option<humantime::Duration>,
    /// Prints how often things happened, every so often.
    #[arg(long, value_name = "TIME")]
    stats: Option<humantime::Duration>,
    /// What is done about time that tasks lose to others' wide instructions.
    #[arg(long, value_enum, default_value_t = Mode::Fair)]
    mode: Mode,
    /// CPU table to take frequencies from: a name of `evenkeel cpu list`.
    #[arg(long, value_name = "NAME")]
    cpu: Option<String>,
    /// Slice of a task that has its CPU for itself.
    #[arg(long, value_name = "TIME", default_value = "6ms")]
    slice: humantime::Duration,
    /// The kernel takes the tasks back if one waits for so long; at most 30s.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    watchdog: humantime::Duration,
    /// Prints what the kernel's verifier and libbpf say.
    #[arg(short, long)]
    verbose: bool,
    /// Only says whether this kernel can take it.
    #[arg(long)]
    check: bool,
    /// Looks at another kernel instead: its uncompressed image, or its BTF.
    #[arg(long, value_name = "FILE", requires = "check")]
    btf: Option<PathBuf>,
}

/// Scheduling modes, by the names of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Nothing: virtual time alone.
    Fair,
    /// Victims get the time back (ATC'21).
    FairRelative,
    /// Victims get the time back, and who caused the loss pays (D ch. 7).
    FairIsolation,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("scx_evenkeel: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<ExitCode> {
    let print = |_, said: String| eprint!("{said}");
    libbpf_rs::set_print(args.verbose.then_some((PrintLevel::Debug, print)));
    let kernel = match &args.btf {
        Some(file) => Kernel::of_file(file).with_context(|| file.display().to_string()),
        None => Kernel::running().context("it needs CONFIG_DEBUG_INFO_BTF=y"),
    };
    let kernel = kernel.context("this kernel does not describe itself")?;
    if let Some(defect) = kernel.defects().first() {
        bail!("{defect}");
    }
    if args.check {
        println!("this kernel can take the scheduler");
        return Ok(ExitCode::SUCCESS);
    }
    let config = config(args)?;
    let topology = Topology::read().context("the CPUs of this machine")?;
    // From here on a signal is read, so that it ends the wait and not the process.
    let signals = signals()?;
    let running = Running::start(&config, &topology)?;
    eprintln!(
        "scx_evenkeel: fair scheduling on {} CPUs, {} last-level {}",
        topology.cpus(),
        topology.caches.count,
        if topology.caches.count == 1 { "cache" } else { "caches" },
    );
    match watch(args, &signals, &running)? {
        Some(end) => Ok(report(&end)),
        None => {
            if stderr().is_terminal() {
                eprintln!();
            }
            eprintln!("scx_evenkeel: ended; the kernel's own scheduler has the tasks again");
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn config(args: &Args) -> Result<Config> {
    let watchdog_ms = args.watchdog.as_millis();
    // SCX_WATCHDOG_MAX_TIMEOUT of kernel/sched/ext_internal.h, Linux 7.0.
    if !(1..=30_000).contains(&watchdog_ms) {
        bail!("--watchdog {}: expected 1ms to 30s", args.watchdog);
    }
    let slice_ns = u64::try_from(args.slice.as_nanos()).unwrap_or(u64::MAX);
    if !(200_000..=100_000_000).contains(&slice_ns) {
        bail!("--slice {}: expected 200us to 100ms", args.slice);
    }
    let compensation = compensation(args)?;
    Ok(Config { slice_ns, watchdog_ms: watchdog_ms as u32, compensation, ..Config::default() })
}

fn compensation(args: &Args) -> Result<Option<Compensation>> {
    let mode = match args.mode {
        Mode::Fair => return Ok(None),
        Mode::FairRelative => policy::Mode::Relative,
        Mode::FairIsolation => policy::Mode::Isolation,
    };
    let Some(name) = &args.cpu else {
        bail!("this mode takes frequencies from a CPU table: name it with --cpu");
    };
    let model = CpuTable::by_name(name)?.model(TurboMode::On)?;
    Ok(Some(Compensation::on(&model, mode, &[Sensor::Registers], &[])))
}

fn signals() -> Result<SignalFd> {
    let set: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
    set.thread_block().context("blocking signals")?;
    SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC).context("waiting for signals")
}

/// How often the loader looks whether the kernel ended the scheduler.
const LOOK: Duration = Duration::from_millis(200);

/// Waits for the end; nothing if it was asked for.
fn watch(args: &Args, signals: &SignalFd, running: &Running) -> Result<Option<End>> {
    let start = Instant::now();
    let mut next_stats = args.stats.map(|every| start + *every);
    loop {
        if let Some(end) = running.end()? {
            return Ok(Some(end));
        }
        let now = Instant::now();
        if next_stats.is_some_and(|time| time <= now) {
            print_counts(start.elapsed(), running)?;
            next_stats = args.stats.map(|every| now + *every);
        }
        let left = args.duration.map(|limit| limit.saturating_sub(start.elapsed()));
        if left == Some(Duration::ZERO) {
            return Ok(None);
        }
        let wait = left.map_or(LOOK, |left| left.min(LOOK));
        let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::ZERO);
        let mut polled = [PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, timeout).context("waiting for signals")? > 0 {
            return Ok(None);
        }
    }
}

fn print_counts(since: Duration, running: &Running) -> Result<()> {
    let counts = running.counts()?;
    let words: Vec<_> =
        counts.iter().map(|(counter, count)| format!("{} {count}", counter.name())).collect();
    println!("{:.1} s  {}", since.as_secs_f64(), words.join("  "));
    Ok(())
}

/// Says why the kernel ended it.
fn report(end: &End) -> ExitCode {
    let End { kind, code, reason, message } = end;
    eprintln!("scx_evenkeel: the kernel ended it: {reason} ({kind}, code {code})");
    if !message.is_empty() {
        eprintln!("scx_evenkeel: {}", message.trim_end());
    }
    if end.is_error() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
