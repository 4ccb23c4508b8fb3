//! A history as timelines: what each license domain was asked for, and by which tasks.

use std::collections::HashMap;
use std::ops::Range;

use cpu_model::{Class, CpuModel, Demand, LicenseDomain};
use trace::{Event, History};

/// A time in which the same tasks execute the same instructions on a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its length at the frequency of level 0.
    pub work_ns: u64,
    /// The demand of the running tasks.
    pub demand: Demand,
    /// The running tasks, a range of [`Timeline::tasks`]; empty while all its CPUs are idle.
    pub running: Range<u32>,
}

impl Stretch {
    /// Whether no task runs.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }
}

/// The stretches of a license domain.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// In order of time, without gaps.
    pub stretches: Vec<Stretch>,
    /// Ids of tasks, to which stretches point.
    pub tasks: Vec<u32>,
}

impl Timeline {
    /// Adds a stretch, to the last one if that is the same but for its length.
    pub fn push(&mut self, work_ns: u64, demand: Demand, running: &[u32]) {
        if work_ns == 0 {
            return;
        }
        if let Some(last) = self.stretches.last_mut()
            && last.demand == demand
            && self.tasks[last.running.start as usize..last.running.end as usize] == *running
        {
            last.work_ns += work_ns;
            return;
        }
        let start = self.tasks.len() as u32;
        self.tasks.extend_from_slice(running);
        let running = start..self.tasks.len() as u32;
        self.stretches.push(Stretch { work_ns, demand, running });
    }

    /// The tasks that run in a stretch.
    #[must_use]
    pub fn running(&self, stretch: &Stretch) -> &[u32] {
        &self.tasks[stretch.running.start as usize..stretch.running.end as usize]
    }
}

/// The state of a domain while its history is read.
struct Open {
    since_ns: u64,
    cpus: Range<usize>,
    timeline: Timeline,
}

/// The timelines of all license domains, from `start_ns` on. `threads_per_core` and
/// `cores_per_package` say which CPUs share a core and a package.
#[must_use]
pub fn timelines(
    history: &History,
    cpu: &CpuModel,
    threads_per_core: u32,
    cores_per_package: u32,
    start_ns: u64,
) -> Vec<Timeline> {
    let cpus = history.header.cpus as usize;
    let threads = threads_per_core as usize;
    let width = match cpu.license_domain {
        LicenseDomain::Core => threads,
        LicenseDomain::Package => threads * cores_per_package as usize,
    }
    .max(1);
    let open = |first: usize| Open {
        since_ns: start_ns.max(history.header.start_ns),
        cpus: first..(first + width).min(cpus),
        timeline: Timeline::default(),
    };
    let mut domains: Vec<Open> = (0..cpus).step_by(width).map(open).collect();
    let mut state =
        State { running: vec![0; cpus], on: HashMap::new(), used: HashMap::new(), threads, cpu };
    for record in &history.records {
        let at = match record.event {
            Event::Switch { cpu, .. } => Some(cpu as usize),
            Event::Phase { task, .. } => state.on.get(&task).copied(),
            _ => continue,
        };
        if let Some(domain) = at.and_then(|cpu| domains.get_mut(cpu / width)) {
            state.close(domain, record.time_ns);
        }
        match record.event {
            Event::Switch { cpu, prev, next, .. } if (cpu as usize) < cpus => {
                state.on.remove(&prev);
                state.running[cpu as usize] = next;
                if next != 0 {
                    state.on.insert(next, cpu as usize);
                }
            }
            Event::Phase { task, class, rate_permille, .. } => {
                state.used.insert(task, (class, rate_permille));
            }
            _ => {}
        }
    }
    let end_ns = history.header.end_ns;
    domains.iter_mut().for_each(|domain| state.close(domain, end_ns));
    domains.into_iter().map(|domain| domain.timeline).collect()
}

/// The running tasks, and their instructions.
struct State<'a> {
    /// By CPU; 0: idle.
    running: Vec<u32>,
    /// By running task: its CPU.
    on: HashMap<u32, usize>,
    /// By task: class and rate of its instructions.
    used: HashMap<u32, (Class, u32)>,
    threads: usize,
    cpu: &'a CpuModel,
}

impl State<'_> {
    /// Adds a stretch of a domain that ends now.
    fn close(&self, domain: &mut Open, now_ns: u64) {
        let work_ns = now_ns.saturating_sub(domain.since_ns);
        if work_ns == 0 {
            return;
        }
        domain.since_ns = now_ns;
        let running: Vec<u32> =
            domain.cpus.clone().map(|cpu| self.running[cpu]).filter(|&task| task != 0).collect();
        let demand = self.demand(domain.cpus.clone());
        domain.timeline.push(work_ns, demand, &running);
    }

    fn demand(&self, cpus: Range<usize>) -> Demand {
        let used = |cpu: usize| {
            let task = self.running[cpu];
            (task != 0).then(|| self.used.get(&task).copied().unwrap_or((Class::Scalar, 0)))
        };
        let mut top = Demand::default();
        for cpu in cpus {
            let Some((class, _)) = used(cpu) else { continue };
            let first = cpu / self.threads * self.threads;
            let beside = (first..first + self.threads).filter(|&cpu| cpu < self.running.len());
            let level = self.cpu.level_beside(class, beside.filter_map(used));
            let (width, is_heavy) = (class.width().max(top.width), class.is_heavy());
            let is_heavy = match level.cmp(&top.level) {
                std::cmp::Ordering::Greater => is_heavy,
                std::cmp::Ordering::Equal => is_heavy || top.heavy == 1,
                std::cmp::Ordering::Less => top.heavy == 1,
            };
            top = Demand::new(level.max(top.level), width, is_heavy);
        }
        top
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_model::{CpuTable, TurboMode};
    use trace::{Header, Record, Source, SwitchState};

    fn history(records: Vec<(u64, Event)>) -> History {
        let header = Header {
            schema: trace::SCHEMA,
            source: Source::Simulated,
            cpus: 4,
            start_ns: 0,
            end_ns: 100,
            threads_per_core: Some(2),
            cores_per_package: Some(2),
            cpu: None,
            facts: std::collections::BTreeMap::new(),
            tasks: Vec::new(),
            stacks: Vec::new(),
        };
        let record = |(time_ns, event)| Record { time_ns, event };
        History { header, records: records.into_iter().map(record).collect() }
    }

    fn switch(cpu: u32, prev: u32, next: u32) -> Event {
        Event::Switch { cpu, prev, state: SwitchState::Runnable, next }
    }

    fn phase(task: u32, class: Class, rate_permille: u32) -> Event {
        Event::Phase { task, class, rate_permille, stall_permille: 0 }
    }

    #[test]
    fn siblings_share_a_timeline_and_add_their_rates() {
        let cpu = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
        let history = history(vec![
            (0, phase(1, Class::Avx512Heavy, 300)),
            (0, phase(2, Class::Avx512Heavy, 300)),
            (10, switch(0, 0, 1)),
            (30, switch(1, 0, 2)),
            (40, switch(2, 0, 3)),
            (60, phase(1, Class::Scalar, 1000)),
            (90, switch(0, 1, 0)),
        ]);
        let found = timelines(&history, &cpu, 2, 2, 0);
        let of = |timeline: &Timeline| -> Vec<(u64, u8, Vec<u32>)> {
            let one = |stretch: &Stretch| {
                (stretch.work_ns, stretch.demand.level, timeline.running(stretch).to_vec())
            };
            timeline.stretches.iter().map(one).collect()
        };
        let first = vec![
            (10, 0, vec![]),
            (20, 1, vec![1]),
            (30, 2, vec![1, 2]),
            (30, 1, vec![1, 2]),
            (10, 1, vec![2]),
        ];
        assert_eq!(of(&found[0]), first);
        assert_eq!(of(&found[1]), [(40, 0, vec![]), (60, 0, vec![3])]);
        // From the middle on.
        assert_eq!(of(&timelines(&history, &cpu, 2, 2, 50)[1]), [(50, 0, vec![3])]);
    }
}
