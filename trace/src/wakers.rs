//! Whether a task was woken by another task, or by an interrupt that only met that task running.
//!
//! The text of `perf script` counts the running task as the waker in both cases. If the recording
//! shows interrupts, or comes from ftrace or a simulator, the importer already knows. Elsewhere
//! these rules decide, of which the first that fits holds:
//!
//! 1. Threads of the kernel stand for devices, on either side.
//! 2. Threads of one process wake each other, and so do processes where one forked the other.
//! 3. Processes that the same process forked wake each other where most wake-ups of the one are
//!    by the other: a pipe of a shell. Interrupts hit any running task alike.
//! 4. Between other processes the waker is unclear, and mostly an interrupt.
//!
//! How often that is right: docs/measurements/wakers.md.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Event, History};

/// The cause of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waker {
    /// The task that the history names.
    Task,
    /// A timer or a device, or a thread of the kernel that stands for one.
    Device,
    /// A task of another process, or an interrupt during that task; more often an interrupt.
    Unclear,
}

/// A process, or the name of a task whose process is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Process<'h> {
    Number(u32),
    Name(&'h str),
}

/// The parent of each process, and its main waker, in a history.
pub struct Wakers<'h> {
    interrupts_known: bool,
    processes: BTreeMap<u32, Process<'h>>,
    kernel: BTreeSet<u32>,
    /// Processes of which the first forked the second.
    forks: BTreeSet<(Process<'h>, Process<'h>)>,
    /// The parent of each process.
    parents: BTreeMap<Process<'h>, Process<'h>>,
    /// The other process that caused most wake-ups of a process, if any.
    main_wakers: BTreeMap<Process<'h>, Process<'h>>,
}

impl<'h> Wakers<'h> {
    /// Learns which tasks belong together.
    #[must_use]
    pub fn of(history: &'h History) -> Self {
        let tasks = &history.header.tasks;
        let process = |task: &'h crate::TaskInfo| match task.pid {
            Some(pid) => Process::Number(pid),
            None => Process::Name(&task.comm),
        };
        let processes: BTreeMap<u32, Process> =
            tasks.iter().map(|task| (task.tid, process(task))).collect();
        let forks = history.records.iter().filter_map(|record| match record.event {
            Event::Fork { task, by } => Some((*processes.get(&by)?, *processes.get(&task)?)),
            _ => None,
        });
        let forks: BTreeSet<_> = forks.filter(|(parent, child)| parent != child).collect();
        Self {
            interrupts_known: history.header.interrupts_known(),
            parents: forks.iter().map(|&(parent, child)| (child, parent)).collect(),
            main_wakers: main_wakers(history, &processes),
            forks,
            kernel: tasks.iter().filter(|task| task.kernel).map(|task| task.tid).collect(),
            processes,
        }
    }

    /// The cause of a wake-up of `task` that the history charges to `by`.
    #[must_use]
    pub fn of_wake(&self, task: u32, by: u32) -> Waker {
        if by == 0 {
            return Waker::Device;
        }
        if self.interrupts_known {
            return Waker::Task;
        }
        if self.kernel.contains(&task) || self.kernel.contains(&by) {
            return Waker::Device;
        }
        let (Some(&woken), Some(&waker)) = (self.processes.get(&task), self.processes.get(&by))
        else {
            return Waker::Unclear;
        };
        let related = woken == waker
            || self.forks.contains(&(woken, waker))
            || self.forks.contains(&(waker, woken))
            || (self.siblings(woken, waker) && self.main_wakers.get(&woken) == Some(&waker));
        if related { Waker::Task } else { Waker::Unclear }
    }

    /// Whether two tasks are of different processes, neither of them the kernel.
    #[must_use]
    pub fn between_processes(&self, one: u32, other: u32) -> bool {
        let process =
            |task: u32| self.processes.get(&task).filter(|_| !self.kernel.contains(&task));
        matches!((process(one), process(other)), (Some(one), Some(other)) if one != other)
    }

    fn siblings(&self, one: Process, other: Process) -> bool {
        let parent = self.parents.get(&one);
        parent.is_some() && parent == self.parents.get(&other)
    }
}

/// The process that caused more than half of a process's wake-ups from outside, for each that
/// has one. Idle CPUs and threads of the kernel count as outside, too.
fn main_wakers<'h>(
    history: &'h History,
    processes: &BTreeMap<u32, Process<'h>>,
) -> BTreeMap<Process<'h>, Process<'h>> {
    let mut wakes: BTreeMap<Process, BTreeMap<Option<Process>, u64>> = BTreeMap::new();
    for record in &history.records {
        let Event::Wake { task, by, .. } = record.event else { continue };
        let (Some(&woken), waker) = (processes.get(&task), processes.get(&by).copied()) else {
            continue;
        };
        if waker != Some(woken) {
            *wakes.entry(woken).or_default().entry(waker).or_default() += 1;
        }
    }
    let main = |(woken, by): (Process<'h>, BTreeMap<Option<Process<'h>>, u64>)| {
        let all: u64 = by.values().sum();
        let (waker, _) = by.into_iter().find(|&(_, count)| 2 * count > all)?;
        Some((woken, waker?))
    };
    wakes.into_iter().filter_map(main).collect()
}

/// Wake-ups of a history by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WakeCounts {
    /// By another task.
    pub by_tasks: u64,
    /// By timers and devices.
    pub by_devices: u64,
    /// By either of them.
    pub unclear: u64,
}

impl WakeCounts {
    pub(crate) fn count(&mut self, waker: Waker) {
        *match waker {
            Waker::Task => &mut self.by_tasks,
            Waker::Device => &mut self.by_devices,
            Waker::Unclear => &mut self.unclear,
        } += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collector, Header, Record, SCHEMA, Sink, Source, TaskInfo};

    fn wake(task: u32, by: u32) -> Event {
        Event::Wake { task, by, cpu: 0, on: None, sync: None }
    }

    /// Two threads of process 10, processes 20 and 21 that 10 forked, process 30, and a kernel
    /// thread 40. 20 wakes 21 more often than any other task does.
    fn history() -> History {
        let task = |tid, pid, kernel| TaskInfo {
            tid,
            pid,
            comm: format!("task{}", pid.unwrap_or(0)),
            app: String::new(),
            nice: 0,
            kernel,
            control_group: None,
        };
        let header = Header {
            schema: SCHEMA,
            source: Source::Recorded,
            cpus: 1,
            start_ns: 0,
            end_ns: 0,
            threads_per_core: None,
            cores_per_package: None,
            cpu: None,
            facts: BTreeMap::new(),
            tasks: vec![
                task(10, Some(10), false),
                task(11, Some(10), false),
                task(20, Some(20), false),
                task(21, Some(21), false),
                task(30, Some(30), false),
                task(40, Some(40), true),
                task(50, None, false),
                task(51, None, false),
            ],
            stacks: Vec::new(),
        };
        let mut history = Collector::default();
        for event in [
            Event::Fork { task: 11, by: 10 },
            Event::Fork { task: 20, by: 11 },
            Event::Fork { task: 21, by: 10 },
            wake(20, 30),
            wake(20, 21),
            wake(21, 20),
            wake(21, 20),
            wake(21, 0),
            wake(30, 20),
        ] {
            history.record(&Record { time_ns: 0, event }).unwrap();
        }
        history.finish(&header).unwrap();
        history.into_history().unwrap()
    }

    fn wakers(history: &History, wakes: &[(u32, u32)]) -> Vec<Waker> {
        let wakers = Wakers::of(history);
        wakes.iter().map(|&(task, by)| wakers.of_wake(task, by)).collect()
    }

    #[test]
    fn a_task_wakes_its_own_process_and_those_it_forked_or_that_forked_it() {
        let related = [(10, 11), (20, 10), (11, 20), (50, 51)];
        assert_eq!(wakers(&history(), &related), [Waker::Task; 4]);
    }

    #[test]
    fn the_sibling_process_with_most_wakes_is_the_waker() {
        let siblings = [(21, 20), (20, 21), (30, 20)];
        let expected = [Waker::Task, Waker::Unclear, Waker::Unclear];
        assert_eq!(wakers(&history(), &siblings), expected);
    }

    #[test]
    fn a_wake_between_unrelated_processes_is_unclear() {
        let strangers = [(30, 10), (20, 30), (50, 10), (10, 77)];
        assert_eq!(wakers(&history(), &strangers), [Waker::Unclear; 4]);
    }

    #[test]
    fn idle_cpus_and_threads_of_the_kernel_stand_for_devices() {
        assert_eq!(wakers(&history(), &[(10, 0), (40, 10), (10, 40)]), [Waker::Device; 3]);
    }

    #[test]
    fn recorded_interrupts_make_every_waker_certain() {
        let mut history = history();
        history.header.know_interrupts();
        let wakes = [(30, 10), (40, 10), (10, 40), (10, 0)];
        let [by_tasks @ .., by_timer] = &wakers(&history, &wakes)[..] else { unreachable!() };
        assert_eq!((by_tasks, *by_timer), (&[Waker::Task; 3][..], Waker::Device));
    }
}
