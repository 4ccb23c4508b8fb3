//! The figures of a history: times and counts of each task.

use std::collections::HashMap;

use serde::Serialize;

use crate::{Event, History, SwitchState, WakeCounts, Wakers};

/// Bits of XSTATE_BV that tell of wide registers (Intel SDM vol. 1, 13.1).
pub const REGISTER_BITS: [(u32, &str); 4] =
    [(2, "avx"), (5, "opmask"), (6, "zmm-hi256"), (7, "hi16-zmm")];

/// A history in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Logical CPUs.
    pub cpus: u32,
    /// Length.
    pub wall_ns: u64,
    /// Records.
    pub records: u64,
    /// Switches among them.
    pub switches: u64,
    /// Time that each CPU ran a task other than the idle one.
    pub busy_ns: Vec<u64>,
    /// Time of slices of tasks that have accounted time.
    pub slices_ns: u64,
    /// Time accounted to tasks; a hypervisor stole the rest.
    pub runtime_ns: u64,
    /// Wake-ups by cause.
    pub wakes: WakeCounts,
    /// Whether every waker is known ([`crate::Header::interrupts_known`]).
    pub interrupts_known: bool,
    /// Every task, those that ran longest first.
    pub tasks: Vec<TaskSummary>,
}

/// A task in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskSummary {
    /// Id.
    pub tid: u32,
    /// Name.
    pub comm: String,
    /// Application.
    pub app: String,
    /// Nice level.
    pub nice: i8,
    /// Whether the task is a kernel thread.
    pub kernel: bool,
    /// Time on a CPU.
    pub run_ns: u64,
    /// Number of slices.
    pub slices: u64,
    /// Mean of its slices.
    pub slice_mean_ns: u64,
    /// Number of wake-ups.
    pub wakeups: u64,
    /// Number of switches in which the task left its CPU to wait.
    pub waits: u64,
    /// Number of migrations.
    pub migrations: u64,
    /// Time accounted to the task.
    pub runtime_ns: u64,
    /// How often its registers were seen.
    pub marks: u64,
    /// How often each of [`REGISTER_BITS`] was set, in permille of `marks`.
    pub registers_permille: [u64; REGISTER_BITS.len()],
    /// Whether the task has marks of class (`Phase` records).
    pub has_class: bool,
}

/// Sums a history up.
#[must_use]
pub fn info(history: &History) -> Info {
    let mut sum = Sum::new(history);
    for record in &history.records {
        sum.event(record.time_ns, &record.event);
    }
    sum.finish(history)
}

struct Sum<'h> {
    wakers: Wakers<'h>,
    wakes: WakeCounts,
    tasks: HashMap<u32, TaskSummary>,
    /// Task that runs on each CPU, and since when.
    running: Vec<(u32, u64)>,
    busy_ns: Vec<u64>,
    switches: u64,
}

impl<'h> Sum<'h> {
    fn new(history: &'h History) -> Self {
        let header = &history.header;
        let tasks = header.tasks.iter().map(|task| {
            let summary = TaskSummary {
                tid: task.tid,
                comm: task.comm.clone(),
                app: task.app.clone(),
                nice: task.nice,
                kernel: task.kernel,
                ..TaskSummary::default()
            };
            (task.tid, summary)
        });
        Self {
            wakers: Wakers::of(history),
            wakes: WakeCounts::default(),
            tasks: tasks.collect(),
            running: vec![(0, header.start_ns); header.cpus as usize],
            busy_ns: vec![0; header.cpus as usize],
            switches: 0,
        }
    }

    fn event(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::Switch { cpu, prev, state, next } => {
                self.switches += 1;
                self.leave(cpu, next, time_ns);
                if let Some(task) = self.tasks.get_mut(&prev) {
                    task.waits += u64::from(state == SwitchState::Blocked);
                }
                if let Some(task) = self.tasks.get_mut(&next) {
                    task.slices += 1;
                }
            }
            Event::Wake { task, by, .. } => {
                self.wakes.count(self.wakers.of_wake(task, by));
                self.count(task, |task| task.wakeups += 1);
            }
            Event::Migrate { task, .. } => self.count(task, |task| task.migrations += 1),
            Event::Phase { task, .. } => self.count(task, |task| task.has_class = true),
            Event::Runtime { task, ns } => {
                self.count(task, |task| task.runtime_ns = task.runtime_ns.saturating_add(ns));
            }
            Event::Registers { task, xfeatures } => self.count(task, |task| {
                task.marks += 1;
                for (count, (bit, _)) in task.registers_permille.iter_mut().zip(REGISTER_BITS) {
                    *count += xfeatures >> bit & 1;
                }
            }),
            Event::Fork { .. }
            | Event::Exec { .. }
            | Event::Send { .. }
            | Event::Unsent { .. }
            | Event::Receive { .. }
            | Event::Stack { .. }
            | Event::Pause { .. }
            | Event::Counters { .. }
            | Event::Overhead { .. }
            | Event::License { .. }
            | Event::Decision { .. }
            | Event::Frequency { .. } => {}
        }
    }

    fn count(&mut self, task: u32, change: impl FnOnce(&mut TaskSummary)) {
        if let Some(task) = self.tasks.get_mut(&task) {
            change(task);
        }
    }

    fn leave(&mut self, cpu: u32, next: u32, time_ns: u64) {
        let Some(running) = self.running.get_mut(cpu as usize) else { return };
        let (task, since_ns) = std::mem::replace(running, (next, time_ns));
        let slice_ns = time_ns.saturating_sub(since_ns);
        if let Some(task) = self.tasks.get_mut(&task) {
            task.run_ns = task.run_ns.saturating_add(slice_ns);
            let busy_ns = &mut self.busy_ns[cpu as usize];
            *busy_ns = busy_ns.saturating_add(slice_ns);
        }
    }

    fn finish(mut self, history: &History) -> Info {
        let header = &history.header;
        for cpu in 0..header.cpus {
            self.leave(cpu, 0, header.end_ns);
        }
        let mut tasks: Vec<TaskSummary> = self.tasks.into_values().collect();
        for task in &mut tasks {
            task.slice_mean_ns = task.run_ns.checked_div(task.slices).unwrap_or(0);
            for count in &mut task.registers_permille {
                *count = (*count * 1000).checked_div(task.marks).unwrap_or(0);
            }
        }
        tasks.sort_by(|a, b| b.run_ns.cmp(&a.run_ns).then(a.tid.cmp(&b.tid)));
        let accounted = || tasks.iter().filter(|task| task.runtime_ns > 0 && task.slices > 0);
        Info {
            cpus: header.cpus,
            wall_ns: header.end_ns.saturating_sub(header.start_ns),
            records: history.records.len() as u64,
            switches: self.switches,
            slices_ns: accounted().fold(0, |sum, task| task.run_ns.saturating_add(sum)),
            runtime_ns: accounted().fold(0, |sum, task| task.runtime_ns.saturating_add(sum)),
            busy_ns: self.busy_ns,
            wakes: self.wakes,
            interrupts_known: header.interrupts_known(),
            tasks,
        }
    }
}
