//! A short piece of a history, CPU by CPU: who ran, at which level, how fast.

use std::collections::BTreeMap;

use trace::{Event, History};

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

/// What happened on some CPUs between two times.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// By CPU.
    pub(crate) cpus: Vec<Vec<Stretch>>,
    /// By core: from when on which frequency.
    pub(crate) cores_khz: Vec<Vec<(u64, u32)>>,
    pub(crate) threads_per_core: usize,
    /// Stretches shorter than this were joined to the one before.
    pub(crate) joined_below_ns: u64,
}

/// How long a window is.
const LENGTH_NS: u64 = 60_000_000;
/// How many CPUs it shows.
const CPUS: usize = 8;
/// How many stretches it may have, so that a page stays small.
const STRETCHES_MAX: usize = 2000;

impl Window {
    /// The first CPUs, from a quarter of the history on, when every application is at work.
    pub(crate) fn of(history: &History) -> Self {
        let header = &history.header;
        let threads_per_core = header.threads_per_core.unwrap_or(1).max(1) as usize;
        let length_ns = header.end_ns.saturating_sub(header.start_ns);
        let from_ns = if length_ns <= 2 * LENGTH_NS {
            header.start_ns
        } else {
            header.start_ns + length_ns / 4
        };
        let to_ns = header.end_ns.min(from_ns.saturating_add(LENGTH_NS));
        let cpus = (header.cpus as usize).min(CPUS);
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
        let mut joined_below_ns = 0;
        let mut shown = reader.stretches.clone();
        while shown.iter().map(Vec::len).sum::<usize>() > STRETCHES_MAX {
            joined_below_ns = (joined_below_ns * 2).max(30_000);
            shown = reader.stretches.iter().map(|all| join(all, joined_below_ns)).collect();
        }
        Self {
            from_ns,
            to_ns,
            cpus: shown,
            cores_khz: reader.cores_khz,
            threads_per_core,
            joined_below_ns,
        }
    }

    /// Share of each level of the time a task ran, in percent.
    pub(crate) fn level_shares_pct(&self) -> BTreeMap<u8, f64> {
        let busy = || self.cpus.iter().flatten().filter(|stretch| stretch.task != 0);
        let length = |stretch: &Stretch| (stretch.to_ns - stretch.from_ns) as f64;
        let all: f64 = busy().map(length).sum();
        let mut shares = BTreeMap::new();
        for stretch in busy() {
            *shares.entry(stretch.level).or_insert(0.0) += 100.0 * length(stretch) / all;
        }
        shares
    }
}

/// Keeps what is true now, and what ended.
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
            Event::Frequency { core, khz } if (core as usize) < self.levels.len() => {
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

/// Joins short stretches to the one before.
fn join(all: &[Stretch], below_ns: u64) -> Vec<Stretch> {
    let mut joined: Vec<Stretch> = Vec::new();
    for stretch in all {
        match joined.last_mut() {
            Some(last) if stretch.to_ns - stretch.from_ns < below_ns => last.to_ns = stretch.to_ns,
            Some(last) if last.task == stretch.task && last.level == stretch.level => {
                last.to_ns = stretch.to_ns;
            }
            _ => joined.push(*stretch),
        }
    }
    joined
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
        let window =
            Window::of(&history(100, &[(0, switch(0, 7)), (0, switch(1, 8)), (40, license(2))]));
        for (cpu, task) in [(0, 7), (1, 8)] {
            let found: Vec<_> =
                window.cpus[cpu].iter().map(|s| (s.from_ns, s.to_ns, s.task, s.level)).collect();
            assert_eq!(found, [(0, 40, task, 0), (40, 100, task, 2)]);
        }
        assert_eq!(window.level_shares_pct(), BTreeMap::from([(0, 40.0), (2, 60.0)]));
    }

    #[test]
    fn a_window_in_the_middle_knows_what_was_before() {
        let end_ns = 400_000_000;
        let frequency = Event::Frequency { core: 0, khz: 5 };
        let window =
            Window::of(&history(end_ns, &[(1, switch(0, 7)), (2, license(1)), (3, frequency)]));
        assert_eq!((window.from_ns, window.to_ns), (100_000_000, 160_000_000));
        let only = Stretch { from_ns: window.from_ns, to_ns: window.to_ns, task: 7, level: 1 };
        assert_eq!(window.cpus[0], [only]);
        assert_eq!(window.cores_khz[0], [(window.from_ns, 5)]);
    }

    #[test]
    fn a_crowded_window_is_thinned_without_a_gap() {
        let events: Vec<_> =
            (0..10_000_u64).map(|at| (at * 6000, switch(0, at as u32 % 2 + 1))).collect();
        let window = Window::of(&history(60_000_000, &events));
        assert!(window.joined_below_ns > 0);
        assert!(window.cpus.iter().map(Vec::len).sum::<usize>() <= STRETCHES_MAX);
        let lengths: u64 = window.cpus[0].iter().map(|s| s.to_ns - s.from_ns).sum();
        assert_eq!(lengths, 60_000_000);
    }
}
