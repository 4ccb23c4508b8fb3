//! From the arguments and the sensors of this machine to the configuration of the scheduler.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cpu_model::{CpuModel, CpuTable, TurboMode};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use sensors::pmu::{self, CpuId, Microarchitecture};
use trace::classes::Rules;

use scheduler::cgroups::{self, Listed};
use scheduler::cpu;
use scheduler::interface::{self, Compensation, Config, CoreRule, Part, Specialization};
use scheduler::kernel::Kernel;
use scheduler::kinds;
use scheduler::sensors::codes::{codes, probe};
use scheduler::sensors::counters::Counters;
use scheduler::sensors::{Choice, Found, choose};
use scheduler::stats::About;
use scheduler::topology::{self, Topology};

use crate::{Args, Enrol, Mode, PhaseEnd, WideCores};

/// The message about control groups at the start; an error where they have settings, which would
/// have no effect, and the arguments do not allow that.
pub fn cgroups(args: &Args) -> Result<String> {
    let settings = match cgroups::settings() {
        Ok(settings) => settings,
        Err(error) if args.ignore_cgroups => {
            return Ok(format!(
                "settings of control groups have no effect; which there are is unknown ({error})"
            ));
        }
        Err(error) => {
            return Err(error).context(
                "control groups may have weights or limits, which scx_evenkeel cannot honour; \
                 start with --ignore-cgroups to schedule without looking",
            );
        }
    };
    if settings.is_empty() {
        return Ok("cpu.weight, cpu.max and cpu.idle of control groups have no effect; tasks \
                   share by nice values alone"
            .to_owned());
    }
    if !args.ignore_cgroups {
        bail!(
            "control groups have weights or limits, and scx_evenkeel cannot honour them: it shares \
             time by nice values alone:{}\nreset them (those of systemd by `systemctl set-property \
             UNIT CPUWeight= CPUQuota=`), or start with --ignore-cgroups to schedule without their \
             effect",
            Listed(&settings)
        );
    }
    Ok(format!("these settings of control groups have no effect:{}", Listed(&settings)))
}

/// The CPU whose table compensation uses.
struct Cpu {
    table: CpuTable,
    model: CpuModel,
    /// Whether the table is this machine's, so that its levels are those that events count.
    is_this: bool,
}

/// The configuration that the arguments select, before the sensors are chosen.
pub struct Plan {
    config: Config,
    mode: Mode,
    cpu: Option<Cpu>,
    rules: Rules,
    /// Why the mode is `fair`, where no argument selects a mode.
    why: Option<String>,
}

/// Everything that the scheduler is loaded with.
pub struct Setup {
    /// Constants of the BPF program.
    pub config: Config,
    /// Open counters.
    pub counters: Counters,
    /// Rules for names, and the CPU that turns their classes into levels.
    pub rules: Option<(Rules, CpuModel)>,
    /// Name of the CPU table.
    pub cpu: Option<String>,
    /// For statistics.
    pub about: About,
    /// Messages for standard error at the start.
    pub said: Vec<String>,
}

impl Setup {
    /// Whether cores and tasks have kinds.
    pub fn is_specialized(&self) -> bool {
        self.config.compensation.as_ref().is_some_and(|it| it.specialization.is_some())
    }
}

/// Reads the arguments, and the CPU table that they name.
pub fn plan(args: &Args) -> Result<Plan> {
    let rules = Rules::parse(&args.rules)?;
    let (mode, cpu, why) = mode(args)?;
    let option = match args.sensors.wanted() {
        Some(_) => Some("--sensors"),
        None => (!rules.is_empty()).then_some("--rule"),
    };
    if let (Mode::Fair, Some(option)) = (mode, option) {
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        bail!("{option} is of use in modes that give time back, and this is fair{why}");
    }
    if mode != Mode::Even && !args.without.is_empty() {
        bail!("--without names parts of even, and this is {}", mode.name());
    }
    refuse_kinds(args, mode)?;
    Ok(Plan { config: config(args)?, mode, cpu, rules, why })
}

/// Refuses options of core specialization in other modes, and a wide core too many.
fn refuse_kinds(args: &Args, mode: Mode) -> Result<()> {
    let given = [
        ("--wide-cores", args.wide_cores.is_some()),
        ("--phase-end", args.phase_end.is_some()),
        ("--enrol", args.enrol.is_some()),
    ];
    let is_specialized = matches!(mode, Mode::Specialize | Mode::FairSpecialize);
    if let Some((option, _)) = given.iter().find(|&&(_, given)| given && !is_specialized) {
        bail!("{option} is of specialize and fair-specialize, and this is {}", mode.name());
    }
    if let Some(WideCores(Some(wanted))) = args.wide_cores {
        let topology = topology::read()?;
        let most = interface::wide_cores_max(&topology);
        if wanted > most {
            bail!(
                "--wide-cores {wanted}: one core of each last-level cache stays narrow, so that \
                 at most {most} may be wide on this machine"
            );
        }
    }
    Ok(())
}

/// How cores and tasks are specialized in that mode.
fn specialization(args: &Args, mode: Mode) -> Option<Specialization> {
    let rule = match mode {
        Mode::Specialize => CoreRule::Load,
        Mode::FairSpecialize => CoreRule::Lag,
        _ => return None,
    };
    Some(Specialization {
        rule,
        wide_cores: args.wide_cores.and_then(|WideCores(cores)| cores),
        ends_by_call: args.phase_end == Some(PhaseEnd::SystemCall),
        enrols_declared: args.enrol == Some(Enrol::Declared),
    })
}

fn config(args: &Args) -> Result<Config> {
    let watchdog_ms = args.watchdog.as_millis();
    // SCX_WATCHDOG_MAX_TIMEOUT of kernel/sched/ext_internal.h, Linux 7.0.
    if !(1..=30_000).contains(&watchdog_ms) {
        bail!("--watchdog {:?}: expected 1ms to 30s", args.watchdog);
    }
    let slice_ns = u64::try_from(args.slice.as_nanos()).unwrap_or(u64::MAX);
    if !(200_000..=100_000_000).contains(&slice_ns) {
        bail!("--slice {:?}: expected 200us to 100ms", args.slice);
    }
    let (watchdog_ms, emits_decisions) = (watchdog_ms as u32, args.decisions.is_some());
    Ok(Config { slice_ns, watchdog_ms, emits_decisions, ..Config::default() })
}

/// The mode, the CPU, and why the mode is `fair` where no argument selects a mode.
fn mode(args: &Args) -> Result<(Mode, Option<Cpu>, Option<String>)> {
    if args.mode == Some(Mode::Fair) {
        return Ok((Mode::Fair, None, None));
    }
    let found = match &args.cpu {
        Some(name) => Ok(named(name)?),
        None => of_this_machine(),
    };
    let (table, is_this) = match (found, args.mode) {
        (Ok(found), _) => found,
        (Err(why), None) => return Ok((Mode::Fair, None, Some(why))),
        (Err(why), Some(mode)) => bail!(
            "--mode {} takes frequencies from a CPU table, and {why}: name one with --cpu \
             (`evenkeel cpu list`), or measure it (`evenkeel characterize -o TABLE.toml`)",
            mode.name()
        ),
    };
    let model = match (table.model(TurboMode::On), args.mode, &args.cpu) {
        (Ok(model), ..) => model,
        (Err(error), None, None) => return Ok((Mode::Fair, None, Some(error.to_string()))),
        (Err(error), ..) => return Err(error.into()),
    };
    let why = format!("the clock of {} does not depend on wide instructions", table.name);
    match args.mode {
        None if !cpu::is_affected(&model) => Ok((Mode::Fair, None, Some(why))),
        mode => {
            let cpu = Cpu { table, model, is_this };
            Ok((mode.unwrap_or(Mode::FairIsolation), Some(cpu), None))
        }
    }
}

/// Longest CPU table that is read; the embedded ones have 6 kB.
const TABLE_BYTES_MAX: u64 = 1 << 20;

/// What the kernel says of this machine's CPUs.
fn cpuinfo() -> Option<String> {
    fs::read_to_string("/proc/cpuinfo").ok()
}

/// The model name of this machine's CPUs.
fn this_cpu() -> Option<String> {
    cpu_model::model_name(&cpuinfo()?).map(str::to_owned)
}

/// The microarchitecture of this machine's CPUs, where its events are known.
fn microarchitecture() -> Option<&'static Microarchitecture> {
    CpuId::parse(&cpuinfo()?)?.microarchitecture()
}

/// The text of a file that describes a device of perf.
fn device_file(name: &str) -> Option<String> {
    fs::read_to_string(Path::new(pmu::FOLDER).join(name)).ok()
}

/// The table of that name, or in that file, and whether the table is this machine's. A file is
/// taken to describe this machine.
fn named(name: &str) -> Result<(CpuTable, bool)> {
    if name.ends_with(".toml") || name.contains('/') {
        let path = Path::new(name);
        let length = fs::metadata(path).with_context(|| name.to_owned())?.len();
        if length > TABLE_BYTES_MAX {
            bail!("{name}: {length} bytes, expected a CPU table of at most {TABLE_BYTES_MAX}");
        }
        let text = fs::read_to_string(path).with_context(|| name.to_owned())?;
        return Ok((CpuTable::parse(&text, name)?, true));
    }
    let is_this = this_cpu().and_then(|said| cpu_model::table_of(&said)) == Some(name);
    Ok((CpuTable::by_name(name)?, is_this))
}

/// The table of this machine, or why none is known.
fn of_this_machine() -> Result<(CpuTable, bool), String> {
    let Some(said) = this_cpu() else {
        return Err("this machine does not name its CPU".to_owned());
    };
    let Some(name) = cpu_model::table_of(&said) else {
        return Err(format!("no CPU table is known for this CPU ({said})"));
    };
    CpuTable::by_name(name).map(|table| (table, true)).map_err(|error| error.to_string())
}

/// The longest hold of the named CPU, or of this machine's; `None` if no table has one.
pub fn hold(args: &Args) -> Result<Option<Duration>> {
    let found = match &args.cpu {
        Some(name) => Some(named(name)?),
        None => of_this_machine().ok(),
    };
    let Some((table, _)) = found else { return Ok(None) };
    let holds = table.license.iter().flat_map(|license| &license.hold_ns).flatten();
    Ok(holds.max().map(|&hold_ns| Duration::from_nanos(hold_ns.into())))
}

/// Chooses among the sensors of this machine, and opens the counters.
pub fn setup(args: &Args, plan: Plan, kernel: &Kernel, topology: &Topology) -> Result<Setup> {
    let Plan { mut config, mode, cpu, rules, why } = plan;
    let mut said: Vec<_> = why.map(|why| format!("fair, since {why}")).into_iter().collect();
    let policy_mode = match mode {
        Mode::Fair | Mode::Specialize => policy::Mode::None,
        Mode::FairRelative => policy::Mode::Relative,
        Mode::FairIsolation | Mode::Even | Mode::FairSpecialize => policy::Mode::Isolation,
    };
    let cpus = topology::online()?;
    let fair = |config, said| {
        let about = About { mode: Mode::Fair.name(), sensors: String::new(), cpus: cpus.len() };
        Setup { config, counters: Counters::default(), rules: None, cpu: None, about, said }
    };
    let Some(cpu) = cpu else { return Ok(fair(config, said)) };
    let first = cpus.first().copied().unwrap_or(0);
    let is_this = cpu.is_this || args.sensors.wanted().is_some();
    let found = Found {
        tells_registers: kernel.keeps_registers(),
        has_rules: !rules.is_empty(),
        ..probe(codes(microarchitecture(), is_this), first, device_file)
    };
    let is_default = args.mode.is_none() && args.sensors.wanted().is_none();
    let choice = match choose(&found, args.sensors.wanted()) {
        Ok(choice) => choice,
        Err(why) if is_default => return Ok(fair(config, vec![format!("fair, since {why}")])),
        Err(why) => bail!("{}: {why}", mode.name()),
    };
    said.push(format!("CPU {}; seen by {choice}", cpu.table.name));
    let counters = open(&choice, &cpus)?;
    let events: Vec<_> = choice.counters.iter().map(|&(event, _)| event).collect();
    let mut compensation = Compensation::on(&cpu.model, policy_mode, &choice.sensors, &events);
    if mode == Mode::Even {
        let without: Vec<Part> = args.without.iter().map(|part| part.part()).collect();
        compensation.parts = Part::ALL.into_iter().filter(|it| !without.contains(it)).collect();
        compensation.smt_share_permille = args.smt_share;
    }
    compensation.specialization = specialization(args, mode);
    if compensation.specialization.is_some() {
        said.extend(slow_cpus(topology));
    }
    config.compensation = Some(compensation);
    let about = About { mode: mode.name(), sensors: choice.to_string(), cpus: cpus.len() };
    let rules = (!rules.is_empty()).then_some((rules, cpu.model));
    Ok(Setup { config, counters, rules, cpu: Some(cpu.table.name), about, said })
}

/// What to say of CPUs whose clock is capped in favour of others.
fn slow_cpus(topology: &Topology) -> Option<String> {
    let slow: Vec<u32> =
        (0..).zip(&topology.is_slow).filter_map(|(cpu, &slow)| slow.then_some(cpu)).collect();
    (!slow.is_empty()).then(|| {
        let cpus = kinds::cpu_list(&slow);
        format!("the clock of CPUs {cpus} is below that of others: their cores are wide first")
    })
}

fn open(choice: &Choice, cpus: &[u32]) -> Result<Counters> {
    // Each counter of each CPU is an open file, and the usual limit of a process is 1024 files.
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).context("room for open files")?;
    }
    Counters::open(choice, cpus).map_err(|(event, cpu, refusal)| {
        let name = event.question().name();
        anyhow::Error::from(refusal).context(format!(
            "{name} opened on the first CPU and not on CPU {cpu}; --sensors xinuse needs no counter"
        ))
    })
}
