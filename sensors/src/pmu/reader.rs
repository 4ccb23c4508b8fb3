//! How often did the events happen on one CPU, at which clock did it run, and how much energy did
//! its package take?

use super::code::Code;
use super::counter::{Counts, Group, ReadError};
use super::device::{DeviceEvent, aperf_mperf, device_event};
use super::events::{Microarchitecture, Question, code};
use super::refusal::Refusal;

/// The counters of one CPU; dropping this value closes them.
#[derive(Debug)]
pub struct CpuCounters {
    questions: Vec<Question>,
    group: Group,
}

impl CpuCounters {
    /// Opens the events that answer the questions as one group, so that all count at the same
    /// times. [`Microarchitecture::fits`] says whether the PMU has room for them.
    ///
    /// # Errors
    /// The first question that is not answered, and why.
    ///
    /// # Panics
    /// Without a question, or with more than `EVENTS_MAX` of the counters.
    pub fn open(
        microarchitecture: Option<&Microarchitecture>,
        cpu: u32,
        questions: &[Question],
    ) -> Result<Self, (Question, Refusal)> {
        let with = |&question: &Question| {
            code(microarchitecture, question).map_err(|refusal| (question, refusal))
        };
        let codes: Vec<Code> = questions.iter().map(with).collect::<Result<_, _>>()?;
        let group = Group::open(&codes, cpu)
            .map_err(|(position, refusal)| (questions[position], refusal))?;
        Ok(Self { questions: questions.to_vec(), group })
    }

    /// Reads the counters, all at the same time.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(&self) -> Result<Reading, ReadError> {
        Ok(Reading::new(&self.questions, &self.group.read()?))
    }
}

/// Counts of one CPU since its counters were opened, or between two readings. A count is `None`
/// where the question was not asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Time for which the counters were to count, in ns.
    pub enabled_ns: u64,
    /// Time for which they did, in ns; the same in every reading.
    pub running_ns: u64,
    counts: [Option<u64>; Question::ALL.len()],
}

impl Reading {
    /// The reading of a group whose events answer the questions, in their order.
    fn new(questions: &[Question], counts: &Counts) -> Self {
        let Counts { enabled_ns, running_ns, ref values } = *counts;
        let mut reading = Self { enabled_ns, running_ns, ..Self::default() };
        for (&question, &value) in questions.iter().zip(values) {
            reading.counts[question as usize] = Some(value);
        }
        reading
    }

    /// The answer to a question.
    #[must_use]
    pub fn count(&self, question: Question) -> Option<u64> {
        self.counts[question as usize]
    }

    /// Core cycles at the license levels 0, 1 and 2.
    #[must_use]
    pub fn level_cycles(&self) -> [Option<u64>; 3] {
        [Question::License0, Question::License1, Question::License2].map(|level| self.count(level))
    }

    /// What was counted since an earlier reading of the same counters.
    ///
    /// # Errors
    /// [`ReadError::Backwards`] where the earlier reading is of other counters.
    pub fn since(&self, earlier: &Self) -> Result<Self, ReadError> {
        let less = |now: u64, then: u64| now.checked_sub(then).ok_or(ReadError::Backwards);
        let mut counts = [None; Question::ALL.len()];
        for (position, count) in counts.iter_mut().enumerate() {
            *count = match (self.counts[position], earlier.counts[position]) {
                (Some(now), Some(then)) => Some(less(now, then)?),
                (None, None) => None,
                _ => return Err(ReadError::Backwards),
            };
        }
        Ok(Self {
            enabled_ns: less(self.enabled_ns, earlier.enabled_ns)?,
            running_ns: less(self.running_ns, earlier.running_ns)?,
            counts,
        })
    }
}

/// Aperf and mperf of one CPU: cycles at its own clock, and at the clock of the TSC, while not
/// halted. They take no counter of the PMU.
#[derive(Debug)]
pub struct Clock(Group);

/// A reading of [`Clock`], since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Cycles of the CPU's clock while not halted.
    pub aperf: u64,
    /// Cycles of the TSC's clock while not halted.
    pub mperf: u64,
}

impl Clock {
    /// Opens both on a CPU; `read` yields the text of a file below `device::FOLDER`.
    ///
    /// # Errors
    /// Why they do not open.
    pub fn open(read: impl Fn(&str) -> Option<String>, cpu: u32) -> Result<Self, Refusal> {
        let codes = aperf_mperf(read)?;
        Group::open(&codes, cpu).map(Self).map_err(|(_, refusal)| refusal)
    }

    /// Reads both at the same time.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(&self) -> Result<ClockReading, ReadError> {
        let Counts { values, .. } = self.0.read()?;
        Ok(ClockReading { aperf: values[0], mperf: values[1] })
    }
}

/// The energy of packages, by RAPL (SDM 16.10.4).
#[derive(Debug)]
pub struct Energy {
    event: DeviceEvent,
    /// By package: the CPU that counts, and its counter.
    packages: Vec<(u32, Group)>,
}

impl Energy {
    /// Opens the counter of each package; `read` yields the text of a file below
    /// `device::FOLDER`.
    ///
    /// # Errors
    /// Why one does not open.
    pub fn open(read: impl Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        let event = device_event(read, "power", "energy-pkg")?;
        // A device without a list of CPUs, or in another unit, is not the one of RAPL.
        if event.cpus.is_empty() || event.unit.as_deref() != Some("Joules") {
            return Err(Refusal::NoDevice("power"));
        }
        let open = |&cpu: &u32| match Group::open(&[event.code], cpu) {
            Ok(group) => Ok((cpu, group)),
            Err((_, refusal)) => Err(refusal),
        };
        let packages = event.cpus.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { event, packages })
    }

    /// The energy of each package since the counters were opened, by the CPU that counts, in J.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_j(&self) -> Result<Vec<(u32, f64)>, ReadError> {
        let read = |(cpu, group): &(u32, Group)| {
            Ok((*cpu, group.read()?.values[0] as f64 * self.event.scale))
        };
        self.packages.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(time_ns: u64, values: &[u64]) -> Reading {
        let counts = Counts { enabled_ns: time_ns, running_ns: time_ns, values: values.to_vec() };
        Reading::new(&[Question::Cycles, Question::License2], &counts)
    }

    #[test]
    fn a_reading_has_what_was_asked_and_nothing_else() {
        let found = reading(9, &[100, 40]);
        assert_eq!(found.count(Question::Cycles), Some(100));
        assert_eq!(found.level_cycles(), [None, None, Some(40)]);
        assert_eq!(found.count(Question::Throttle), None);
    }

    #[test]
    fn differences_are_of_the_same_counters() {
        let (first, second) = (reading(9, &[100, 40]), reading(19, &[150, 41]));
        let between = second.since(&first).unwrap();
        assert_eq!((between.enabled_ns, between.running_ns), (10, 10));
        assert_eq!(between.count(Question::Cycles), Some(50));
        assert_eq!(between.level_cycles()[2], Some(1));
        assert_eq!(first.since(&second), Err(ReadError::Backwards));
        assert_eq!(second.since(&Reading::default()), Err(ReadError::Backwards));
    }
}
