//! The events on the CPUs between two times: tasks, license levels, frequencies.

mod columns;
mod usage;

use std::collections::BTreeMap;

use trace::{Event, History};

pub(crate) use columns::{IDLE, KINDS, columns};
pub(crate) use usage::Usage;

/// A stretch of time of one task at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// Task, 0 = idle.
    pub(crate) task: u32,
    /// License level of the core.
    pub(crate) level: u8,
}

impl Stretch {
    pub(crate) fn length_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// Stretches and frequencies between two times.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// By CPU; without a gap.
    pub(crate) cpus: Vec<Vec<Stretch>>,
    /// By core: from when on which frequency.
    pub(crate) cores_khz: Vec<Vec<(u64, u32)>>,
    pub(crate) threads_per_core: usize,
}

impl Window {
    /// The part of a history between two times; its first and last record bound it.
    pub(crate) fn of(history: &History, [from_ns, to_ns]: [u64; 2]) -> Self {
        let header = &history.header;
        let to_ns = to_ns.min(header.end_ns);
        let from_ns = from_ns.clamp(header.start_ns.min(to_ns), to_ns);
        let threads_per_core = header.threads_per_core.unwrap_or(1).max(1) as usize;
        let cpus = header.cpus as usize;
        let cores = cpus.div_ceil(threads_per_core);
        let mut reader = Reader {
            from_ns,
            to_ns,
            threads_per_core,
            running: vec![(from_ns, 0); cpus],
            levels: vec![0; cores],
            stretches: vec![Vec::new(); cpus],
            cores_khz: vec![Vec::new(); cores],
        };
        for record in history.records.iter().take_while(|record| record.time_ns < to_ns) {
            reader.take(record.time_ns, &record.event);
        }
        for cpu in 0..cpus {
            reader.end(cpu, to_ns);
        }
        Self {
            from_ns,
            to_ns,
            cpus: reader.stretches,
            cores_khz: reader.cores_khz,
            threads_per_core,
        }
    }

    /// The part of this window between two times.
    pub(crate) fn part(&self, from_ns: u64, to_ns: u64) -> Self {
        let stretches = |all: &Vec<Stretch>| {
            let first = all.partition_point(|stretch| stretch.to_ns <= from_ns);
            let cut = |stretch: &Stretch| Stretch {
                from_ns: stretch.from_ns.max(from_ns),
                to_ns: stretch.to_ns.min(to_ns),
                ..*stretch
            };
            all[first..].iter().take_while(|stretch| stretch.from_ns < to_ns).map(cut).collect()
        };
        let changes = |all: &Vec<(u64, u32)>| {
            let first = all.partition_point(|change| change.0 <= from_ns).saturating_sub(1);
            let within = all[first..].iter().take_while(|change| change.0 < to_ns);
            within.map(|&(time_ns, khz)| (time_ns.max(from_ns), khz)).collect()
        };
        Self {
            from_ns,
            to_ns,
            cpus: self.cpus.iter().map(stretches).collect(),
            cores_khz: self.cores_khz.iter().map(changes).collect(),
            threads_per_core: self.threads_per_core,
        }
    }

    /// This window in `count` parts of the same length.
    pub(crate) fn parts(&self, count: u64) -> Vec<Self> {
        let length_ns = self.to_ns - self.from_ns;
        let edge = |part: u64| {
            self.from_ns + (u128::from(length_ns) * u128::from(part) / u128::from(count)) as u64
        };
        (0..count).map(|part| self.part(edge(part), edge(part + 1))).collect()
    }

    fn busy(&self) -> impl Iterator<Item = &Stretch> {
        self.cpus.iter().flatten().filter(|stretch| stretch.task != 0)
    }

    /// Share of each level of the time a task ran, in percent.
    pub(crate) fn level_shares_pct(&self) -> BTreeMap<u8, f64> {
        let all: u64 = self.busy().map(Stretch::length_ns).sum();
        let mut shares = BTreeMap::new();
        for stretch in self.busy() {
            *shares.entry(stretch.level).or_insert(0.0) +=
                100.0 * stretch.length_ns() as f64 / all as f64;
        }
        shares
    }

    /// Share of the time a task ran that its core was below full frequency, in percent.
    pub(crate) fn slow_pct(&self) -> f64 {
        self.level_shares_pct().iter().filter(|(level, _)| **level > 0).map(|(_, pct)| pct).sum()
    }

    /// Changes of a CPU from one task to another, idle among them.
    pub(crate) fn switches(&self) -> usize {
        let changes =
            |all: &Vec<Stretch>| all.windows(2).filter(|pair| pair[0].task != pair[1].task).count();
        self.cpus.iter().map(changes).sum()
    }
}

/// State of the CPUs at the current record, and the stretches that ended.
struct Reader {
    from_ns: u64,
    to_ns: u64,
    threads_per_core: usize,
    /// Since when which task runs.
    running: Vec<(u64, u32)>,
    levels: Vec<u8>,
    stretches: Vec<Vec<Stretch>>,
    cores_khz: Vec<Vec<(u64, u32)>>,
}

impl Reader {
    fn take(&mut self, time_ns: u64, event: &Event) {
        match *event {
            Event::Switch { cpu, next, .. } if (cpu as usize) < self.running.len() => {
                self.end(cpu as usize, time_ns);
                self.running[cpu as usize].1 = next;
            }
            Event::License { core, level, .. } if (core as usize) < self.levels.len() => {
                let first = core as usize * self.threads_per_core;
                for cpu in first..(first + self.threads_per_core).min(self.running.len()) {
                    self.end(cpu, time_ns);
                }
                self.levels[core as usize] = level;
            }
            Event::Frequency { core, khz } if (core as usize) < self.cores_khz.len() => {
                let all = &mut self.cores_khz[core as usize];
                if time_ns <= self.from_ns {
                    all.clear();
                }
                all.push((time_ns.max(self.from_ns), khz));
            }
            _ => {}
        }
    }

    /// Ends the stretch of a CPU; the next one begins as the same task.
    fn end(&mut self, cpu: usize, time_ns: u64) {
        let (since_ns, task) = self.running[cpu];
        let to_ns = time_ns.clamp(self.from_ns, self.to_ns);
        let level = self.levels[cpu / self.threads_per_core];
        if to_ns > since_ns {
            let all = &mut self.stretches[cpu];
            match all.last_mut() {
                Some(last) if last.task == task && last.level == level => last.to_ns = to_ns,
                _ => all.push(Stretch { from_ns: since_ns, to_ns, task, level }),
            }
        }
        self.running[cpu].0 = to_ns.max(since_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Header, Record, Source, SwitchState};

    fn history(end_ns: u64, events: &[(u64, Event)]) -> History {
        let records = events
            .iter()
            .map(|(time_ns, event)| Record { time_ns: *time_ns, event: event.clone() })
            .collect();
        let header = Header {
            schema: 1,
            source: Source::Simulated,
            cpus: 2,
            start_ns: 0,
            end_ns,
            threads_per_core: Some(2),
            cores_per_package: None,
            cpu: None,
            facts: BTreeMap::new(),
            tasks: Vec::new(),
            stacks: Vec::new(),
        };
        History { header, records }
    }

    fn switch(cpu: u32, next: u32) -> Event {
        Event::Switch { cpu, prev: 0, state: SwitchState::Runnable, next }
    }

    fn license(level: u8) -> Event {
        Event::License { core: 0, level, rate_permille: 1000 }
    }

    #[test]
    fn a_change_of_level_splits_the_stretches_of_both_siblings() {
        let events = [(0, switch(0, 7)), (0, switch(1, 8)), (40, license(2))];
        let window = Window::of(&history(100, &events), [0, 1000]);
        for (cpu, task) in [(0, 7), (1, 8)] {
            let found: Vec<_> =
                window.cpus[cpu].iter().map(|s| (s.from_ns, s.to_ns, s.task, s.level)).collect();
            assert_eq!(found, [(0, 40, task, 0), (40, 100, task, 2)]);
        }
        assert_eq!(window.level_shares_pct(), BTreeMap::from([(0, 40.0), (2, 60.0)]));
        assert_eq!((window.slow_pct(), window.switches()), (60.0, 0));
    }

    #[test]
    fn a_window_in_the_middle_keeps_earlier_state() {
        let frequency = |khz| Event::Frequency { core: 0, khz };
        let events = [(1, switch(0, 7)), (2, license(1)), (3, frequency(5)), (150, frequency(6))];
        let history = history(400, &events);
        let whole = Window::of(&history, [0, 400]);
        for window in [Window::of(&history, [100, 160]), whole.part(100, 160)] {
            assert_eq!((window.from_ns, window.to_ns), (100, 160));
            let only = Stretch { from_ns: 100, to_ns: 160, task: 7, level: 1 };
            assert_eq!(window.cpus[0], [only]);
            assert_eq!(window.cores_khz[0], [(100, 5), (150, 6)]);
        }
    }

    #[test]
    fn the_parts_of_a_window_add_up_to_the_window() {
        let events: Vec<_> =
            (0..1000_u64).map(|at| (at * 6, switch(0, at as u32 % 3 + 1))).collect();
        let whole = Window::of(&history(6001, &events), [0, u64::MAX]);
        let parts = whole.parts(7);
        assert_eq!((parts[0].from_ns, parts[6].to_ns), (0, 6001));
        let mut usage = BTreeMap::new();
        for part in &parts {
            for (task, one) in part.by_task() {
                *usage.entry(task).or_insert(0) += one.busy_ns;
            }
        }
        let expected: BTreeMap<u32, u64> =
            whole.by_task().into_iter().map(|(task, one)| (task, one.busy_ns)).collect();
        assert_eq!(usage, expected);
    }

    #[test]
    fn a_range_outside_the_history_is_empty() {
        let window = Window::of(&history(100, &[(0, switch(0, 7))]), [200, 300]);
        assert_eq!((window.from_ns, window.to_ns, window.switches()), (100, 100, 0));
        assert!(window.cpus.iter().all(Vec::is_empty));
    }
}
