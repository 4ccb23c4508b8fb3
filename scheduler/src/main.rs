//! `scx_evenkeel`: loads the scheduler, and waits for a signal or until the kernel ends it.

mod decisions;
mod generate;
mod monitor;
mod observing;
mod setup;
mod specializing;
mod watch;

use std::ffi::OsString;
use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::error::ErrorKind::{InvalidValue, UnknownArgument};
use clap::error::{ContextKind, ContextValue};
use clap::{Parser, ValueEnum};
use libbpf_rs::PrintLevel;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use scheduler::interface::{End, Part, SMT_SHARE_PERMILLE};
use scheduler::kernel::Kernel;
use scheduler::load::Running;
use scheduler::sensors::Source;
use scheduler::topology;

/// Commands that the help and the manual page show, in 80 columns.
const EXAMPLES: &str = "\
scx_evenkeel                       # schedules until Ctrl-C
scx_evenkeel --for 10m --stats 1s  # ten minutes, with statistics
scx_evenkeel --mode even --cpu machine.toml --rule 'x265*=avx512-heavy'
scx_evenkeel --mode fair-specialize --wide-cores 2  # AVX-512 on two cores
scx_evenkeel --observe --for 10s   # which tasks use wide registers?
scx_evenkeel --monitor             # what the running one does
scx_evenkeel --check               # can this kernel take it?";

/// Fair sched_ext scheduler that gives back the time wide instructions of other tasks cost.
///
/// On power-limited CPUs, wide instructions (AVX2, AVX-512, AMX) of one task lower the clock of the
/// tasks that run next on the same core or beside it. scx_evenkeel schedules by virtual time,
/// counts the time that a task loses in this way, and gives it back.
///
/// It schedules all tasks of the normal classes until it ends; then the kernel's own scheduler
/// takes them back. It ends by Ctrl-C, SIGTERM or after --for. However it ends, it leaves nothing
/// in the kernel.
///
/// It needs root and Linux 6.18 or newer, built with CONFIG_SCHED_CLASS_EXT=y and
/// CONFIG_DEBUG_INFO_BTF=y. --check says whether this kernel can take it, and needs no root.
/// --observe needs root and Linux 5.16 or newer with CONFIG_DEBUG_INFO_BTF=y, but not sched_ext.
#[derive(Parser)]
#[command(name = "scx_evenkeel", version, after_help = examples())]
struct Args {
    /// Ends by itself after this time, as in 90s or 10m.
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    duration: Option<Duration>,
    /// Prints statistics at this interval; a number alone is seconds.
    #[arg(long, value_name = "TIME", value_parser = interval)]
    stats: Option<Duration>,
    /// Shows every second what the running scx_evenkeel does; loads nothing.
    #[arg(long, conflicts_with_all = ["check", "stats", "mode", "cpu"])]
    monitor: bool,
    /// Schedules nothing: shows which tasks use wide registers, and which tasks run after them.
    /// Needs no sched_ext.
    #[arg(long, conflicts_with_all = ["check", "monitor", "mode", "rules", "decisions"])]
    observe: bool,
    /// What the scheduler does about time that tasks lose to wide instructions of other tasks.
    /// Without it, fair-isolation where the CPU is known to be affected, else fair.
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// Parts of even to leave out, separated by commas; without repayment a CPU never idles while
    /// a task waits.
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    without: Vec<EvenPart>,
    /// Speed of a hardware thread beside a busy one, in permille of its speed alone; for even.
    #[arg(long, value_name = "PERMILLE", default_value_t = SMT_SHARE_PERMILLE,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    smt_share: u32,
    /// Cores for 512-bit instructions, of each last-level cache: as the mode decides, or always so
    /// many; for specialize and fair-specialize.
    #[arg(long, value_name = "auto|N", value_parser = wide_cores)]
    wide_cores: Option<WideCores>,
    /// What ends the phase in which a task counts as using 512-bit instructions; for specialize and
    /// fair-specialize. Without it, the timeout.
    #[arg(long, value_enum, value_name = "WHAT")]
    phase_end: Option<PhaseEnd>,
    /// Tasks that specialize and fair-specialize concern. Without it, all.
    #[arg(long, value_enum, value_name = "TASKS")]
    enrol: Option<Enrol>,
    /// CPU table to take frequencies from: a name of `evenkeel cpu list`, or a file, such as
    /// `evenkeel characterize` writes. Without it, the table of this machine's model name.
    #[arg(long, value_name = "NAME|FILE")]
    cpu: Option<String>,
    /// Source that tells which tasks use wide instructions.
    #[arg(long, value_enum, default_value_t = Sensors::Auto)]
    sensors: Sensors,
    /// Class of instructions of the tasks whose name fits GLOB: scalar, avx2-light, avx2-heavy,
    /// avx512-light, avx512-heavy or amx; RATE is instructions per cycle. May be repeated; the
    /// first rule that fits holds.
    #[arg(long = "rule", value_name = "GLOB=CLASS[@RATE]")]
    rules: Vec<String>,
    /// Writes a record of each slice to this file, for `evenkeel trace import`.
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// Slice of a task that has its CPU for itself.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "6ms")]
    slice: Duration,
    /// The kernel ends the scheduler if a task waits for so long; at most 30s.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "30s")]
    watchdog: Duration,
    /// Schedules although control groups have weights, cpu.max or cpu.idle, which have no effect
    /// then: tasks share by nice values alone. Without it such a setting keeps the scheduler from
    /// starting, and ends it when it is made while it runs.
    #[arg(long)]
    ignore_cgroups: bool,
    /// Prints what the kernel's verifier and libbpf say.
    #[arg(short, long)]
    verbose: bool,
    /// Only says whether this kernel can take the scheduler.
    #[arg(long)]
    check: bool,
    /// Kernel that --check examines instead: its uncompressed image, or its BTF.
    #[arg(long, value_name = "FILE", requires = "check")]
    btf: Option<PathBuf>,
    /// Writes the manual page or a shell's completions to standard output.
    #[arg(long, value_enum, value_name = "WHAT", hide = true, exclusive = true)]
    generate: Option<generate::What>,
}

/// The examples below a heading, as help shows them.
fn examples() -> String {
    let lines = EXAMPLES.lines().map(|line| format!("\n  {line}"));
    "Examples:".to_owned() + &lines.collect::<String>()
}

/// Scheduling modes, by the names of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Nothing: it schedules by virtual time alone.
    Fair,
    // ATC'21.
    /// Tasks get the lost time back.
    FairRelative,
    // D ch. 7.
    /// Tasks get the lost time back, and the tasks that caused the loss are billed for it.
    FairIsolation,
    /// As fair-isolation; also keeps license levels on cores of their own, and lets a hardware
    /// thread idle beside a task whose loss time cannot give back.
    Even,
    // D ch. 6.
    /// Tasks with 512-bit instructions run on as few cores as they need; lost time is not given
    /// back. They are known after the fact, so that some of their time is still on other cores.
    Specialize,
    /// As specialize, with cores chosen so that each task gets its share; and as fair-isolation for
    /// what is still lost.
    FairSpecialize,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Fair => "fair",
            Self::FairRelative => "fair-relative",
            Self::FairIsolation => "fair-isolation",
            Self::Even => "even",
            Self::Specialize => "specialize",
            Self::FairSpecialize => "fair-specialize",
        }
    }
}

/// What ends the wide phase of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PhaseEnd {
    /// No sensor has shown 512-bit instructions for a while: 0.1 s by counters, 2 s by registers.
    Timeout,
    // D 6.2.4.
    /// Any system call, unless the task's recent phases without 512-bit instructions were shorter
    /// than 100 us; else the timeout. Slows down every system call of the machine a little.
    SystemCall,
}

/// Which tasks core specialization concerns, besides those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Enrol {
    /// All.
    All,
    // D 6.3.2.
    /// Those that `evenkeel exec --class` started, and their children.
    Declared,
}

/// Wide cores: `auto`, or a number of each last-level cache.
fn wide_cores(text: &str) -> Result<WideCores, String> {
    let number = || text.parse().ok().filter(|&cores| cores > 0).map(Some);
    let cores = if text == "auto" { Some(None) } else { number() };
    cores.map(WideCores).ok_or_else(|| "expected auto, or a number of 1 or more".to_owned())
}

/// A number of wide cores of each last-level cache; `None`: as the mode decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WideCores(Option<u32>);

/// What `even` adds to fair-isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EvenPart {
    /// CPUs prefer tasks of the level that runs on their siblings.
    Matching,
    /// Waking tasks take the idle CPU whose core suits their level.
    Placing,
    /// Running tasks exchange their CPUs where no task waits.
    Swaps,
    /// A CPU is forced idle though a task waits, to repay the deficit of the task on its sibling.
    Repayment,
    /// A task that runs without a pause has forced switch-outs, so that its saved registers show
    /// its class.
    ForcedSwitchOut,
}

impl EvenPart {
    fn part(self) -> Part {
        match self {
            Self::Matching => Part::Matching,
            Self::Placing => Part::Placing,
            Self::Swaps => Part::Swaps,
            Self::Repayment => Part::Repayment,
            Self::ForcedSwitchOut => Part::ForcedSwitchOut,
        }
    }
}

/// Sources of the tasks' classes, by the names of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sensors {
    /// The best one that this machine has.
    Auto,
    /// Counters of cycles at license levels, and saved registers.
    D7,
    /// Counters of wide floating-point instructions, and saved registers.
    FpRetired,
    /// Saved registers.
    Xinuse,
    /// Names of tasks, by --rule.
    Rules,
}

impl Sensors {
    fn wanted(self) -> Option<Source> {
        match self {
            Self::Auto => None,
            Self::D7 => Some(Source::D7),
            Self::FpRetired => Some(Source::FpRetired),
            Self::Xinuse => Some(Source::Xinuse),
            Self::Rules => Some(Source::Rules),
        }
    }
}

/// A time such as 90s or 10m; a number alone is seconds, as other schedulers' loaders take it.
fn time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time of 0 or more, such as 90s, 10m or 1.5".to_owned();
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| expected()),
        Err(_) => humantime::parse_duration(text).map_err(|_| expected()),
    }
}

/// A time as in [`time`], of at least 10 ms, so that printing does not take the whole interval.
fn interval(text: &str) -> Result<Duration, String> {
    let time = time(text)?;
    let least = Duration::from_millis(10);
    if time >= least { Ok(time) } else { Err("expected 10ms or more".to_owned()) }
}

/// Reads the arguments. clap takes a value that begins with a minus, as in `--for -1`, for an
/// unknown argument. Parsed again with `=` between option and value, the error names the values
/// that the option expects. The error for the old name of a part of `even` names the new one.
fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Args, clap::Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    let error = match Args::try_parse_from(&words) {
        Err(error) if error.kind() == UnknownArgument => error,
        Err(error) if has_value(&error, "airing") => {
            let renamed = "`--without airing` is now `--without forced-switch-out`\n";
            return Err(clap::Error::raw(InvalidValue, renamed));
        }
        parsed => return parsed,
    };
    let joined = Args::try_parse_from(with_values_joined(words)).err();
    Err(joined.filter(|joined| joined.kind() != UnknownArgument).unwrap_or(error))
}

/// Whether the error is about that value of an option.
fn has_value(error: &clap::Error, value: &str) -> bool {
    let invalid = error.get(ContextKind::InvalidValue);
    invalid.is_some_and(|invalid| *invalid == ContextValue::String(value.to_owned()))
}

/// The words, with `--option -1s` joined to `--option=-1s`.
fn with_values_joined(words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for word in words {
        let is_value = matches!(word.as_encoded_bytes(), [b'-', b'.' | b'0'..=b'9', ..]);
        match joined.last_mut() {
            Some(option) if is_value && option.as_encoded_bytes().starts_with(b"--") => {
                option.push("=");
                option.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

fn main() -> ExitCode {
    let args = parse(std::env::args_os()).unwrap_or_else(|error| error.exit());
    match run(&args) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("scx_evenkeel: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<ExitCode> {
    if let Some(what) = args.generate {
        return generate::run(what);
    }
    if args.monitor {
        return monitor::run();
    }
    let print = |_, said: String| eprint!("{said}");
    libbpf_rs::set_print(args.verbose.then_some((PrintLevel::Debug, print)));
    let kernel = match &args.btf {
        Some(file) => Kernel::of_file(file).with_context(|| file.display().to_string()),
        None => Kernel::running().context("it needs CONFIG_DEBUG_INFO_BTF=y"),
    };
    let kernel = kernel.context("this kernel does not describe itself")?;
    if args.observe {
        return observing::run(args, &kernel);
    }
    // Errors in the arguments come first, since they do not depend on the kernel.
    let topology = topology::read().context("the CPUs of this machine")?;
    let plan = setup::plan(args)?;
    if let Some(defect) = kernel.defects().first() {
        bail!("{defect}");
    }
    if args.check {
        println!("this kernel can take the scheduler");
        return Ok(ExitCode::SUCCESS);
    }
    let cgroups = setup::cgroups(args)?;
    let setup = setup::setup(args, plan, &kernel, &topology)?;
    let about = &setup.about;
    let head = decisions::head(&topology, about.mode, setup.cpu.as_deref(), &about.sensors);
    let file = args.decisions.as_deref().map(|path| decisions::File::create(path, &head));
    let file = file.transpose()?;
    // From here on signals are read from a file: a signal ends the wait and not the process.
    let signals = signals()?;
    let running = Running::start(&kernel, &setup.config, &topology, &setup.counters)?;
    eprintln!(
        "scx_evenkeel: {} scheduling on {} CPUs, {} last-level {}",
        about.mode,
        topology.cpus(),
        topology.caches.count,
        if topology.caches.count == 1 { "cache" } else { "caches" },
    );
    eprintln!("scx_evenkeel: {cgroups}");
    for said in &setup.said {
        eprintln!("scx_evenkeel: {said}");
    }
    match watch::watch(args, &setup, &signals, &running, &topology, file)? {
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

/// Blocks the signals that end the program, and returns the file that they are read from.
fn signals() -> Result<SignalFd> {
    let set: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
    set.thread_block().context("blocking signals")?;
    SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC).context("waiting for signals")
}

/// Prints why the kernel ended the scheduler.
fn report(end: &End) -> ExitCode {
    let End { kind, code, reason, message, dump } = end;
    eprintln!("scx_evenkeel: the kernel ended it: {reason} ({kind}, code {code})");
    if !message.is_empty() {
        eprintln!("scx_evenkeel: {}", message.trim_end());
    }
    if !dump.is_empty() {
        eprintln!("scx_evenkeel: tasks and CPUs at that time:\n{}", dump.trim_end());
    }
    if end.is_error() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn times_have_units_or_are_seconds() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(time("10m"), Ok(Duration::from_secs(600)));
        for wrong in ["", "-1", "x", "nan", "1e30", "99999999999999999999s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert!(interval("0").is_err() && interval("1ms").is_err());
        assert_eq!(interval("1"), Ok(Duration::from_secs(1)));
    }

    #[test]
    fn an_option_says_what_it_expects_when_its_value_is_below_0() {
        let command = Args::command();
        for option in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let is = |kind: TypeId| option.get_value_parser().type_id() == kind;
            if is(TypeId::of::<String>()) || is(TypeId::of::<PathBuf>()) {
                continue;
            }
            let value = if is(TypeId::of::<Duration>()) { "-1s" } else { "-1" };
            let flag = format!("--{}", option.get_long().unwrap());
            let parsed = parse(["scx_evenkeel", &flag, value].map(OsString::from));
            let said = parsed.err().map(|error| error.to_string()).unwrap_or_default();
            let begin = format!("error: invalid value '{value}' for '{flag} <");
            assert!(said.starts_with(&begin), "{flag}: {said}");
            let expects = ["expected ", " is not in ", "possible values: "];
            assert!(expects.iter().any(|words| said.contains(words)), "{flag}: {said}");
        }
    }

    #[test]
    fn the_old_name_of_a_part_is_refused_with_the_new_one() {
        let said = |words: [&str; 3]| {
            parse(words.map(OsString::from)).err().map(|error| error.to_string())
        };
        let renamed = "error: `--without airing` is now `--without forced-switch-out`\n";
        let old = ["scx_evenkeel", "--without", "swaps,airing"];
        assert_eq!(said(old).as_deref(), Some(renamed));
        assert_eq!(said(["scx_evenkeel", "--without", "swaps,forced-switch-out"]), None);
    }

    #[test]
    fn arguments_fit_each_other() {
        Args::command().debug_assert();
        assert!(Args::try_parse_from(["scx_evenkeel", "--observe", "--mode", "fair"]).is_err());
        assert!(Args::try_parse_from(["scx_evenkeel", "--monitor", "--stats", "1"]).is_err());
        assert!(Args::try_parse_from(["scx_evenkeel", "--btf", "vmlinux"]).is_err());
    }
}
