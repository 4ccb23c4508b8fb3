//! Which tasks of a recording count as one: the groups that losses are told for.

use std::collections::HashMap;

use trace::TaskInfo;

/// What makes tasks one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The name of their program.
    #[default]
    Program,
    /// Their process.
    Process,
    /// Nothing: each thread is a group.
    Thread,
    /// Their control group: a container, a pod, a unit.
    ControlGroup,
}

/// The group of all kernel threads, which run no user code of their own.
const KERNEL: &str = "(kernel)";

impl By {
    /// The name of a task's group.
    #[must_use]
    pub fn name(self, task: &TaskInfo) -> String {
        match self {
            Self::Thread => format!("{}/{}", task.comm, task.tid),
            _ if task.kernel => KERNEL.to_owned(),
            Self::Program => task.app.clone(),
            Self::Process => match task.pid {
                Some(pid) => format!("{}/{pid}", task.app),
                None => task.app.clone(),
            },
            Self::ControlGroup => match &task.control_group {
                Some(group) => group.name.clone(),
                None => "(no control group)".to_owned(),
            },
        }
    }
}

/// Names of groups, and by task its group.
pub(crate) fn groups(tasks: &[TaskInfo], by: By) -> (Vec<String>, Vec<u32>) {
    let mut names: Vec<String> = Vec::new();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut of_task = Vec::with_capacity(tasks.len());
    for task in tasks {
        let name = by.name(task);
        let next = names.len() as u32;
        let number = *numbers.entry(name.clone()).or_insert(next);
        if number == next {
            names.push(name);
        }
        of_task.push(number);
    }
    (names, of_task)
}

#[cfg(test)]
mod tests {
    use trace::ControlGroup;

    use super::*;

    fn task(tid: u32, pid: u32, comm: &str, app: &str) -> TaskInfo {
        let (comm, app) = (comm.to_owned(), app.to_owned());
        TaskInfo { tid, pid: Some(pid), comm, app, nice: 0, kernel: false, control_group: None }
    }

    #[test]
    fn tasks_are_one_by_what_was_asked_for() {
        let group = ControlGroup { path: "/a/b.service".to_owned(), name: "b".to_owned() };
        let mut tasks = [
            task(1, 1, "x", "x"),
            task(2, 1, "pool", "x"),
            task(3, 3, "x", "x"),
            task(4, 4, "k", "k"),
        ];
        tasks[2].control_group = Some(group);
        tasks[3].kernel = true;
        let all = |by| groups(&tasks, by).0.join(" ");
        assert_eq!(all(By::Program), "x (kernel)");
        assert_eq!(all(By::Process), "x/1 x/3 (kernel)");
        assert_eq!(all(By::Thread), "x/1 pool/2 x/3 k/4");
        assert_eq!(all(By::ControlGroup), "(no control group) b (kernel)");
        assert_eq!(groups(&tasks, By::Process).1, [0, 0, 1, 2]);
    }
}
