//! Names, processes and priorities of tasks, as the events of every exported form give them.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::{Header, clean};

/// Priority of nice level 0, and the idle task's (`DEFAULT_PRIO`,
/// include/linux/sched/prio.h, 6.18).
const PRIO_DEFAULT: i32 = 120;

/// Name, process and priority of a task.
pub(super) struct Named {
    pub(super) comm: String,
    pub(super) process: u32,
    pub(super) prio: i32,
}

/// The tasks of a history by id.
pub(super) struct Names(pub(super) HashMap<u32, Named>);

impl Names {
    /// Where the processes are unknown, the tasks of an application are one, with the number of
    /// its first task.
    pub(super) fn new(header: &Header) -> Self {
        let mut leaders: HashMap<&str, u32> = HashMap::new();
        let tasks = header.tasks.iter().map(|task| {
            let prio = PRIO_DEFAULT + i32::from(task.nice);
            let leader = *leaders.entry(&task.app).or_insert(task.tid);
            let process = task.pid.unwrap_or(leader);
            (task.tid, Named { comm: clean(task.comm.as_bytes()), process, prio })
        });
        Self(tasks.collect())
    }

    /// Name and priority of a task; `cpu` names the idle task.
    pub(super) fn of(&self, task: u32, cpu: u32) -> (Cow<'_, str>, i32) {
        match self.0.get(&task) {
            Some(named) => (Cow::Borrowed(&named.comm), named.prio),
            None => (Cow::Owned(format!("swapper/{cpu}")), PRIO_DEFAULT),
        }
    }
}
