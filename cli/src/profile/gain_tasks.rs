//! Which tasks of a recording are a command's, and when did it run?

use std::collections::BTreeSet;

use trace::{Event, History, TaskInfo};

/// The group of the command's tasks; longer than a task's name may be, so that no program has it.
pub const COMMAND: &str = "(the command and its descendants)";
/// The group of this process and its wardens, whose losses no neighbour has.
pub const RECORDER: &str = "(evenkeel and its wardens)";

/// The command's part of a recording.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The command and its descendants, by id.
    pub tasks: BTreeSet<u32>,
    /// From the command's start until its first task ended.
    pub time_ns: u64,
}

/// Finds the command: the first task that one of the wardens begins; `None` if no warden begins
/// one, or if that task never leaves a CPU.
pub fn find(history: &History, wardens: &[u32]) -> Option<Found> {
    let warden_ids = ids(&history.header.tasks, wardens);
    let mut tasks = BTreeSet::new();
    let mut first = None;
    let mut last_ns = None;
    for record in &history.records {
        match record.event {
            Event::Fork { task, by } if warden_ids.contains(&by) || tasks.contains(&by) => {
                tasks.insert(task);
                first.get_or_insert((task, record.time_ns));
            }
            Event::Switch { prev, .. } if first.is_some_and(|(task, _)| task == prev) => {
                last_ns = Some(record.time_ns);
            }
            _ => {}
        }
    }
    let (_, began_ns) = first?;
    Some(Found { tasks, time_ns: last_ns?.saturating_sub(began_ns) })
}

/// Puts the tasks of the command into one group, and those of the recorder into another.
pub fn name(tasks: &mut [TaskInfo], found: &Found, recorder: &[u32]) {
    let of_recorder = ids(tasks, recorder);
    for task in tasks {
        let group = match task.tid {
            tid if found.tasks.contains(&tid) => COMMAND,
            tid if of_recorder.contains(&tid) => RECORDER,
            _ => continue,
        };
        // Without process, so that a virtual machine is no program of its own.
        task.pid = None;
        group.clone_into(&mut task.comm);
        group.clone_into(&mut task.app);
    }
}

/// Tasks of these processes.
fn ids(tasks: &[TaskInfo], processes: &[u32]) -> BTreeSet<u32> {
    let is_its = |task: &&TaskInfo| processes.contains(&task.pid.unwrap_or(task.tid));
    tasks.iter().filter(is_its).map(|task| task.tid).collect()
}

#[cfg(test)]
mod tests {
    use trace::{Header, Record, SCHEMA, Source, SwitchState};

    use super::*;

    fn task(tid: u32) -> TaskInfo {
        let name = format!("t{tid}");
        TaskInfo {
            tid,
            pid: Some(tid),
            comm: name.clone(),
            app: name,
            nice: 0,
            kernel: false,
            control_group: None,
        }
    }

    /// Warden 2 begins 3 at 100 ns, which begins 4; task 5 begins 6, which is no descendant.
    fn history(until_ns: u64) -> History {
        let leaves = |prev| Event::Switch { cpu: 0, prev, state: SwitchState::Dead, next: 0 };
        let all = [
            (90, Event::Fork { task: 6, by: 5 }),
            (100, Event::Fork { task: 3, by: 2 }),
            (150, Event::Fork { task: 4, by: 3 }),
            (700, leaves(3)),
            (800, leaves(4)),
        ];
        let records = all.map(|(time_ns, event)| Record { time_ns, event });
        let header = Header {
            schema: SCHEMA,
            source: Source::Recorded,
            cpus: 1,
            start_ns: 0,
            end_ns: 1000,
            threads_per_core: None,
            cores_per_package: None,
            cpu: None,
            facts: std::collections::BTreeMap::new(),
            tasks: (1..=6).map(task).collect(),
            stacks: Vec::new(),
        };
        let records = records.into_iter().filter(|it| it.time_ns <= until_ns).collect();
        History { header, records }
    }

    #[test]
    fn a_command_is_what_a_warden_begins_with_all_descendants() {
        let mut history = history(1000);
        let found = find(&history, &[2, 9]).unwrap();
        assert_eq!(found, Found { tasks: [3, 4].into(), time_ns: 600 });
        name(&mut history.header.tasks, &found, &[1, 2, 9]);
        let names: Vec<&str> = history.header.tasks.iter().map(|it| it.app.as_str()).collect();
        assert_eq!(names, [RECORDER, RECORDER, COMMAND, COMMAND, "t5", "t6"]);
    }

    #[test]
    fn a_command_without_begin_or_end_is_not_found() {
        assert_eq!(find(&history(1000), &[9]), None);
        assert_eq!(find(&history(150), &[2]), None);
    }
}
