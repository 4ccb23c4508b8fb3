//! A CPU table: the values that sources give for one CPU, and the values that no source gives.

mod embedded;
mod machine;
mod missing;
mod node;
mod read;
mod sections;
mod to_model;
mod transitions;

use serde::Serialize;

use crate::{Class, DemandRule, LicenseDomain};

pub use embedded::embedded;
pub use machine::{model_name, table_of};
pub use to_model::TurboMode;
pub use transitions::Transition;

/// Newest schema of CPU tables.
pub const CPU_TABLE_SCHEMA: u32 = 1;

/// The values of a CPU table. Values that no source gives are absent ([`CpuTable::missing`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuTable {
    /// Name, such as `xeon-gold-6130`.
    pub name: String,
    /// The described machine, in a sentence.
    pub description: String,
    /// Microarchitecture, such as `Skylake-SP`.
    pub microarchitecture: String,
    /// Counts and the reference clock.
    pub machine: Machine,
    /// Names of the levels, level 0 (the fastest) first.
    pub levels: Levels,
    /// Frequencies by active cores.
    pub turbo: Option<TurboRows>,
    /// Frequencies with turbo off.
    pub turbo_off: Option<TurboOff>,
    /// Cores whose frequency is capped; `None`: all cores are alike.
    pub low_priority: Option<LowPriority>,
    /// Which class demands which level.
    pub demand: Option<Demands>,
    /// Domain, holds and the halt of a fall.
    pub license: Option<LicenseTimes>,
    /// Throttle when the register file widens without a change of level.
    pub widen: Option<Widen>,
    /// How the core gets to a slower level.
    pub rises: Vec<RiseRule>,
    /// Performance events that detect wide instructions and their effect.
    pub events: Option<Events>,
}

/// Section `machine`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Packages.
    pub packages: Option<u32>,
    /// Cores of a package.
    pub cores: Option<u32>,
    /// Hardware threads of a core.
    pub threads: Option<u32>,
    /// Frequency of the reference clock (the TSC), in MHz.
    pub ref_mhz: Option<u32>,
    /// Where the values come from.
    pub source: String,
}

/// Section `levels`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Levels {
    /// Names, level 0 first.
    pub names: Vec<String>,
    /// Where the levels come from.
    pub source: String,
}

/// Section `turbo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurboRows {
    /// Ascending, without overlap; not every number of cores need be covered.
    pub rows: Vec<TurboRow>,
    /// Where the values come from.
    pub source: String,
}

/// Frequencies for a range of active cores of the package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurboRow {
    /// Fewest active cores the row is for.
    pub cores_min: u32,
    /// Most active cores the row is for.
    pub cores_max: u32,
    /// By level, in MHz.
    pub mhz: Vec<Option<u32>>,
}

/// Section `turbo_off`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurboOff {
    /// Fixed frequency by level, in MHz; a level without one keeps its turbo rows.
    pub mhz: Vec<Option<u32>>,
    /// Where the values come from.
    pub source: String,
}

/// Section `low_priority`: cores that Intel Speed Select caps in favour of the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LowPriority {
    /// How many cores of each package, the last ones.
    pub cores: u32,
    /// Highest frequency by level, in MHz.
    pub mhz: Vec<u32>,
    /// Where the values come from.
    pub source: String,
}

/// Section `demand`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Demands {
    /// The rules, by class, those of the highest rate first.
    pub rules: Vec<DemandRule>,
    /// Classes that the CPU cannot execute.
    pub unsupported: Vec<Class>,
    /// Where the rules come from.
    pub source: String,
}

/// Section `license`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LicenseTimes {
    /// The part of the machine that shares one license.
    pub domain: Option<LicenseDomain>,
    /// At most this many active cores is "few".
    pub few_cores: u32,
    /// Halt when the level falls.
    pub fall_halt_ns: Option<u32>,
    /// By level, in ns from the last demand until the level may fall; level 0 has none.
    pub hold_ns: Vec<Option<u32>>,
    /// Where the values come from.
    pub source: String,
}

/// Section `widen`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Widen {
    /// Length of the throttle in ns; 0: none.
    pub duration_ns: u32,
    /// How long while few cores are active.
    pub duration_few_ns: u32,
    /// Instruction rate meanwhile.
    pub rate_permille: u16,
    /// From the last use of a width until the width is powered down, in ns.
    pub hold_ns: u32,
    /// Where the values come from.
    pub source: String,
}

/// Section `rise`: how the core gets to a slower level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RiseRule {
    /// Level before; `None`: any faster one without a rule of its own.
    pub from: Option<u8>,
    /// Level after.
    pub to: u8,
    /// Whether the rule is for heavy instructions; `None`: for heavy and light ones.
    pub heavy: Option<bool>,
    /// Stages, in order.
    pub stages: Vec<StageRule>,
    /// Where the stages come from.
    pub source: String,
}

/// One stage of a rise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageRule {
    /// Throttle or halt.
    pub kind: StageKind,
    /// Length of the stage in ns.
    pub duration_ns: u32,
    /// How long while few cores are active.
    pub duration_few_ns: u32,
    /// Instruction rate meanwhile.
    pub rate_permille: u16,
    /// Level whose frequency applies; `None`: the one the rise starts from.
    pub level: Option<u8>,
}

/// Effect of a stage on the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageKind {
    /// First throttle, a quarter of the rate on Skylake (D 3.2.2).
    ThrottleA,
    /// Second throttle, half the rate on Skylake (D 3.2.2).
    ThrottleB,
    /// The clock stops.
    Halt,
}

impl StageKind {
    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThrottleA => "throttle-a",
            Self::ThrottleB => "throttle-b",
            Self::Halt => "halt",
        }
    }
}

/// Section `events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Events {
    /// The events.
    pub list: Vec<Event>,
    /// Where they come from.
    pub source: String,
}

/// A performance event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// The signal that the event counts, such as `license-1` or `fp-512`.
    pub signal: String,
    /// Event number.
    pub event: u32,
    /// Unit mask.
    pub umask: u32,
    /// Counter mask.
    pub cmask: u32,
    /// Whether both threads of a core read the same count.
    pub per_core: bool,
}

impl CpuTable {
    /// The level of that name.
    #[must_use]
    pub fn level(&self, name: &str) -> Option<u8> {
        let position = self.levels.names.iter().position(|level| level == name)?;
        u8::try_from(position).ok()
    }

    /// Each section of the table with its source, in the order of the file format.
    #[must_use]
    pub fn sources(&self) -> Vec<(String, &str)> {
        let mut sources = vec![
            ("machine".to_owned(), self.machine.source.as_str()),
            ("levels".to_owned(), self.levels.source.as_str()),
        ];
        let optional = [
            ("turbo", self.turbo.as_ref().map(|section| &section.source)),
            ("turbo_off", self.turbo_off.as_ref().map(|section| &section.source)),
            ("low_priority", self.low_priority.as_ref().map(|section| &section.source)),
            ("demand", self.demand.as_ref().map(|section| &section.source)),
            ("license", self.license.as_ref().map(|section| &section.source)),
            ("widen", self.widen.as_ref().map(|section| &section.source)),
        ];
        for (name, source) in optional {
            sources.extend(source.map(|source| (name.to_owned(), source.as_str())));
        }
        for rise in &self.rises {
            sources.push((format!("rise {}", self.describe(rise)), &rise.source));
        }
        sources.extend(
            self.events.as_ref().map(|section| ("events".to_owned(), section.source.as_str())),
        );
        sources
    }
}
