//! Histories for other tools: text of ftrace, and Perfetto's protobuf.

mod ftrace;
mod perfetto;
mod wire;

use std::collections::HashMap;

use crate::{Header, clean};

pub use ftrace::ftrace;
pub use perfetto::perfetto;

/// Priority of nice level 0, and the idle task's (`DEFAULT_PRIO`,
/// include/linux/sched/prio.h, 6.18).
const PRIO_DEFAULT: i32 = 120;

/// A task as events name it.
struct Named {
    comm: String,
    process: u32,
    prio: i32,
}

/// The tasks of a history by id.
struct Names(HashMap<u32, Named>);

impl Names {
    fn new(header: &Header) -> Self {
        let tasks = header.tasks.iter().map(|task| {
            let prio = PRIO_DEFAULT + i32::from(task.nice);
            let process = task.pid.unwrap_or(task.tid);
            (task.tid, Named { comm: clean(task.comm.as_bytes()), process, prio })
        });
        Self(tasks.collect())
    }

    /// Name and priority of a task; `cpu` names the idle task.
    fn of(&self, task: u32, cpu: u32) -> (String, i32) {
        match self.0.get(&task) {
            Some(named) => (named.comm.clone(), named.prio),
            None => (format!("swapper/{cpu}"), PRIO_DEFAULT),
        }
    }
}

/// Who runs where, as an exporter follows it.
struct Running {
    by_cpu: Vec<u32>,
    by_task: HashMap<u32, u32>,
}

impl Running {
    fn new(cpus: u32) -> Self {
        Self { by_cpu: vec![0; cpus as usize], by_task: HashMap::new() }
    }

    fn on(&self, cpu: u32) -> u32 {
        self.by_cpu.get(cpu as usize).copied().unwrap_or(0)
    }

    /// The CPU a task runs on.
    fn cpu_of(&self, task: u32) -> Option<u32> {
        self.by_task.get(&task).copied()
    }

    fn switch(&mut self, cpu: u32, prev: u32, next: u32) {
        if let Some(running) = self.by_cpu.get_mut(cpu as usize) {
            *running = next;
        }
        self.by_task.remove(&prev);
        if next != 0 {
            self.by_task.insert(next, cpu);
        }
    }
}
