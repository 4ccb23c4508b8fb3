//! A scenario: applications on a machine, in variants, with claims about the results.

use std::collections::BTreeMap;

use cpu_model::{Class, CpuModel};

use crate::claim::Claim;
use crate::fields::Place;
use crate::number::Number;
use crate::phase::{Phase, Share};
use crate::workload::CpuSet;

/// Most logical CPUs of a machine.
pub const CPUS_MAX: u32 = 1024;
/// Most threads of a workload.
pub const THREADS_MAX: u32 = 65_536;

/// Values of the CPU table for everything that a scenario omits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineDefaults {
    /// Reference frequency.
    pub ref_khz: u32,
    /// Packages of the CPU's machine.
    pub packages: u32,
    /// Cores of a package.
    pub cores_per_package: u32,
    /// Hardware threads of a core.
    pub threads_per_core: u32,
}

impl From<&CpuModel> for MachineDefaults {
    fn from(cpu: &CpuModel) -> Self {
        Self {
            ref_khz: cpu.turbo.ref_khz,
            packages: cpu.packages,
            cores_per_package: cpu.cores_per_package,
            threads_per_core: cpu.threads_per_core,
        }
    }
}

/// How foreground applications meet the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForegroundMode {
    /// Each in a run of its own.
    Each,
    /// All in one run.
    Together,
}

/// When the threads of a run begin, besides their `arrival_ns`; by default all at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Threads of the background arrive at random times within so long from 0, and applications
    /// of the foreground at random times within so long from the end of the warm-up.
    pub arrival_window_ns: u64,
    /// How long the background runs before the first application of the foreground can arrive.
    pub warm_up_ns: u64,
}

impl Start {
    /// From when on all applications of the foreground are present; rates of work count from here.
    #[must_use]
    pub fn counts_from_ns(self) -> u64 {
        self.warm_up_ns.saturating_add(self.arrival_window_ns)
    }
}

/// How a scenario wants to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// How foreground applications meet the background.
    pub foreground: ForegroundMode,
    /// When threads begin.
    pub start: Start,
    /// Simulated time after the warm-up after which a run stops.
    pub limit_ns: u64,
    /// How many seeds.
    pub replicates: u32,
}

/// One run of a scenario: which foreground beside which background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// Index of the foreground application; `None`: all together.
    pub foreground: Option<usize>,
    /// Index of the background variant.
    pub background: usize,
}

/// The used part of the machine; an absent value means all of the CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MachineSpec {
    pub(crate) packages: Option<(u32, Place)>,
    pub(crate) cores: Option<(u32, Place)>,
    pub(crate) threads_per_core: Option<(u32, Place)>,
    pub(crate) turbo_cores: Option<u32>,
    pub(crate) turbo: bool,
}

/// An application of the foreground or of a background variant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplicationSpec {
    pub(crate) name: String,
    pub(crate) threads: Number,
    pub(crate) instances: Number,
    pub(crate) nice: i8,
    pub(crate) affinity: Option<(CpuSet, Place)>,
    pub(crate) enrolled: bool,
    pub(crate) arrival_ms: Number,
    pub(crate) phases: Vec<Phase>,
    pub(crate) place: Place,
}

/// The classes of the work that a name of `classes` is bound to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Demand {
    /// One class.
    Always(Class),
    /// Classes in turn, each for a share of the work; the rest is scalar.
    InTurn(Vec<Share>),
}

/// A variant of the background: the control, or one to compare with the control.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) control: bool,
    pub(crate) classes: BTreeMap<String, Demand>,
    /// How many times as long as written the work of the applications takes: the speed of a build.
    pub(crate) time_scale: Number,
    pub(crate) applications: Vec<ApplicationSpec>,
    /// Whether the applications are those of an earlier variant, so that only classes differ.
    pub(crate) is_like: bool,
    pub(crate) place: Place,
}

/// A scenario, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name.
    pub name: String,
    /// Description, in a sentence or two.
    pub description: String,
    /// Source of the scenario.
    pub source: String,
    /// Name of the intended CPU table.
    pub cpu: String,
    /// How to run the scenario.
    pub run: Run,
    /// Parameters and their values without a fit.
    pub parameters: BTreeMap<String, f64>,
    /// Parameter sets that reproduce the calibrated baselines; replicate i uses fit i mod n.
    pub fits: Vec<BTreeMap<String, f64>>,
    /// Ids of the published figures that the fits reproduce: those of its calibrated claims, or
    /// of its base's; no results besides these were used.
    pub calibrated_on: Vec<String>,
    /// Claims about the results.
    pub claims: Vec<Claim>,
    pub(crate) file: String,
    pub(crate) machine: MachineSpec,
    pub(crate) foreground: Vec<ApplicationSpec>,
    pub(crate) background: Vec<Variant>,
}

impl Scenario {
    /// Every run: foreground applications by backgrounds, those of one foreground together.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let foregrounds = match self.run.foreground {
            ForegroundMode::Each => (0..self.foreground.len()).map(Some).collect(),
            ForegroundMode::Together => vec![None],
        };
        let beside = |foreground| {
            (0..self.background.len()).map(move |background| Case { foreground, background })
        };
        foregrounds.into_iter().flat_map(beside).collect()
    }

    /// Names of the foreground applications.
    pub fn foreground_names(&self) -> impl Iterator<Item = &str> {
        self.foreground.iter().map(|application| application.name.as_str())
    }

    /// Names of the background variants.
    pub fn background_names(&self) -> impl Iterator<Item = &str> {
        self.background.iter().map(|variant| variant.name.as_str())
    }

    /// Whether cores may run above their base frequency.
    #[must_use]
    pub fn turbo(&self) -> bool {
        self.machine.turbo
    }

    /// Index of the control: the background that all variants are compared with.
    #[must_use]
    pub fn control(&self) -> usize {
        self.background.iter().position(|variant| variant.control).unwrap_or(0)
    }
}
