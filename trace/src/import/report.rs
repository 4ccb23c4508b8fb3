//! The report of an import, by which a reader judges the recording.

use std::collections::BTreeMap;

use serde::Serialize;

/// Numbers of lines that could not be read which are kept.
pub const LINES_NAMED: usize = 10;

/// Silence from which a reader should know of it: some task of the kernel runs every second on
/// any CPU that is not idle (`vmstat_work`, mm/vmstat.c, 6.18), and few machines are all idle.
pub const SILENCE_LONG_NS: u64 = 1_500_000_000;

/// Counts and facts of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// Lines read, whatever they held, or events of a binary file.
    pub lines: u64,
    /// Events by name of their event; `other` for those that are not used.
    pub events: BTreeMap<&'static str, u64>,
    /// Records of the history.
    pub records: u64,
    /// Switches of the history, added ones included.
    pub switches: u64,
    /// Switches that were missing and had to be added.
    pub repaired_switches: u64,
    /// Events that the recorder reported as lost.
    pub lost_events: u64,
    /// Lines that came out of order of time and were put right.
    pub reordered_lines: u64,
    /// Lines that a line break within a name had split and that were joined.
    pub joined_lines: u64,
    /// Marks of register state that follow no switch.
    pub unmatched_marks: u64,
    /// Marks of registers that were not loaded (exits, stale state).
    pub skipped_marks: u64,
    /// Events of no known CPU.
    pub without_cpu: u64,
    /// Lines or records that are no event.
    pub unreadable: u64,
    /// The first of them, counted from 1.
    pub unreadable_lines: Vec<u64>,
    /// Whether the last line is cut off.
    pub truncated: bool,
    /// Whether the recorder saw other process numbers than the kernel: it ran in a container.
    pub namespaced: bool,
    /// Whether the recording tells wake-ups by interrupts from those by the running task.
    pub interrupts_known: bool,
    /// Whether times have less than the nine digits of nanoseconds.
    pub coarse_time: bool,
    /// Longest time without any event: where it is long, the machine was suspended, its clock
    /// stepped, or events are missing.
    pub silence_ns: u64,
    /// Logical CPUs.
    pub cpus: u32,
    /// Time of the first event.
    pub start_ns: u64,
    /// Time of the last event.
    pub end_ns: u64,
    /// Time between them.
    pub wall_ns: u64,
    /// Time that tasks with accounted time were on a CPU.
    pub slices_ns: u64,
    /// Time that the kernel accounted to tasks; a hypervisor stole the rest.
    pub runtime_ns: u64,
    /// `runtime_ns / slices_ns` in permille, where times were recorded; 1000 = nothing stolen.
    pub runtime_per_wall_permille: Option<u64>,
    /// The same by task, those with most stolen time first.
    pub tasks: Vec<TaskTime>,
}

/// The two clocks of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskTime {
    /// Id in the history.
    pub tid: u32,
    /// Name.
    pub comm: String,
    /// Switch-ins.
    pub slices: u64,
    /// Sum of its slices.
    pub slices_ns: u64,
    /// Sum of the times that the kernel accounted to the task.
    pub runtime_ns: u64,
}

impl TaskTime {
    /// Time on a CPU that the kernel did not account to the task.
    #[must_use]
    pub fn stolen_ns(&self) -> u64 {
        self.slices_ns.saturating_sub(self.runtime_ns)
    }
}

impl ImportReport {
    pub(super) fn unreadable(&mut self, line: u64) {
        self.unreadable += 1;
        if self.unreadable_lines.len() < LINES_NAMED {
            self.unreadable_lines.push(line);
        }
    }

    pub(super) fn times(&mut self, mut tasks: Vec<TaskTime>) {
        self.slices_ns = tasks.iter().fold(0u64, |sum, task| sum.saturating_add(task.slices_ns));
        self.runtime_ns = tasks.iter().fold(0u64, |sum, task| sum.saturating_add(task.runtime_ns));
        let permille = |slices_ns| u128::from(self.runtime_ns) * 1000 / u128::from(slices_ns);
        self.runtime_per_wall_permille = (self.slices_ns > 0)
            .then(|| u64::try_from(permille(self.slices_ns)).unwrap_or(u64::MAX));
        tasks.sort_by(|a, b| b.stolen_ns().cmp(&a.stolen_ns()).then(a.tid.cmp(&b.tid)));
        self.tasks = tasks;
    }
}
