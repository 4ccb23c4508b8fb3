//! Figures of the programs of a history; recordings and replays go through the same code.

use std::collections::HashMap;

use trace::{Event, History, SwitchState};

/// A wake-up has chosen its CPU after this time; a task that moves later was pulled by balancing.
const WAKE_NS: u64 = 20_000;

/// Figures of one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Time on CPUs.
    pub run_ns: u64,
    /// Times one of its tasks came to a CPU.
    pub switches: u64,
    /// Those of them to another CPU than that task's last.
    pub migrations: u64,
    /// From each wake-up to the next switch to the task, in ns, ascending.
    pub latencies_ns: Vec<u64>,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.run_ns += other.run_ns;
        self.switches += other.switches;
        self.migrations += other.migrations;
        self.latencies_ns.extend(&other.latencies_ns);
        self.latencies_ns.sort_unstable();
    }
}

/// A history in figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    /// By row.
    pub rows: Vec<Tally>,
    /// How long idle CPUs took from a wake-up to the switch, ascending.
    pub idle_exits_ns: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// On a CPU, or waiting for one.
    wants_cpu: bool,
    woken_ns: Option<u64>,
    /// In whose queue the wake-up put it; `None` once it was pulled to another.
    queued_on: Option<u32>,
    last_cpu: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Cpu {
    task: u32,
    since_ns: u64,
}

struct Tallying<'r> {
    row_of: &'r HashMap<u32, usize>,
    rows: Vec<Tally>,
    tasks: HashMap<u32, Task>,
    cpus: Vec<Cpu>,
    idle_exits_ns: Vec<u64>,
}

/// Tallies the first `length_ns` of a history; `row_of` has the row of each task.
pub(super) fn profile(
    history: &History,
    row_of: &HashMap<u32, usize>,
    rows: usize,
    length_ns: u64,
) -> Profile {
    let start_ns = history.header.start_ns;
    let end_ns = history.header.end_ns.min(start_ns.saturating_add(length_ns));
    let mut tallying = Tallying {
        row_of,
        rows: vec![Tally::default(); rows],
        tasks: HashMap::new(),
        cpus: vec![Cpu { task: 0, since_ns: start_ns }; history.header.cpus as usize],
        idle_exits_ns: Vec::new(),
    };
    for record in history.records.iter().take_while(|record| record.time_ns <= end_ns) {
        match record.event {
            Event::Switch { cpu, prev, state, next } => {
                tallying.switch(record.time_ns, cpu, (prev, state), next);
            }
            Event::Wake { task, cpu, .. } => {
                let task = tallying.tasks.entry(task).or_default();
                if !task.wants_cpu {
                    task.wants_cpu = true;
                    task.woken_ns = Some(record.time_ns);
                    task.queued_on = Some(cpu);
                }
            }
            Event::Migrate { task, to, .. } => {
                let task = tallying.tasks.entry(task).or_default();
                let by_wake = |woken_ns| record.time_ns.saturating_sub(woken_ns) <= WAKE_NS;
                task.queued_on = Some(to).filter(|_| task.woken_ns.is_some_and(by_wake));
            }
            _ => {}
        }
    }
    for cpu in 0..tallying.cpus.len() {
        tallying.book(cpu, 0, end_ns);
    }
    for row in &mut tallying.rows {
        row.latencies_ns.sort_unstable();
    }
    tallying.idle_exits_ns.sort_unstable();
    Profile { rows: tallying.rows, idle_exits_ns: tallying.idle_exits_ns }
}

impl Tallying<'_> {
    fn switch(&mut self, now_ns: u64, cpu: u32, (prev, state): (u32, SwitchState), next: u32) {
        let Some(&before) = self.cpus.get(cpu as usize) else { return };
        // The recording begins with tasks on CPUs.
        if prev != 0 && before.task == 0 {
            self.cpus[cpu as usize].task = prev;
        }
        self.book(cpu as usize, next, now_ns);
        if prev != 0 {
            let task = self.tasks.entry(prev).or_default();
            task.wants_cpu = state == SwitchState::Runnable;
            task.last_cpu = Some(cpu);
        }
        if next == 0 {
            return;
        }
        let task = self.tasks.entry(next).or_default();
        let woken_ns = task.woken_ns.take();
        let queued_on = task.queued_on.take();
        let moved = task.last_cpu.replace(cpu).is_some_and(|last| last != cpu);
        task.wants_cpu = true;
        let latency_ns = woken_ns.map(|woken_ns| now_ns.saturating_sub(woken_ns));
        if let Some(latency_ns) = latency_ns.filter(|_| prev == 0 && queued_on == Some(cpu))
            && woken_ns >= Some(before.since_ns)
        {
            self.idle_exits_ns.push(latency_ns);
        }
        if let Some(&row) = self.row_of.get(&next) {
            let tally = &mut self.rows[row];
            tally.switches += 1;
            tally.migrations += u64::from(moved);
            tally.latencies_ns.extend(latency_ns);
        }
    }

    fn book(&mut self, cpu: usize, next: u32, now_ns: u64) {
        let Cpu { task, since_ns } = self.cpus[cpu];
        self.cpus[cpu] = Cpu { task: next, since_ns: now_ns };
        if let Some(&row) = self.row_of.get(&task) {
            self.rows[row].run_ns += now_ns.saturating_sub(since_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validation::testing::{history, switch, wake};
    use SwitchState::{Blocked, Runnable};

    fn one_row(records: Vec<(u64, Event)>) -> Profile {
        let rows = HashMap::from([(1, 0)]);
        profile(&history(2, 100, records), &rows, 1, 100)
    }

    #[test]
    fn a_slice_counts_for_the_task_that_came() {
        let profile = one_row(vec![
            (10, switch(0, 0, Runnable, 1)),
            (40, switch(0, 1, Blocked, 0)),
            (90, switch(0, 0, Runnable, 1)),
        ]);
        let tally = &profile.rows[0];
        assert_eq!((tally.run_ns, tally.switches, tally.migrations), (30 + 10, 2, 0));
    }

    #[test]
    fn a_task_that_ran_since_the_beginning_ran_all_that_time() {
        assert_eq!(one_row(vec![(40, switch(1, 1, Blocked, 0))]).rows[0].run_ns, 40);
    }

    #[test]
    fn only_another_cpu_than_the_last_is_a_migration() {
        let profile = one_row(vec![
            (10, switch(0, 0, Runnable, 1)),
            (20, switch(0, 1, Runnable, 0)),
            (20, switch(1, 0, Runnable, 1)),
            (30, switch(1, 1, Runnable, 0)),
            (40, switch(1, 0, Runnable, 1)),
        ]);
        assert_eq!(profile.rows[0].migrations, 1);
    }

    #[test]
    fn latency_counts_from_the_first_wake_of_a_task_that_slept() {
        let profile = one_row(vec![
            (5, wake(1)),
            (10, wake(1)),
            (15, switch(0, 0, Runnable, 1)),
            (20, wake(1)),
            (30, switch(0, 1, Runnable, 2)),
            (40, wake(1)),
            (50, switch(0, 2, Blocked, 1)),
        ]);
        assert_eq!(profile.rows[0].latencies_ns, [10]);
    }

    #[test]
    fn a_task_pulled_by_an_idle_cpu_adds_no_reaction_time() {
        let moves = |after_ns| {
            let to_0 = Event::Migrate { task: 1, from: 1, to: 0 };
            let records = vec![
                (10, wake(1)),
                (10 + after_ns, to_0),
                (20 + after_ns, switch(0, 0, Runnable, 1)),
            ];
            let rows = HashMap::from([(1, 0)]);
            profile(&history(2, 100_000, records), &rows, 1, 100_000).idle_exits_ns
        };
        assert_eq!(moves(WAKE_NS), [WAKE_NS + 10]);
        assert!(moves(WAKE_NS + 1).is_empty());
    }

    #[test]
    fn a_cpu_idles_out_only_if_it_idled_at_the_wake() {
        let profile = one_row(vec![
            (10, wake(1)),
            (16, switch(0, 0, Runnable, 1)),
            (20, switch(0, 1, Blocked, 2)),
            (30, wake(1)),
            (40, switch(0, 2, Blocked, 0)),
            (41, switch(0, 0, Runnable, 1)),
        ]);
        assert_eq!(profile.idle_exits_ns, [6]);
    }
}
