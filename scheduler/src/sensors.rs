//! What tells the classes of tasks and the frequencies of cores on this machine?
//!
//! | Question | Where |
//! |---|---|
//! | Which source is the best of those there are? | here |
//! | Which event has which code? | `codes.rs` |
//! | Does it open, and what does it count? | `counters.rs` |
//! | When are counters given up, and taken back? | `given_up.rs` |

mod codes;
pub mod counters;
pub mod given_up;

use std::collections::BTreeMap;
use std::fmt;

use crate::interface::{HardwareEvent, Sensor};

pub use codes::{Code, codes};

/// What tells the classes of tasks, best first; the names are the simulator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Cycles at each license level (D 7.4).
    D7,
    /// Wide floating-point instructions.
    FpRetired,
    /// Register state when a task leaves its CPU.
    Xinuse,
    /// Names.
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

    /// Counters without which it tells nothing, but for cycles.
    fn needs(self) -> &'static [HardwareEvent] {
        match self {
            Self::D7 => &[HardwareEvent::License1, HardwareEvent::License2],
            Self::FpRetired => &[HardwareEvent::Fp256, HardwareEvent::Fp512],
            Self::Xinuse | Self::Rules => &[],
        }
    }
}

/// Where the frequency of a core comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Aperf and mperf, by perf's device `msr`.
    Msr,
    /// The cycle counters of the PMU.
    Pmu,
    /// What the CPU table says of the levels believed in force.
    Table,
}

/// Why an event cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The CPU table has no such event.
    NotInTable,
    /// The codes of the CPU table are another CPU's.
    OtherCpu,
    /// There is no such device of perf.
    NoDevice,
    /// The kernel's answer.
    Errno(i32),
}

/// `ENOENT`: perf knows no such event on this machine (perf_event_open(2)).
const ENOENT: i32 = 2;
/// `EPERM` and `EACCES`.
const DENIED: [i32; 2] = [1, 13];

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInTable => out.write_str("not in the CPU table"),
            Self::OtherCpu => out.write_str("the CPU table is another CPU's"),
            Self::NoDevice => out.write_str("perf has no device msr"),
            Self::Errno(ENOENT) => out.write_str("no PMU (ENOENT)"),
            Self::Errno(errno) if DENIED.contains(errno) => out.write_str("not permitted"),
            Self::Errno(errno) => write!(out, "perf refuses it (errno {errno})"),
        }
    }
}

/// What was found on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Of each event whether it opens, and under which code.
    pub events: BTreeMap<HardwareEvent, Result<Code, Refusal>>,
    /// The codes of aperf and mperf, if both open.
    pub msr: Option<[Code; 2]>,
    /// Whether the kernel keeps saved registers where the scheduler looks for them.
    pub tells_registers: bool,
    /// Whether there are rules.
    pub has_rules: bool,
}

impl Found {
    fn refusal(&self, event: HardwareEvent) -> Option<Refusal> {
        match self.events.get(&event) {
            Some(Ok(_)) => None,
            Some(Err(refusal)) => Some(*refusal),
            None => Some(Refusal::NotInTable),
        }
    }

    fn code(&self, event: HardwareEvent) -> Option<Code> {
        self.events.get(&event)?.ok()
    }

    fn frequency(&self) -> Frequency {
        let cycles = [HardwareEvent::Cycles, HardwareEvent::RefCycles];
        if self.msr.is_some() {
            Frequency::Msr
        } else if cycles.iter().all(|&event| self.refusal(event).is_none()) {
            Frequency::Pmu
        } else {
            Frequency::Table
        }
    }

    /// Why a source tells nothing here.
    fn lacks(&self, source: Source) -> Option<String> {
        match source {
            Source::Rules => (!self.has_rules).then(|| "no --rule is given".to_owned()),
            Source::Xinuse => (!self.tells_registers).then(|| {
                "registers are not saved behind their task (Linux 6.16 and newer do)".to_owned()
            }),
            Source::D7 | Source::FpRetired => {
                let missing = |&event: &HardwareEvent| {
                    self.refusal(event).map(|refusal| format!("{}: {refusal}", event.signal()))
                };
                source.needs().iter().find_map(missing).or_else(|| {
                    let no_cycles = self.frequency() == Frequency::Table;
                    let refusal = self.refusal(HardwareEvent::Cycles);
                    let refusal = refusal.or_else(|| self.refusal(HardwareEvent::RefCycles));
                    no_cycles.then(|| format!("cycles: {}", refusal.unwrap_or(Refusal::NoDevice)))
                })
            }
        }
    }
}

/// What the scheduler is to see by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Of classes.
    pub source: Source,
    /// Of frequencies.
    pub frequency: Frequency,
    /// The same for the program.
    pub sensors: Vec<Sensor>,
    /// Counters to open on every CPU.
    pub counters: Vec<(HardwareEvent, Code)>,
    /// What would be better, and why it is not.
    pub passed_over: Vec<(Source, String)>,
}

/// Takes the best source, or the one that is wanted.
///
/// # Errors
/// Why the wanted one, or any, tells nothing here.
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
