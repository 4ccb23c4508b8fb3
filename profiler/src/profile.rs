//! What was collected, whatever machine it came from.

use cpu_model::CpuModel;

use crate::sample::{Sample, Tally};

/// Everything that an analysis needs. Times are of one clock.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The CPU: frequencies by level and turbo row, and how long levels are held.
    pub cpu: CpuModel,
    /// CPUs by core.
    pub cores: Vec<Vec<u32>>,
    /// Names of the groups that losses are told for: applications, processes, containers.
    pub groups: Vec<String>,
    /// By task: its group.
    pub group_of: Vec<u32>,
    /// Samples by time.
    pub samples: Vec<Sample>,
    /// How samples ended.
    pub tally: Tally,
    /// Slices of all tasks, by end.
    pub slices: Vec<Slice>,
}

/// A slice of a task: the time on a CPU since it came there or was last accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The task.
    pub task: u32,
    /// Where.
    pub cpu: u32,
    /// When it began.
    pub began_ns: u64,
    /// When it ended.
    pub ended_ns: u64,
    /// Time runnable without a CPU before it.
    pub waited_ns: u64,
    /// Its CPU time, and the counters of its CPU meanwhile.
    pub counts: policy::Slice,
    /// Of its cycles, those throttled by a transition.
    pub throttled_cycles: u64,
    /// Heavy floating-point instructions of 256 and of 512 bits that retired.
    pub retired: [u64; 2],
}

impl Profile {
    /// The group of a task; `None`: a task without one.
    #[must_use]
    pub fn group(&self, task: u32) -> Option<usize> {
        self.group_of.get(task as usize).map(|&group| group as usize)
    }

    /// Longest time that the CPU holds a level.
    #[must_use]
    pub fn hold_ns(&self) -> u64 {
        self.cpu.license.hold_ns.iter().copied().max().unwrap_or(0)
    }
}
