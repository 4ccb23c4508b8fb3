//! Flags that every simulated run shares, and what they mean.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use cpu_model::CpuModel;
use simulator::{
    CfsKernel, Compensation, Config, Costs, EevdfKernel, EvenParts, KernelMode, Queues, RqSharing,
    Scheduler, SensorFaults, SensorSet,
};

use crate::fault_options::FaultOptions;
use crate::machine;

/// Two compute-bound threads of a core get 1.25 times the throughput of one; our choice.
pub const SMT_SHARE_PERMILLE: u32 = 625;

/// A run of an hour: whoever needs more has asked for something else than they meant.
const EVENTS_MAX: u64 = 10_000_000_000;

/// How to simulate.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulated machine and scheduler")]
pub struct RunOptions {
    /// CPU to simulate: a name of `evenkeel cpu list`, or a file [default: what the work is for]
    #[arg(long, value_name = "NAME|FILE")]
    pub cpu: Option<String>,

    /// How the policy learns what runs: d7 (counters and traps, as in the dissertation),
    /// xinuse (register state), fp-retired (counted instructions), rules (names of programs),
    /// truth (no sensor is that good). `compare` takes several, the first for the table
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',',
        default_values_t = [Sensors::D7])]
    pub sensors: Vec<Sensors>,

    /// Repeats a run exactly; replicate i uses seed + i
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    pub seed: u64,

    /// Sets a parameter of the scenario (its section `parameters`)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, f64)>,

    /// Kernel whose rules are simulated: 6.1 for cfs (else 5.9), 6.12 or 6.18 for eevdf (6.1: 6.18)
    #[arg(long, value_enum, default_value_t = Kernel::V6_12)]
    pub kernel: Kernel,

    /// Timer interrupts a second of the tick-driven schedulers
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u32).range(100..=1000))]
    pub hz: u32,

    /// Run queues that MuQSS shares
    #[arg(long, value_enum, default_value_t = Sharing::None)]
    pub rq_sharing: Sharing,

    /// MuQSS looks at every queue (1) or only at longer ones (0)
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub interactive: u8,

    /// CPUs that share a queue of the fair schedulers (scx:… have one for each last-level cache)
    #[arg(long, value_enum, default_value_t = QueueGroups::Global)]
    pub queues: QueueGroups,

    /// No cost of context switches, traps and migrations
    #[arg(long)]
    pub ideal: bool,

    /// Each task runs at the frequency of its own instructions, whoever runs beside or before it,
    /// as on no CPU: shows how much of a slowdown is not the license's doing
    #[arg(long)]
    pub private_licenses: bool,

    /// Throughput a compute-bound thread keeps beside another, in permille of what it has alone
    #[arg(
        long,
        default_value_t = SMT_SHARE_PERMILLE,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub smt_share: u32,

    /// What `even` takes that to be
    #[arg(
        long,
        default_value_t = SMT_SHARE_PERMILLE,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub believed_smt_share: u32,

    /// Share of the cores that never lower their clock, in permille, as where not all are of one
    /// kind; no scheduler is told which
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(0..=1000)
    )]
    pub steady_cores: u32,

    /// Licenses and wide registers are held this long after their last use, whatever the CPU's
    /// table says
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub hold_us: Option<u32>,

    #[command(flatten)]
    pub faults: FaultOptions,
}

/// Sensor sets by name.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensors {
    #[value(name = "d7")]
    D7,
    Xinuse,
    FpRetired,
    Rules,
    Truth,
}

/// Kernel versions.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    #[value(name = "6.1")]
    V6_1,
    #[value(name = "6.12")]
    V6_12,
    #[value(name = "6.18")]
    V6_18,
}

/// Run-queue sharing of MuQSS.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    None,
    Smt,
    Mc,
    All,
}

/// Groups of CPUs with a common queue.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueGroups {
    Global,
    Llc,
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
            Self::Truth => "truth",
        }
    }

    fn set(self) -> SensorSet {
        match self {
            Self::D7 => SensorSet::D7,
            Self::Xinuse => SensorSet::Xinuse,
            Self::FpRetired => SensorSet::FpRetired,
            Self::Rules => SensorSet::Rules,
            Self::Truth => SensorSet::Truth,
        }
    }
}

impl Sharing {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Smt => "smt",
            Self::Mc => "mc",
            Self::All => "all",
        }
    }
}

/// Every scheduler, in the order of tables.
pub const SCHEDULERS: [&str; 7] =
    ["cfs", "eevdf", "muqss", "fair", "fair-relative", "fair-isolation", "even"];

/// What the dissertation discusses and refuses (D 7.3); nobody would use them.
const TO_COMPARE_WITH: [&str; 2] = ["fair-cycles", "fair-energy"];

/// The kernel scheduler's own source, as the simulator runs it.
const FROM_THE_KERNEL: [&str; 4] =
    ["scx:fair", "scx:fair-relative", "scx:fair-isolation", "scx:even"];

/// Costs in reference time, all our choice: a switch 1.5 us, a trap 1 us, a migration 2 us and
/// 40 ns for each KiB of working set (25 GB/s), twice that from another package.
pub const COSTS: Costs = Costs {
    switch_ns: 1_500,
    trap_ns: 1_000,
    migration_ns: 2_000,
    migration_ns_per_kib: 40,
    remote_package_factor: 2,
    idle_exit_ns: 0,
};

impl RunOptions {
    /// The scheduler of that name with these options.
    pub fn scheduler(&self, name: &str) -> Result<Scheduler> {
        let fair = |compensation| Scheduler::Fair {
            compensation,
            queues: match self.queues {
                QueueGroups::Global => Queues::Global,
                QueueGroups::Llc => Queues::PerLlc,
            },
        };
        let scx = |mode| {
            ensure!(
                cfg!(feature = "scx"),
                "--scheduler: {name} is not in this build: build it with cargo's feature scx"
            );
            Ok(Scheduler::Scx(mode))
        };
        Ok(match name {
            "cfs" => Scheduler::Cfs(match self.kernel {
                Kernel::V6_1 => CfsKernel::V6_1,
                Kernel::V6_12 | Kernel::V6_18 => CfsKernel::V5_9,
            }),
            "eevdf" => Scheduler::Eevdf(match self.kernel {
                Kernel::V6_12 => EevdfKernel::V6_12,
                Kernel::V6_1 | Kernel::V6_18 => EevdfKernel::V6_18,
            }),
            "muqss" => Scheduler::Muqss {
                rq_sharing: match self.rq_sharing {
                    Sharing::None => RqSharing::None,
                    Sharing::Smt => RqSharing::Smt,
                    Sharing::Mc => RqSharing::Mc,
                    Sharing::All => RqSharing::All,
                },
                interactive: self.interactive == 1,
            },
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
            _ => bail!(
                "--scheduler: {name:?} is not one of {}, {}, {}, {}",
                SCHEDULERS.join(", "),
                TO_COMPARE_WITH.join(", "),
                EvenParts::ABLATIONS.map(|(part, _)| part).join(", "),
                FROM_THE_KERNEL.join(", ")
            ),
        })
    }

    /// What named the CPU, for its errors: the flag, or a field of the work's file.
    pub fn named_cpu_by(&self, work: &str) -> String {
        if self.cpu.is_some() { "--cpu".to_owned() } else { format!("{work}: `cpu`") }
    }

    /// Kernel costs.
    pub fn costs(&self) -> Costs {
        if self.ideal { Costs::default() } else { COSTS }
    }

    /// One run's configuration.
    pub fn config(
        &self,
        scheduler: Scheduler,
        sensors: Sensors,
        replicate: u64,
        limit_ns: u64,
    ) -> Config {
        Config {
            scheduler,
            slice_factor: 1,
            sensors: sensors.set(),
            sensor_faults: self.faults.faults(),
            seed: self.seed.wrapping_add(replicate),
            costs: self.costs(),
            smt_share_permille: self.smt_share,
            believed_smt_share_permille: self.believed_smt_share,
            private_licenses: self.private_licenses,
            steady_cores_permille: self.steady_cores,
            hz: self.hz,
            limit_ns,
            events_max: EVENTS_MAX,
            history: false,
        }
    }

    /// Whether the simulated machine is another than that of published figures. Claims name the
    /// run queue sharing that they are about.
    pub fn differ_from_published(&self) -> bool {
        self.cpu.is_some()
            || !self.set.is_empty()
            || self.ideal
            || self.faults.faults() != SensorFaults::default()
            || self.steady_cores != 0
            || self.hold_us.is_some()
            || self.private_licenses
            || self.smt_share != SMT_SHARE_PERMILLE
            || self.believed_smt_share != SMT_SHARE_PERMILLE
            || self.queues != QueueGroups::Global
            || self.interactive != 1
    }

    /// The CPU of that name or file as these options have it.
    pub fn cpu_model(&self, name: &str, turbo: bool) -> Result<CpuModel> {
        let mut cpu = machine::model(name, turbo)?;
        if let Some(hold_us) = self.hold_us {
            let hold_ns = u64::from(hold_us) * 1000;
            cpu.license.hold_ns.iter_mut().skip(1).for_each(|held| *held = hold_ns);
            cpu.license.width_hold_ns = hold_ns;
        }
        Ok(cpu)
    }

    /// Parameters set on the command line.
    pub fn overrides(&self) -> BTreeMap<String, f64> {
        self.set.iter().cloned().collect()
    }
}

/// Reads a seed. clap's own parser of a `u64` does not say what it expects.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

fn assignment(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value: f64 = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
    if !value.is_finite() {
        return Err(format!("{value} is not a finite number"));
    }
    Ok((name.trim().to_owned(), value))
}
