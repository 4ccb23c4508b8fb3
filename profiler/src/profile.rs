//! A profile: the collected samples, slices and sums of one machine or several.

use std::collections::BTreeMap;

use cpu_model::{CpuModel, LEVELS_MAX};

use crate::clocks::Clocks;
use crate::sample::{Sample, Tally};

/// Everything that an analysis needs; its size does not grow with switches. Times are of one clock.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The CPU: frequencies by level and turbo row, and how long levels are held.
    pub cpu: CpuModel,
    /// Names of the groups that losses are told for: applications, processes, containers.
    pub groups: Vec<String>,
    /// By task: its group.
    pub group_of: Vec<u32>,
    /// By task: sums over all its slices.
    pub times: Vec<Times>,
    /// By task and culprit: time for which the task was runnable while the culprit ran on the CPU
    /// that the task got.
    pub waits_ns: Pairs,
    /// By task and culprit: time for which both ran on CPUs of one core.
    pub beside_ns: Pairs,
    /// Samples by time.
    pub samples: Vec<SampleWithStays>,
    /// Clocks of pauses without counters, by time.
    pub clocks: Vec<ClocksWithStays>,
    /// How samples ended.
    pub tally: Tally,
    /// Slices that chance selected, each as likely as any other.
    pub slices: Vec<SliceWithStays>,
}

/// A slice of a task: the time on a CPU since the task came or was last accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The task.
    pub task: u32,
    /// Where.
    pub cpu: u32,
    /// Time of the beginning.
    pub began_ns: u64,
    /// Time of the end.
    pub ended_ns: u64,
    /// Time runnable without a CPU before the slice.
    pub waited_ns: u64,
    /// Its CPU time, and the counters of its CPU meanwhile.
    pub counts: policy::Slice,
    /// Of its cycles, those throttled by a transition.
    pub throttled_cycles: u64,
    /// The evidence of its task's own demand.
    pub demand: Demand,
}

/// The evidence of what the task of a slice demanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Heavy floating-point instructions of 256 and of 512 bits that retired.
    Retired([u64; 2]),
    /// The level that a class rule or the state of the registers names.
    Level(u8),
}

/// A time that a task spent on a CPU of the core in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The task.
    pub task: u32,
    /// Where.
    pub cpu: u32,
    /// Time of arrival.
    pub began_ns: u64,
    /// Time of departure; `None`: the task was still there.
    pub ended_ns: Option<u64>,
}

/// A sample, and the tasks that ran on its core while a level that was in force can have been
/// demanded last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleWithStays {
    /// The sample.
    pub sample: Sample,
    /// Until the sample began.
    pub stays: Vec<Stay>,
}

/// The clocks of a pause, and the tasks that ran on the core before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClocksWithStays {
    /// The clocks.
    pub clocks: Clocks,
    /// Until the task was interrupted.
    pub stays: Vec<Stay>,
}

/// A slice, and the tasks that ran on its core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceWithStays {
    /// The slice.
    pub slice: Slice,
    /// Those that can have demanded a level last that was in force at its end.
    pub stays: Vec<Stay>,
    /// Tasks that can have demanded any level that was in force in the slice, its own among them.
    pub company: Vec<u32>,
}

/// Times by a pair of tasks.
pub type Pairs = BTreeMap<(u32, u32), u64>;

/// Sums over the slices of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// CPU time.
    pub cpu_time_ns: u64,
    /// Time runnable without a CPU.
    pub waited_ns: u64,
    /// CPU time by level in force.
    pub at_level_ns: [f64; LEVELS_MAX],
    /// CPU time that transitions cost.
    pub transition_ns: f64,
}

impl Profile {
    /// Adds another profile of the same CPU. No tasks are the same; groups of one name are.
    pub fn merge(&mut self, mut other: Self) {
        let first = self.group_of.len() as u32;
        let renumber = |stays: &mut Vec<Stay>| stays.iter_mut().for_each(|it| it.task += first);
        for seen in &mut other.samples {
            seen.sample.task += first;
            renumber(&mut seen.stays);
        }
        for seen in &mut other.clocks {
            seen.clocks.task += first;
            renumber(&mut seen.stays);
        }
        for seen in &mut other.slices {
            seen.slice.task += first;
            seen.company.iter_mut().for_each(|task| *task += first);
            renumber(&mut seen.stays);
        }
        let own: Vec<u32> = other.groups.into_iter().map(|name| self.group_named(name)).collect();
        self.group_of.extend(other.group_of.iter().map(|&group| own[group as usize]));
        let renumbered = |pairs: Pairs| {
            pairs.into_iter().map(move |((one, other), ns)| ((one + first, other + first), ns))
        };
        self.waits_ns.extend(renumbered(other.waits_ns));
        self.beside_ns.extend(renumbered(other.beside_ns));
        self.times.extend(other.times);
        self.samples.extend(other.samples);
        self.clocks.extend(other.clocks);
        self.slices.extend(other.slices);
        self.tally.add(&other.tally);
    }

    /// The number of a group, which is new if no other one has its name.
    fn group_named(&mut self, name: String) -> u32 {
        let known = self.groups.iter().position(|other| *other == name);
        known.unwrap_or_else(|| {
            self.groups.push(name);
            self.groups.len() - 1
        }) as u32
    }

    /// The group of a task; `None`: a task without one.
    #[must_use]
    pub fn group(&self, task: u32) -> Option<usize> {
        self.group_of.get(task as usize).map(|&group| group as usize)
    }

    /// Times of pairs of tasks, by their groups: victim times number of groups plus culprit.
    pub(crate) fn by_groups(&self, pairs: &Pairs) -> Vec<u64> {
        let groups = self.groups.len();
        let mut sums = vec![0; groups * groups];
        for (&(victim, culprit), ns) in pairs {
            if let (Some(victim), Some(culprit)) = (self.group(victim), self.group(culprit)) {
                sums[victim * groups + culprit] += ns;
            }
        }
        sums
    }

    /// Longest time that the CPU holds a level.
    #[must_use]
    pub fn hold_ns(&self) -> u64 {
        hold_ns(&self.cpu)
    }
}

/// Longest time that a CPU holds a level.
pub(crate) fn hold_ns(cpu: &CpuModel) -> u64 {
    cpu.license.hold_ns.iter().copied().max().unwrap_or(0)
}
