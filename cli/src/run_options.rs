//! Options of every simulated run.

use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use cpu_model::CpuModel;
use scenarios::Start;
use simulator::{
    CfsKernel, Compensation, Config, Costs, Custom, EevdfKernel, EvenParts, KernelMode, Queues,
    RqSharing, Scheduler, SensorFaults, SensorSet, Specialization,
};

use crate::machine;
use crate::scx_source;
use crate::settings::{
    Kernel, Newcomers, PhaseEnd, QueueGroups, SMT_SHARE_PERMILLE, Settings, Sharing, WideCores,
};

/// More than a run of an hour has; a run beyond this limit is a mistake in its limits.
const EVENTS_MAX: u64 = 10_000_000_000;

/// How to simulate.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation")]
pub struct RunOptions {
    /// CPU to simulate: a name of `evenkeel cpu list`, or a file [default: what the work is for]
    #[arg(long, value_name = "NAME|FILE")]
    pub cpu: Option<String>,

    /// How the policy learns what runs: d7 (counters and traps, as in the dissertation), xinuse
    /// (register state), fp-retired (counted instructions), rules (program names), proposed (events
    /// and an interrupt that the dissertation proposes for future CPUs), truth (no sensor is that
    /// good); of several, the first is for the table
    #[arg(long, value_enum, value_name = "NAME,…", value_delimiter = ',',
        hide_possible_values = true,
        default_values_t = [Sensors::D7])]
    pub sensors: Vec<Sensors>,

    /// Repeats a run exactly; replicate i uses seed + i
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    pub seed: u64,

    #[command(flatten)]
    pub set: Settings,
}

/// Sensor sets by name.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensors {
    #[value(name = "d7")]
    D7,
    Xinuse,
    FpRetired,
    Rules,
    Proposed,
    Truth,
}

impl Sensors {
    /// The names of all sets.
    pub fn names() -> Vec<&'static str> {
        Self::value_variants().iter().map(|set| set.name()).collect()
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::D7 => "d7",
            Self::Xinuse => "xinuse",
            Self::FpRetired => "fp-retired",
            Self::Rules => "rules",
            Self::Proposed => "proposed",
            Self::Truth => "truth",
        }
    }

    fn set(self) -> SensorSet {
        match self {
            Self::D7 => SensorSet::D7,
            Self::Xinuse => SensorSet::Xinuse,
            Self::FpRetired => SensorSet::FpRetired,
            Self::Rules => SensorSet::Rules,
            Self::Proposed => SensorSet::Proposed,
            Self::Truth => SensorSet::Truth,
        }
    }
}

/// Every scheduler, in the order of tables.
pub const SCHEDULERS: [&str; 7] =
    ["cfs", "eevdf", "muqss", "fair", "fair-relative", "fair-isolation", "even"];

/// Schedulers that the dissertation discusses and refuses (D 7.3), and the earlier prototype; only
/// for comparison.
pub const TO_COMPARE_WITH: [&str; 4] =
    ["fair-cycles", "fair-energy", "machauer", "machauer-without-refund"];

/// Schedulers that avoid losses, by core scheduling or core specialization.
pub const AVOIDING: [&str; 3] = ["core-scheduling", "specialize", "fair-specialize"];

/// The kernel scheduler's own source, run by the simulator.
pub const FROM_THE_KERNEL: [&str; 6] = [
    "scx:fair",
    "scx:fair-relative",
    "scx:fair-isolation",
    "scx:even",
    "scx:specialize",
    "scx:fair-specialize",
];

/// Schedulers that [`crate::main_with`] was called with.
static CUSTOM: OnceLock<Vec<Custom>> = OnceLock::new();

/// Adds schedulers by their names, once for the process.
pub fn add_schedulers(schedulers: Vec<Custom>) {
    // A second call has no effect: the first one's schedulers may be in use.
    let _ = CUSTOM.set(schedulers);
}

impl RunOptions {
    /// The scheduler of that name with these options.
    pub fn scheduler(&self, name: &str) -> Result<Scheduler> {
        let set = &self.set.simulation;
        let fair = |compensation| self.fair(compensation);
        let scx = |mode| {
            ensure!(
                cfg!(feature = "scx"),
                "--scheduler: {name} is not in this build: build it with cargo's feature scx"
            );
            Ok(Scheduler::Scx(mode))
        };
        Ok(match name {
            _ if let Some(scheduler) = self.of_user(name)? => scheduler,
            "cfs" => Scheduler::Cfs(self.cfs_kernel()),
            "machauer" => Scheduler::Machauer { kernel: self.cfs_kernel(), applies: true },
            "machauer-without-refund" => {
                Scheduler::Machauer { kernel: self.cfs_kernel(), applies: false }
            }
            "eevdf" => Scheduler::Eevdf(match set.kernel {
                Kernel::V6_12 => EevdfKernel::V6_12,
                Kernel::V6_1 | Kernel::V6_18 => EevdfKernel::V6_18,
            }),
            "muqss" => Scheduler::Muqss {
                rq_sharing: match set.rq_sharing {
                    Sharing::None => RqSharing::None,
                    Sharing::Smt => RqSharing::Smt,
                    Sharing::Mc => RqSharing::Mc,
                    Sharing::All => RqSharing::All,
                },
                interactive: set.interactive == 1,
            },
            "core-scheduling" => Scheduler::CoreScheduling(self.cfs_kernel()),
            "specialize" => Scheduler::Specialize(self.specialization()),
            "fair-specialize" => Scheduler::FairSpecialize(self.specialization()),
            "fair" => fair(Compensation::None),
            "fair-relative" => fair(Compensation::Relative),
            "fair-isolation" => fair(Compensation::Isolation),
            "fair-cycles" => fair(Compensation::Cycles),
            "fair-energy" => fair(Compensation::Energy),
            "even" => fair(Compensation::Even(EvenParts::ALL)),
            "scx:fair" => scx(KernelMode::Fair)?,
            "scx:fair-relative" => scx(KernelMode::Relative)?,
            "scx:fair-isolation" => scx(KernelMode::Isolation)?,
            "scx:even" => scx(KernelMode::Even(EvenParts::ALL))?,
            "scx:specialize" => scx(KernelMode::Specialize(self.specialization()))?,
            "scx:fair-specialize" => scx(KernelMode::FairSpecialize(self.specialization()))?,
            _ if let Some((_, parts)) =
                EvenParts::ABLATIONS.iter().find(|(part, _)| *part == name) =>
            {
                fair(Compensation::Even(*parts))
            }
            _ if let Some((_, parts)) =
                EvenParts::ABLATIONS.iter().find(|(_, parts)| parts.scx_name() == name) =>
            {
                scx(KernelMode::Even(*parts))?
            }
            "even-without-airing" | "scx:even-without-airing" => bail!(
                "--scheduler: `{name}` is now `{}`",
                name.replace("airing", "forced-switch-out")
            ),
            _ => bail!(
                "--scheduler: {name:?} is not one of {}, {}, {}, {}, {}, scx:FILE.bpf.c",
                SCHEDULERS.join(", "),
                AVOIDING.join(", "),
                TO_COMPARE_WITH.join(", "),
                EvenParts::ABLATIONS.map(|(part, _)| part).join(", "),
                FROM_THE_KERNEL.join(", ")
            ),
        })
    }

    /// A scheduler that is not ours: in the program that runs, or in a file.
    fn of_user(&self, name: &str) -> Result<Option<Scheduler>> {
        let custom = CUSTOM.get().and_then(|all| all.iter().find(|one| one.name() == name));
        if let Some(custom) = custom {
            return Ok(Some(Scheduler::Custom(custom.clone())));
        }
        let source =
            scx_source::compiled(name, &self.set.simulation.include).context("--scheduler")?;
        Ok(source.map(Scheduler::ScxSource))
    }

    fn cfs_kernel(&self) -> CfsKernel {
        match self.set.simulation.kernel {
            Kernel::V6_1 => CfsKernel::V6_1,
            Kernel::V6_12 | Kernel::V6_18 => CfsKernel::V5_9,
        }
    }

    /// How core specialization confines wide tasks, with these options.
    fn specialization(&self) -> Specialization {
        let set = &self.set.simulation;
        Specialization {
            wide_cores: match set.wide_cores {
                WideCores::Auto => None,
                WideCores::Fixed(cores) => Some(cores),
            },
            phase_end: match set.wide_phase_end {
                PhaseEnd::SystemCall => simulator::PhaseEnd::SystemCall,
                PhaseEnd::Timeout => simulator::PhaseEnd::Timeout,
                PhaseEnd::RenewedTimeout => simulator::PhaseEnd::RenewedTimeout,
            },
            keeps_short_phases: set.keep_short_phases,
        }
    }

    /// A scheduler with one virtual time for all CPUs, with these options.
    fn fair(&self, compensation: Compensation) -> Scheduler {
        let set = &self.set.simulation;
        Scheduler::Fair {
            compensation,
            newcomers: match set.newcomers {
                None => compensation.newcomers(),
                Some(Newcomers::Least) => simulator::Newcomers::Least,
                Some(Newcomers::Floor) => simulator::Newcomers::Floor,
            },
            queues: match set.queues {
                QueueGroups::Global => Queues::Global,
                QueueGroups::Llc => Queues::PerLlc,
            },
        }
    }

    /// The source of the CPU's name, for errors: the flag, or a field of the work's file.
    pub fn named_cpu_by(&self, work: &str) -> String {
        if self.cpu.is_some() { "--cpu".to_owned() } else { format!("{work}: `cpu`") }
    }

    /// Kernel costs.
    pub fn costs(&self) -> Costs {
        if self.set.simulation.ideal { Costs::default() } else { Costs::USUAL }
    }

    /// One run's configuration.
    pub fn config(
        &self,
        scheduler: Scheduler,
        sensors: Sensors,
        replicate: u64,
        start: Start,
        limit_ns: u64,
    ) -> Config {
        let start = self.start(start);
        let set = &self.set.simulation;
        Config {
            scheduler,
            slice_factor: 1,
            sensors: sensors.set(),
            sensor_faults: self.set.faults.faults(),
            seed: self.seed.wrapping_add(replicate),
            costs: self.costs(),
            smt_share_permille: set.smt_share,
            believed_smt_share_permille: set.believed_smt_share,
            private_licenses: set.private_licenses,
            adaptive_holds: set.adaptive_holds,
            steady_cores_permille: set.steady_cores,
            hz: set.hz,
            start,
            limit_ns: limit_ns.saturating_add(start.counts_from_ns()),
            events_max: EVENTS_MAX,
            history: false,
        }
    }

    /// When threads begin: as the work says, unless asked otherwise.
    pub fn start(&self, work: Start) -> Start {
        let set = &self.set.simulation;
        let asked_ns = |time_ms: Option<u32>| time_ms.map(|ms| u64::from(ms) * 1_000_000);
        Start {
            arrival_window_ns: asked_ns(set.arrival_window_ms).unwrap_or(work.arrival_window_ns),
            warm_up_ns: asked_ns(set.warm_up_ms).unwrap_or(work.warm_up_ns),
        }
    }

    /// Whether the simulated machine is another than that of published figures. Claims name the
    /// run queue sharing that they are about.
    pub fn differ_from_published(&self) -> bool {
        let set = &self.set.simulation;
        self.cpu.is_some()
            || !self.set.parameters.is_empty()
            || set.ideal
            || self.set.faults.faults() != SensorFaults::default()
            || set.steady_cores != 0
            || set.hold_us.is_some()
            || set.adaptive_holds
            || set.private_licenses
            || set.placebo
            || set.warm_up_ms.is_some()
            || set.arrival_window_ms.is_some()
            || set.smt_share != SMT_SHARE_PERMILLE
            || set.believed_smt_share != SMT_SHARE_PERMILLE
            || set.queues != QueueGroups::Global
            || set.newcomers.is_some()
            || set.interactive != 1
            || self.specialization() != Specialization::PUBLISHED
    }

    /// The CPU of that name or file, with these options.
    pub fn cpu_model(&self, name: &str, turbo: bool) -> Result<CpuModel> {
        let mut cpu = machine::model(name, turbo)?;
        if let Some(hold_us) = self.set.simulation.hold_us {
            let hold_ns = u64::from(hold_us) * 1000;
            cpu.license.hold_ns.iter_mut().skip(1).for_each(|held| *held = hold_ns);
            cpu.license.width_hold_ns = hold_ns;
        }
        Ok(cpu)
    }
}

/// Reads a seed. clap's own error for a `u64` does not state the expected range.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}
