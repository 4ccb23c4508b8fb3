//! Collects a profile of bounded size from switches, slices and samples.

use std::collections::VecDeque;

use cpu_model::CpuModel;
use random::SplitMix64;

use crate::profile::{Profile, SampleSeen, Slice, SliceSeen, Stay, Times, hold_ns};
use crate::sample::{Sample, Tally};
use crate::times::Adder;

/// Slices that a profile keeps.
const SLICES_MAX: usize = 20_000;
/// Samples take less than so long, and are kept with the tasks that ran before them.
const SAMPLE_MAX_NS: u64 = 10_000_000;
/// Tasks beside a slice that are kept; more of them say nothing about each.
const COMPANY_MAX: usize = 32;

/// Collects the switches, slices and samples of a machine.
#[derive(Clone, Debug)]
pub struct Collector {
    profile: Profile,
    adder: Adder,
    hold_ns: u64,
    /// By CPU.
    core_of: Vec<usize>,
    cores: Vec<Core>,
    /// By CPU: tasks that can have demanded the levels of the slice that runs.
    company: Vec<Vec<u32>>,
    /// Slices seen, of which chance keeps some.
    seen: u64,
    random: SplitMix64,
}

/// The recent stays on a core.
#[derive(Clone, Debug, Default)]
struct Core {
    /// Those that run.
    running: Vec<Stay>,
    /// Those that ran, by end.
    past: VecDeque<Stay>,
}

impl Collector {
    /// A collector for cores, each a list of CPUs; `seed` decides which slices are kept.
    #[must_use]
    pub fn new(cpu: &CpuModel, cores: &[Vec<u32>], seed: u64) -> Self {
        let cpus = cores.iter().flatten().max().map_or(0, |&cpu| cpu as usize + 1);
        let mut core_of = vec![usize::MAX; cpus];
        for (core, cpus) in cores.iter().enumerate() {
            cpus.iter().for_each(|&cpu| core_of[cpu as usize] = core);
        }
        Self {
            profile: Profile {
                cpu: cpu.clone(),
                groups: Vec::new(),
                group_of: Vec::new(),
                times: Vec::new(),
                samples: Vec::new(),
                tally: Tally::default(),
                slices: Vec::new(),
            },
            adder: Adder::new(cpu),
            hold_ns: hold_ns(cpu),
            core_of,
            cores: vec![Core::default(); cores.len()],
            company: vec![Vec::new(); cpus],
            seen: 0,
            random: SplitMix64::new(seed),
        }
    }

    /// A CPU goes over to another task, or to none.
    pub fn switched(&mut self, now_ns: u64, cpu: u32, task: Option<u32>) {
        let Some(core) = self.core_of.get(cpu as usize).and_then(|&it| self.cores.get_mut(it))
        else {
            return;
        };
        if let Some(at) = core.running.iter().position(|stay| stay.cpu == cpu) {
            let stay = core.running.remove(at);
            core.past.push_back(Stay { ended_ns: Some(now_ns), ..stay });
        }
        let oldest_ns = now_ns.saturating_sub(self.hold_ns + SAMPLE_MAX_NS);
        let is_old = |stay: &Stay| stay.ended_ns.is_some_and(|ended_ns| ended_ns < oldest_ns);
        while core.past.front().is_some_and(is_old) {
            core.past.pop_front();
        }
        let Some(task) = task else { return };
        for stay in &core.running {
            note(&mut self.company[stay.cpu as usize], task);
        }
        core.running.push(Stay { task, cpu, began_ns: now_ns, ended_ns: None });
        self.begin_slice(now_ns, cpu);
    }

    /// A task was accounted.
    pub fn accounted(&mut self, slice: &Slice) {
        let task = slice.task as usize;
        if self.profile.times.len() <= task {
            self.profile.times.resize(task + 1, Times::default());
        }
        self.adder.add(&mut self.profile.times[task], slice);
        self.seen += 1;
        let at = self.random.below(self.seen) as usize;
        let kept = self.profile.slices.len();
        if kept < SLICES_MAX || at < SLICES_MAX {
            let seen = SliceSeen {
                slice: *slice,
                stays: self.stays(slice.cpu, slice.ended_ns),
                company: self.company.get(slice.cpu as usize).cloned().unwrap_or_default(),
            };
            if kept < SLICES_MAX {
                self.profile.slices.push(seen);
            } else {
                self.profile.slices[at] = seen;
            }
        }
        self.begin_slice(slice.ended_ns, slice.cpu);
    }

    /// A sample was taken.
    pub fn sampled(&mut self, sample: &Sample) {
        let stays = self.stays(sample.cpu, sample.time_ns);
        self.profile.samples.push(SampleSeen { sample: sample.clone(), stays });
    }

    /// The profile, told by group: their names, and by task its group.
    #[must_use]
    pub fn finish(mut self, tally: Tally, groups: Vec<String>, group_of: Vec<u32>) -> Profile {
        self.profile.times.resize(group_of.len(), Times::default());
        Profile { groups, group_of, tally, ..self.profile }
    }

    /// Begins to note which tasks can demand the levels of a slice.
    fn begin_slice(&mut self, now_ns: u64, cpu: u32) {
        let stays = self.stays(cpu, now_ns);
        if let Some(company) = self.company.get_mut(cpu as usize) {
            company.clear();
            stays.iter().for_each(|stay| note(company, stay.task));
        }
    }

    /// Tasks on the core of a CPU within the hold before a time.
    fn stays(&self, cpu: u32, until_ns: u64) -> Vec<Stay> {
        let Some(core) = self.core_of.get(cpu as usize).and_then(|&it| self.cores.get(it)) else {
            return Vec::new();
        };
        let since_ns = until_ns.saturating_sub(self.hold_ns);
        let is_recent = |stay: &&Stay| {
            stay.began_ns <= until_ns && stay.ended_ns.is_none_or(|ended_ns| ended_ns >= since_ns)
        };
        core.past.iter().chain(&core.running).filter(is_recent).copied().collect()
    }
}

fn note(company: &mut Vec<u32>, task: u32) {
    if company.len() < COMPANY_MAX && !company.contains(&task) {
        company.push(task);
    }
}
