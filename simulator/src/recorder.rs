//! Keeps the history of a run.

use std::collections::BTreeMap;

use cpu_model::Effect;
use scenarios::Workload;
use trace::{Event, Header, History, Record, SCHEMA, Source, TaskInfo};

/// Task id in histories of a thread; 0 is the idle task.
pub(crate) fn tid(task: usize) -> u32 {
    task as u32 + 1
}

/// Collects the events of a run.
pub(crate) struct Recorder {
    header: Header,
    records: Vec<Record>,
    /// By core: effect and frequency last recorded.
    cores: Vec<(Effect, u32)>,
}

impl Recorder {
    /// `rest` is the effect on cores where nothing has run yet.
    pub(crate) fn new(workload: &Workload, rest: Effect) -> Self {
        let machine = &workload.machine;
        let tasks = workload.threads.iter().enumerate().map(|(index, thread)| TaskInfo {
            tid: tid(index),
            pid: None,
            comm: thread.name.clone(),
            app: workload.applications[thread.application as usize].name.clone(),
            nice: thread.nice,
            kernel: false,
            control_group: None,
        });
        Self {
            header: Header {
                schema: SCHEMA,
                source: Source::Simulated,
                cpus: machine.cpus(),
                start_ns: 0,
                end_ns: 0,
                threads_per_core: Some(machine.threads_per_core),
                cores_per_package: Some(machine.cores_per_package),
                cpu: None,
                facts: BTreeMap::new(),
                tasks: tasks.collect(),
                stacks: Vec::new(),
            },
            records: Vec::new(),
            cores: vec![(rest, 0); (machine.packages * machine.cores_per_package) as usize],
        }
    }

    /// Records so far.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn push(&mut self, time_ns: u64, event: Event) {
        self.records.push(Record { time_ns, event });
    }

    /// Notes license and frequency of a core where they changed; 0 kHz: the core idles.
    pub(crate) fn core(&mut self, time_ns: u64, core: usize, effect: Effect, khz: u32) {
        let (old_effect, old_khz) = self.cores[core];
        let id = core as u32;
        if old_effect != effect {
            let (level, rate_permille) = (effect.level, effect.rate_permille);
            self.push(time_ns, Event::License { core: id, level, rate_permille });
        }
        if old_khz != khz && khz != 0 {
            self.push(time_ns, Event::Frequency { core: id, khz });
        }
        self.cores[core] = (effect, if khz == 0 { old_khz } else { khz });
    }

    pub(crate) fn finish(
        mut self,
        end_ns: u64,
        cpu: &str,
        facts: BTreeMap<String, String>,
    ) -> History {
        self.header.end_ns = end_ns;
        self.header.cpu = Some(cpu.to_owned());
        self.header.facts = facts;
        History { header: self.header, records: self.records }
    }
}
