//! From which sensors are classes of tasks and frequencies of cores known on this machine?
//!
//! | Question | Where |
//! |---|---|
//! | Which of the available sources is the best? | here |
//! | Which event has which code, and which open? | `codes.rs` |
//! | Do the counters of all CPUs count? | `counters.rs` |
//! | When are counters given up, and taken back? | `given_up.rs` |

pub mod codes;
pub mod counters;
pub mod given_up;

use std::collections::BTreeMap;
use std::fmt;

use sensors::pmu::{Code, Refusal};

use crate::interface::{HardwareEvent, Sensor};

/// Sources of the classes of tasks, best first; the names are the simulator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Cycles at each license level (D 7.4).
    D7,
    /// Wide floating-point instructions.
    FpRetired,
    /// Register state that is saved when a task leaves its CPU.
    Xinuse,
    /// Names of tasks, by rules.
    Rules,
}

impl Source {
    /// All, best first.
    pub const ALL: [Self; 4] = [Self::D7, Self::FpRetired, Self::Xinuse, Self::Rules];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::D7 => "d7",
            Self::FpRetired => "fp-retired",
            Self::Xinuse => "xinuse",
            Self::Rules => "rules",
        }
    }

    fn means(self) -> &'static str {
        match self {
            Self::D7 => "cycles at license levels, and register state",
            Self::FpRetired => "wide floating-point instructions, and register state",
            Self::Xinuse => "register state",
            Self::Rules => "names of tasks",
        }
    }

    /// Counters that the source needs, besides those of cycles.
    fn needs(self) -> &'static [HardwareEvent] {
        match self {
            Self::D7 => &[HardwareEvent::License1, HardwareEvent::License2],
            Self::FpRetired => &[HardwareEvent::Fp256, HardwareEvent::Fp512],
            Self::Xinuse | Self::Rules => &[],
        }
    }
}

/// Source of the frequency of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Aperf and mperf, by perf's device `msr`.
    Msr,
    /// The cycle counters of the PMU.
    Pmu,
    /// The CPU table, by the license levels that are estimated to be in force.
    Table,
}

/// Why an event cannot be counted, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The CPU table is another CPU's, whose levels are not those that events of this CPU count.
    OtherCpu,
    /// The event, or the machine, refuses.
    Refused(Refusal),
}

impl fmt::Display for Lack {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherCpu => out.write_str("the CPU table is another CPU's"),
            Self::Refused(refusal) => refusal.fmt(out),
        }
    }
}

/// The sensors that a machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// By event: the code with which the event opens, or why not.
    pub events: BTreeMap<HardwareEvent, Result<Code, Lack>>,
    /// The codes of aperf and mperf, if both open.
    pub msr: Option<[Code; 2]>,
    /// Whether the kernel keeps saved registers where the scheduler reads them.
    pub tells_registers: bool,
    /// Whether rules are given.
    pub has_rules: bool,
}

impl Found {
    fn lack(&self, event: HardwareEvent) -> Option<Lack> {
        match self.events.get(&event) {
            Some(Ok(_)) => None,
            Some(Err(lack)) => Some(*lack),
            None => Some(Lack::Refused(Refusal::NoEvent)),
        }
    }

    fn code(&self, event: HardwareEvent) -> Option<Code> {
        self.events.get(&event)?.ok()
    }

    fn frequency(&self) -> Frequency {
        let cycles = [HardwareEvent::Cycles, HardwareEvent::RefCycles];
        if self.msr.is_some() {
            Frequency::Msr
        } else if cycles.iter().all(|&event| self.lack(event).is_none()) {
            Frequency::Pmu
        } else {
            Frequency::Table
        }
    }

    /// Why a source cannot be used here; `None` if it can.
    fn lacks(&self, source: Source) -> Option<String> {
        match source {
            Source::Rules => (!self.has_rules).then(|| "no --rule is given".to_owned()),
            Source::Xinuse => (!self.tells_registers).then(|| {
                "registers are not saved behind their task (Linux 6.16 and newer do)".to_owned()
            }),
            Source::D7 | Source::FpRetired => {
                let missing = |&event: &HardwareEvent| {
                    self.lack(event).map(|lack| format!("{}: {lack}", event.question().name()))
                };
                source.needs().iter().find_map(missing).or_else(|| {
                    let no_cycles = self.frequency() == Frequency::Table;
                    let lack = self.lack(HardwareEvent::Cycles);
                    let lack = lack.or_else(|| self.lack(HardwareEvent::RefCycles))?;
                    no_cycles.then(|| format!("cycles: {lack}"))
                })
            }
        }
    }
}

/// The chosen sensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Source of classes.
    pub source: Source,
    /// Source of frequencies.
    pub frequency: Frequency,
    /// The sensors that the BPF program is configured with.
    pub sensors: Vec<Sensor>,
    /// Counters to open on every CPU.
    pub counters: Vec<(HardwareEvent, Code)>,
    /// Better sources, and why each cannot be used.
    pub passed_over: Vec<(Source, String)>,
}

/// Chooses the best source that can be used, or the wanted one.
///
/// # Errors
/// Why the wanted source, or every source, cannot be used here.
pub fn choose(found: &Found, wanted: Option<Source>) -> Result<Choice, String> {
    let mut passed_over = Vec::new();
    for source in wanted.map_or_else(|| Source::ALL.to_vec(), |source| vec![source]) {
        match found.lacks(source) {
            Some(why) => passed_over.push((source, why)),
            None => return Ok(with(found, source, passed_over)),
        }
    }
    let all: Vec<_> =
        passed_over.iter().map(|(source, why)| format!("{}: {why}", source.name())).collect();
    Err(format!("nothing tells classes here: {}", all.join("; ")))
}

fn with(found: &Found, source: Source, passed_over: Vec<(Source, String)>) -> Choice {
    let mut sensors = match source {
        Source::D7 => vec![Sensor::Licenses],
        Source::FpRetired => vec![Sensor::FpRetired],
        Source::Xinuse | Source::Rules => Vec::new(),
    };
    if source != Source::Rules && found.tells_registers {
        sensors.push(Sensor::Registers);
    }
    if found.has_rules {
        sensors.push(Sensor::Rules);
    }
    let frequency = found.frequency();
    let cycles = [HardwareEvent::Cycles, HardwareEvent::RefCycles];
    let mut counters = Vec::new();
    match (frequency, found.msr) {
        (Frequency::Msr, Some(codes)) => counters.extend(cycles.into_iter().zip(codes)),
        (Frequency::Pmu, _) => counters.extend(coded(found, &cycles)),
        _ => {}
    }
    counters.extend(coded(found, source.needs()));
    if source == Source::D7 {
        let stalls = [HardwareEvent::StallL2Miss, HardwareEvent::StallStores];
        counters.extend(coded(found, &stalls));
    }
    Choice { source, frequency, sensors, counters, passed_over }
}

fn coded<'a>(
    found: &'a Found,
    events: &'a [HardwareEvent],
) -> impl Iterator<Item = (HardwareEvent, Code)> + 'a {
    events.iter().filter_map(|&event| Some((event, found.code(event)?)))
}

impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frequency = match self.frequency {
            Frequency::Msr => "aperf and mperf",
            Frequency::Pmu => "the cycle counters",
            Frequency::Table => "the CPU table",
        };
        let Self { source, sensors, passed_over, .. } = self;
        write!(out, "{} ({})", source.name(), source.means())?;
        if *source != Source::Rules && sensors.contains(&Sensor::Rules) {
            out.write_str(" and rules")?;
        }
        write!(out, ", frequencies from {frequency}")?;
        for (source, why) in passed_over {
            write!(out, "; not {}: {why}", source.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
