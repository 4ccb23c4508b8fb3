//! Hardware counters of every CPU: opening, checking, giving up and taking back.

use std::os::fd::OwnedFd;

use sensors::pmu::{Group as Counting, Refusal};

use super::Choice;
use super::given_up::Group;
use crate::interface::HardwareEvent;

/// An open counter: a group of one event, since BPF programs read each by itself.
struct Counter {
    event: HardwareEvent,
    cpu: u32,
    counting: Counting,
}

/// The open counters of all CPUs; dropping this value closes them.
#[derive(Default)]
pub struct Counters(Vec<Counter>);

impl Counters {
    /// Opens the chosen counters on each CPU; CPUs that are offline are left out.
    ///
    /// # Errors
    /// Event, CPU and refusal of the first counter that does not open.
    pub fn open(choice: &Choice, cpus: &[u32]) -> Result<Self, (HardwareEvent, u32, Refusal)> {
        let mut counters = Vec::new();
        for &cpu in cpus {
            for &(event, code) in &choice.counters {
                match Counting::open(&[code], cpu) {
                    Ok(counting) => counters.push(Counter { event, cpu, counting }),
                    Err((_, Refusal::CpuOffline)) => {}
                    Err((_, refusal)) => return Err((event, cpu, refusal)),
                }
            }
        }
        Ok(Self(counters))
    }

    /// Each counter's CPU, event and file.
    pub fn files(&self) -> impl Iterator<Item = (u32, HardwareEvent, &OwnedFd)> {
        self.0.iter().map(|counter| (counter.cpu, counter.event, counter.counting.leader()))
    }

    /// Groups that have a counter.
    #[must_use]
    pub fn groups(&self) -> Vec<Group> {
        let has = |group: &Group| self.of(*group).next().is_some();
        Group::ALL.into_iter().filter(has).collect()
    }

    /// The groups of these with a counter that does not count.
    #[must_use]
    pub fn taken(&self, groups: &[Group]) -> Vec<Group> {
        let is_taken = |&&group: &&Group| self.of(group).any(|it| it.counting.read().is_err());
        groups.iter().filter(is_taken).copied().collect()
    }

    /// Disables the counters of a group, so that other programs can use them.
    pub fn give_up(&self, group: Group) {
        self.of(group).for_each(|counter| counter.counting.disable());
    }

    /// Enables the counters of a group, which also ends an error state.
    pub fn take_back(&self, group: Group) {
        self.of(group).for_each(|counter| counter.counting.enable());
    }

    fn of(&self, group: Group) -> impl Iterator<Item = &Counter> {
        self.0.iter().filter(move |counter| group.events().contains(&counter.event))
    }
}

#[cfg(test)]
mod tests {
    use sensors::pmu::Code;

    use super::*;
    use crate::sensors::{Frequency, Source};

    /// Perf's software clock, `PERF_TYPE_SOFTWARE` and `PERF_COUNT_SW_CPU_CLOCK`, stands for a
    /// counter of stalls.
    #[test]
    fn counters_open_count_and_stop_by_groups() {
        let clock = Code { device: 1, config: 0 };
        let choice = Choice {
            source: Source::D7,
            frequency: Frequency::Table,
            sensors: Vec::new(),
            counters: vec![(HardwareEvent::StallL2Miss, clock)],
            passed_over: Vec::new(),
        };
        let counters = match Counters::open(&choice, &[0]) {
            Ok(counters) => counters,
            // In a container, which may not count events of all tasks.
            Err(refused) => {
                let expected = (HardwareEvent::StallL2Miss, 0, Refusal::NotPermitted);
                return assert_eq!(refused, expected);
            }
        };
        let files: Vec<_> = counters.files().map(|(cpu, event, _)| (cpu, event)).collect();
        assert_eq!(files, [(0, HardwareEvent::StallL2Miss)]);
        assert_eq!(counters.groups(), [Group::Stalls]);
        assert_eq!(counters.taken(&Group::ALL), []);
        let count = || counters.0[0].counting.read().unwrap().values[0];
        counters.give_up(Group::Stalls);
        let stopped = count();
        assert_eq!(count(), stopped);
        counters.take_back(Group::Stalls);
        assert!(count() > stopped);
    }
}
