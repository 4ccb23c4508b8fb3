//! Collects a profile of bounded size from switches, slices and samples.

use std::collections::VecDeque;

use cpu_model::CpuModel;
use random::SplitMix64;

use crate::clocks::Clocks;
use crate::profile::{
    ClocksWithStays, Pairs, Profile, SampleWithStays, Slice, SliceWithStays, Stay, Times, hold_ns,
};
use crate::sample::{Sample, Tally};
use crate::times::Adder;

/// Slices that a profile keeps.
const SLICES_MAX: usize = 20_000;
/// Samples take less than so long, and are kept with the tasks that ran before them.
const SAMPLE_MAX_NS: u64 = 10_000_000;
/// Stays of a CPU that a waiting task is compared with.
const RAN_MAX: usize = 256;
/// Pairs of tasks that times are kept for; further pairs are left out.
const PAIRS_MAX: usize = 1 << 20;
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
    /// By CPU: the last stays that ended.
    ran: Vec<VecDeque<Stay>>,
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
    /// Until when times beside each other are counted.
    shared_ns: u64,
}

impl Core {
    /// Counts the time for which its tasks ran beside each other until now.
    fn share(&mut self, now_ns: u64, beside_ns: &mut Pairs) {
        let passed_ns = now_ns.saturating_sub(self.shared_ns);
        self.shared_ns = self.shared_ns.max(now_ns);
        for one in &self.running {
            for other in self.running.iter().filter(|other| other.cpu != one.cpu) {
                add(beside_ns, (one.task, other.task), passed_ns);
            }
        }
    }
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
                waits_ns: Pairs::new(),
                beside_ns: Pairs::new(),
                samples: Vec::new(),
                clocks: Vec::new(),
                tally: Tally::default(),
                slices: Vec::new(),
            },
            adder: Adder::new(cpu),
            hold_ns: hold_ns(cpu),
            core_of,
            cores: vec![Core::default(); cores.len()],
            company: vec![Vec::new(); cpus],
            ran: vec![VecDeque::new(); cpus],
            seen: 0,
            random: SplitMix64::new(seed),
        }
    }

    /// A CPU goes over to another task, which was runnable without a CPU for so long, or to none.
    pub fn switched(&mut self, now_ns: u64, cpu: u32, task: Option<u32>, waited_ns: u64) {
        let Some(core) = self.core_of.get(cpu as usize).and_then(|&it| self.cores.get_mut(it))
        else {
            return;
        };
        core.share(now_ns, &mut self.profile.beside_ns);
        let ran = &mut self.ran[cpu as usize];
        if let Some(at) = core.running.iter().position(|stay| stay.cpu == cpu) {
            let stay = Stay { ended_ns: Some(now_ns), ..core.running.remove(at) };
            core.past.push_back(stay);
            ran.push_back(stay);
        }
        while ran.len() > RAN_MAX {
            ran.pop_front();
        }
        let oldest_ns = now_ns.saturating_sub(self.hold_ns + SAMPLE_MAX_NS);
        let is_old = |stay: &Stay| stay.ended_ns.is_some_and(|ended_ns| ended_ns < oldest_ns);
        while core.past.front().is_some_and(is_old) {
            core.past.pop_front();
        }
        let Some(task) = task else { return };
        let since_ns = now_ns.saturating_sub(waited_ns);
        for stay in ran.iter().rev() {
            let ended_ns = stay.ended_ns.unwrap_or(now_ns);
            if ended_ns <= since_ns {
                break;
            }
            let had_ns = ended_ns.saturating_sub(stay.began_ns.max(since_ns));
            add(&mut self.profile.waits_ns, (task, stay.task), had_ns);
        }
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
            let seen = SliceWithStays {
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
        self.profile.samples.push(SampleWithStays { sample: sample.clone(), stays });
    }

    /// The clocks of a pause were timed.
    pub fn timed(&mut self, clocks: Clocks) {
        let stays = self.stays(clocks.cpu, clocks.time_ns);
        self.profile.clocks.push(ClocksWithStays { clocks, stays });
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

fn add(pairs: &mut Pairs, pair: (u32, u32), ns: u64) {
    if ns > 0 && (pairs.len() < PAIRS_MAX || pairs.contains_key(&pair)) {
        *pairs.entry(pair).or_default() += ns;
    }
}

fn note(company: &mut Vec<u32>, task: u32) {
    if company.len() < COMPANY_MAX && !company.contains(&task) {
        company.push(task);
    }
}
