//! Sums of waiting, sharing and lost clock by pairs of groups, which the kernel keeps.
//!
//! A recording has every switch, and costs a record for each. Sums cost a few additions for each
//! switch and stay the same size, so they can be kept for as long as a machine runs.
//!
//! | Question | Where |
//! |---|---|
//! | What is added at a switch? | `sums.bpf.c` |
//! | Where are the sums, and how does a CPU add to them? | `tables.bpf.h` |
//! | What passed on a core, by its threads? | `core.bpf.h` |
//! | Which fields of the kernel are read? | `kernel.bpf.h` |
//! | What lies in the kernel's tables? | `interface.bpf.h`, `layout.rs` |
//! | What does a level cost? | `costs.rs` |
//! | How is the program loaded and read? | `bpf.rs` |

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(feature = "bpf")]
mod costs;
#[cfg(feature = "bpf")]
mod layout;

use std::collections::BTreeMap;

#[cfg(feature = "bpf")]
pub use bpf::{CollectError, Collector};
#[cfg(feature = "bpf")]
pub use costs::Costs;

/// What a group of tasks is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The tasks of a process; its number is the process id, in the first namespace.
    Process,
    /// The tasks of a control group of version 2; its number is the inode number of its folder.
    ControlGroup,
}

/// Number of a group of tasks: of a process, or of a control group.
pub type Group = u64;

/// What a machine's sums were at one time; all grow from the start of the collection on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// When they were read, by CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// By number of the CPU.
    pub cpus: Vec<CpuSum>,
    /// By group.
    pub groups: BTreeMap<Group, GroupSum>,
    /// By victim and culprit.
    pub pairs: BTreeMap<(Group, Group), PairSum>,
    /// Times that found no room in the kernel's tables; sums are too small where this grows.
    pub without_room: u64,
}

/// The sums of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSum {
    /// Time with a task.
    pub busy_ns: u64,
    /// Switches from a task to another.
    pub switches: u64,
    /// Time with a task while its core was believed to hold a license level.
    pub held_ns: u64,
    /// The group that runs now; `None`: the CPU is idle.
    pub running: Option<Group>,
    /// The group that last left 512-bit registers on this core, while its level is held.
    pub holder: Option<Group>,
    /// The level that the core is believed to hold.
    pub level: u8,
}

/// The sums of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSum {
    /// CPU time.
    pub cpu_time_ns: u64,
    /// Time that its tasks were runnable without a CPU.
    pub waited_ns: u64,
    /// CPU time lost to a level that others demanded, by the CPU table.
    pub lost_ns: u64,
    /// How often its tasks left a CPU.
    pub leaves: u64,
    /// Of these, with 512-bit registers or tiles in use.
    pub wide_leaves: u64,
}

/// The sums of a victim and a culprit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairSum {
    /// Time that the victim was runnable while the culprit ran on the CPU that the victim got.
    pub waited_ns: u64,
    /// CPU time of the victim while the culprit ran on a sibling.
    pub beside_ns: u64,
    /// CPU time that the victim lost to a level that the culprit demanded, by the CPU table.
    pub lost_ns: u64,
}
