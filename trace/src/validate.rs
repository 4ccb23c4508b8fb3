//! Does a history contradict itself?

use std::collections::HashMap;

use crate::{Event, History, SwitchState};

/// More logical CPUs than x86 kernels are built for (`NR_CPUS` of arch/x86/Kconfig, 6.18).
pub const CPUS_MAX: u32 = 8192;
/// Problems after which the search ends.
const PROBLEMS_MAX: usize = 100;

/// A contradiction in a history; `record` counts from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// More CPUs than any kernel has.
    #[error("header: {cpus} CPUs, expected 1 to {CPUS_MAX}")]
    Cpus {
        /// CPUs claimed.
        cpus: u32,
    },
    /// The end is before the start.
    #[error("header: the end is before the start")]
    Ends,
    /// Threads of a core or cores of a package are 0.
    #[error("header: {field} is 0")]
    Zero {
        /// The field.
        field: &'static str,
    },
    /// Ids of tasks must be unique, ascending and not 0, which is the idle task.
    #[error("tasks: id {tid} is 0, repeated or not in ascending order")]
    TaskOrder {
        /// The id.
        tid: u32,
    },
    /// A nice level out of range.
    #[error("tasks: nice level {nice} of task {tid}, expected -20 to 19")]
    Nice {
        /// The task.
        tid: u32,
        /// Its nice level.
        nice: i8,
    },
    /// Time runs backwards or leaves the header's bounds.
    #[error("record {record}: its time is before the last record's or out of the header's bounds")]
    Time {
        /// The record.
        record: usize,
    },
    /// A CPU the header does not have.
    #[error("record {record}: CPU or core {cpu} does not exist")]
    UnknownCpu {
        /// The record.
        record: usize,
        /// The CPU or core.
        cpu: u32,
    },
    /// A task that is not listed.
    #[error("record {record}: task {task} is not listed")]
    UnknownTask {
        /// The record.
        record: usize,
        /// The task.
        task: u32,
    },
    /// A stack that is not listed.
    #[error("record {record}: stack {stack} is not listed")]
    UnknownStack {
        /// The record.
        record: usize,
        /// The stack.
        stack: u32,
    },
    /// The task that left was not the one that ran.
    #[error("record {record}: task {prev} leaves CPU {cpu}, where task {running} runs")]
    NotRunning {
        /// The record.
        record: usize,
        /// The CPU.
        cpu: u32,
        /// The leaving task.
        prev: u32,
        /// The running task.
        running: u32,
    },
    /// A task came to a CPU while running on another one.
    #[error("record {record}: task {task} comes to CPU {cpu} while it runs on CPU {other}")]
    RunsTwice {
        /// The record.
        record: usize,
        /// The task.
        task: u32,
        /// The CPU that the task comes to.
        cpu: u32,
        /// The CPU that the task runs on.
        other: u32,
    },
    /// A task ran after its end.
    #[error("record {record}: task {task} runs after its end")]
    RunsDead {
        /// The record.
        record: usize,
        /// The task.
        task: u32,
    },
}

/// Every contradiction, in order, up to a hundred.
///
/// Every CPU is idle before its first switch.
#[must_use]
pub fn validate(history: &History) -> Vec<Problem> {
    let mut check = Check::new(history);
    for (index, record) in history.records.iter().enumerate() {
        if check.problems.len() >= PROBLEMS_MAX {
            break;
        }
        if record.time_ns < check.last_ns || record.time_ns > history.header.end_ns {
            check.problems.push(Problem::Time { record: index });
        }
        check.last_ns = check.last_ns.max(record.time_ns);
        check.event(index, &record.event);
    }
    check.problems.truncate(PROBLEMS_MAX);
    check.problems
}

struct Check {
    problems: Vec<Problem>,
    last_ns: u64,
    running: Vec<u32>,
    tasks: HashMap<u32, Task>,
    stacks: usize,
}

#[derive(Default)]
struct Task {
    cpu: Option<u32>,
    dead: bool,
}

impl Check {
    fn new(history: &History) -> Self {
        let header = &history.header;
        let mut problems = Vec::new();
        if header.cpus == 0 || header.cpus > CPUS_MAX {
            problems.push(Problem::Cpus { cpus: header.cpus });
        }
        if header.end_ns < header.start_ns {
            problems.push(Problem::Ends);
        }
        for (field, value) in [
            ("threads_per_core", header.threads_per_core),
            ("cores_per_package", header.cores_per_package),
        ] {
            if value == Some(0) {
                problems.push(Problem::Zero { field });
            }
        }
        let mut last_tid = 0;
        let mut tasks = HashMap::with_capacity(header.tasks.len());
        for task in &header.tasks {
            if task.tid <= last_tid {
                problems.push(Problem::TaskOrder { tid: task.tid });
            }
            if !(-20..=19).contains(&task.nice) {
                problems.push(Problem::Nice { tid: task.tid, nice: task.nice });
            }
            last_tid = task.tid;
            tasks.insert(task.tid, Task::default());
        }
        let running = vec![0; header.cpus.min(CPUS_MAX) as usize];
        let stacks = header.stacks.len();
        Self { problems, last_ns: header.start_ns, running, tasks, stacks }
    }

    fn event(&mut self, record: usize, event: &Event) {
        match *event {
            Event::Switch { cpu, prev, state, next } => {
                self.task(record, prev);
                self.task(record, next);
                if self.cpu(record, cpu) {
                    self.switch(record, cpu, prev, state, next);
                }
            }
            Event::Wake { task, by, cpu, .. } => {
                self.task(record, task);
                self.task(record, by);
                self.cpu(record, cpu);
            }
            Event::Fork { task, by } => {
                self.task(record, task);
                self.task(record, by);
            }
            Event::Migrate { task, from, to } => {
                self.task(record, task);
                self.cpu(record, from);
                self.cpu(record, to);
            }
            Event::Decision { cpu, victim, culprit, .. } => {
                self.task(record, victim);
                self.task(record, culprit);
                self.cpu(record, cpu);
            }
            Event::Pause { cpu, by, .. } => {
                self.task(record, by);
                self.cpu(record, cpu);
            }
            Event::Stack { task, stack } => {
                self.task(record, task);
                if stack as usize >= self.stacks {
                    self.problems.push(Problem::UnknownStack { record, stack });
                }
            }
            Event::Phase { task, .. }
            | Event::Exec { task }
            | Event::Send { task, .. }
            | Event::Unsent { task, .. }
            | Event::Receive { task, .. }
            | Event::Registers { task, .. }
            | Event::Runtime { task, .. } => self.task(record, task),
            Event::Overhead { cpu, .. }
            | Event::Counters { cpu, .. }
            | Event::License { core: cpu, .. }
            | Event::Frequency { core: cpu, .. } => {
                self.cpu(record, cpu);
            }
        }
    }

    fn switch(&mut self, record: usize, cpu: u32, prev: u32, state: SwitchState, next: u32) {
        let running = std::mem::replace(&mut self.running[cpu as usize], next);
        if running != prev {
            self.problems.push(Problem::NotRunning { record, cpu, prev, running });
        }
        if let Some(task) = self.tasks.get_mut(&running) {
            task.cpu = None;
        }
        if let Some(task) = self.tasks.get_mut(&prev) {
            task.cpu = None;
            task.dead |= state == SwitchState::Dead;
        }
        if let Some(task) = self.tasks.get_mut(&next) {
            if task.dead {
                self.problems.push(Problem::RunsDead { record, task: next });
            }
            if let Some(other) = task.cpu.replace(cpu) {
                self.problems.push(Problem::RunsTwice { record, task: next, cpu, other });
            }
        }
    }

    fn task(&mut self, record: usize, task: u32) {
        if task != 0 && !self.tasks.contains_key(&task) {
            self.problems.push(Problem::UnknownTask { record, task });
        }
    }

    fn cpu(&mut self, record: usize, cpu: u32) -> bool {
        let exists = (cpu as usize) < self.running.len();
        if !exists {
            self.problems.push(Problem::UnknownCpu { record, cpu });
        }
        exists
    }
}
