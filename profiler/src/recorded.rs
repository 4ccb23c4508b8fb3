//! A profile of a recorded schedule. Where the recording has counts of counters, levels and stalls
//! are those that were counted; else levels follow from the classes of tasks or from the registers
//! that tasks left their CPUs with, by the CPU table.

use std::collections::BTreeMap;

use cpu_model::{Class, CpuModel, LEVELS_MAX};
use policy::{Belief, LevelTimes};
use trace::{COUNTED_FACT, CounterCounts, Event, History};

use crate::clocks::{Clocks, LastSwitches, Met};
use crate::collector::Collector;
use crate::core_levels::{CoreLevels, LevelSpan};
use crate::cores::Cores;
use crate::groups::{By, groups};
use crate::profile::{Demand, Profile, Slice};
use crate::sample::Tally;

/// The upper halves of 512-bit registers, in XSTATE_BV (SDM, volume 1, section 13.1).
const ZMM_HI256: u64 = 1 << 6;
/// An application has 512-bit code if its tasks left a CPU with 512-bit registers in use at least
/// this often; one time can be the start-up code of a library.
const MARKS_MIN: u64 = 2;
const FULL_RATE_PERMILLE: u32 = 1000;

/// How a recording is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Active cores of each package, for the turbo row; by default those that the recording shows.
    pub active_cores: Option<u32>,
    /// Hardware threads of a core, numbered one after the other, where the recording does not say;
    /// by default 1.
    pub threads_per_core: Option<u32>,
    /// Decides which slices are kept.
    pub seed: u64,
    /// What losses are told for.
    pub by: By,
}

/// The profile of a recording, as if it had run on that CPU.
///
/// Counts (`Event::Counters`) win over classes (`Event::Phase`), and those over registers.
/// Registers of 256 bits say nothing, because light 256-bit code demands no level.
#[must_use]
pub fn profile(cpu: &CpuModel, history: &History, reading: &Reading) -> Profile {
    profile_with_levels(cpu, history, reading, 0).0
}

/// The profile of a recording as by [`profile`], and the level of each core over time, in at most
/// `most` spans a core.
#[must_use]
pub fn profile_with_levels(
    cpu: &CpuModel,
    history: &History,
    reading: &Reading,
    most: usize,
) -> (Profile, Vec<LevelSpan>) {
    let (groups, group_of) = groups(&history.header.tasks, reading.by);
    let levels = shown_levels(cpu, history);
    let cores = Cores::of(&history.header, reading.threads_per_core);
    let collector = Collector::new(cpu, &cores.cpus, reading.seed);
    let mut replay = Replay {
        steady_cores: reading.active_cores,
        ..Replay::new(cpu, history, collector, levels, cores)
    };
    let header = &history.header;
    let length_ns = header.end_ns.saturating_sub(header.start_ns);
    let core_count = replay.beliefs.len();
    replay.core_levels = (most > 0).then(|| CoreLevels::new(core_count, length_ns, most));
    for record in &history.records {
        replay.record(record.time_ns, &record.event);
    }
    replay.finish();
    let levels = replay.core_levels.map(CoreLevels::finish).unwrap_or_default();
    (replay.collector.finish(replay.tally, groups, group_of), levels)
}

/// By task: the level that the registers of its program show.
fn shown_levels(cpu: &CpuModel, history: &History) -> Vec<u8> {
    let (_, group_of) = groups(&history.header.tasks, By::Program);
    let mut marks: BTreeMap<u32, u64> = BTreeMap::new();
    for record in &history.records {
        if let Event::Registers { task, xfeatures } = record.event
            && xfeatures & ZMM_HI256 != 0
            && let Some(index) = index(history, task)
        {
            *marks.entry(group_of[index as usize]).or_default() += 1;
        }
    }
    // Tiles of AMX are another state, which the mark does not show.
    let is_it = |class: &Class| class.width() == 2 && *class != Class::Amx;
    let widest = Class::ALL.into_iter().filter(is_it);
    let level = widest.map(|class| cpu.level_demanded(class, FULL_RATE_PERMILLE)).max();
    let of_group = |group: &u32| marks.get(group).is_some_and(|&marks| marks >= MARKS_MIN);
    group_of.iter().map(|group| if of_group(group) { level.unwrap_or(0) } else { 0 }).collect()
}

/// The number of a task by its thread id.
fn index(history: &History, tid: u32) -> Option<u32> {
    history.header.tasks.binary_search_by_key(&tid, |task| task.tid).ok().map(|at| at as u32)
}

/// The counts of a slice, as the policy has them.
fn named(time_ns: u64, counted: &CounterCounts) -> policy::Slice {
    let &CounterCounts { cycles, ref_cycles, license_1, license_2, stalled, .. } = counted;
    let mut level_cycles = [0; LEVELS_MAX];
    level_cycles[..3].copy_from_slice(&[
        cycles.saturating_sub(license_1.saturating_add(license_2)),
        license_1,
        license_2,
    ]);
    policy::Slice { time_ns, cycles, ref_cycles, level_cycles, stall_cycles: stalled, first_row: 0 }
}

struct Replay<'a> {
    cpu: &'a CpuModel,
    history: &'a History,
    collector: Collector,
    cores: Cores,
    cores_per_package: u32,
    hold: LevelTimes,
    /// By core.
    beliefs: Vec<Belief>,
    core_levels: Option<CoreLevels>,
    cpus: Vec<Place>,
    /// By package.
    active_cores: Vec<u32>,
    /// Active cores of each package, if given.
    steady_cores: Option<u32>,
    /// By task: the level that it demands.
    levels: Vec<u8>,
    /// By task: since when it is runnable without a CPU.
    runnable_ns: Vec<Option<u64>>,
    /// By CPU.
    last_switches: Vec<LastSwitches>,
    /// How pauses of the recording ended.
    tally: Tally,
    /// Whether the recorder read counters.
    has_counters: bool,
}

/// Whether the recorder of a history read counters of license levels at switches.
#[must_use]
pub fn has_counters(history: &History) -> bool {
    history.header.facts.contains_key(COUNTED_FACT)
}

/// A CPU during the replay.
#[derive(Clone, Copy, Default)]
struct Place {
    running: Option<u32>,
    began_ns: u64,
    waited_ns: u64,
    /// Booked times of the core when the task came.
    booked: LevelTimes,
    /// Whether a switch has named the task that runs.
    is_known: bool,
    /// The counts of the slice that the next switch ends.
    counts: Option<CounterCounts>,
}

impl<'a> Replay<'a> {
    fn new(
        cpu: &'a CpuModel,
        history: &'a History,
        collector: Collector,
        levels: Vec<u8>,
        cores: Cores,
    ) -> Self {
        let header = &history.header;
        let count = cores.cpus.len() as u32;
        let cores_per_package = header.cores_per_package.unwrap_or(count).max(1);
        Self {
            cpu,
            history,
            collector,
            steady_cores: None,
            cores,
            cores_per_package,
            hold: LevelTimes { ns: cpu.license.hold_ns },
            beliefs: vec![Belief::default(); count as usize],
            core_levels: None,
            cpus: vec![Place::default(); header.cpus as usize],
            active_cores: vec![0; count.div_ceil(cores_per_package) as usize],
            runnable_ns: vec![None; header.tasks.len()],
            last_switches: vec![LastSwitches::default(); header.cpus as usize],
            tally: Tally::default(),
            has_counters: has_counters(history),
            levels,
        }
    }

    fn record(&mut self, now_ns: u64, event: &Event) {
        match *event {
            Event::Switch { cpu, prev, state, next } if (cpu as usize) < self.cpus.len() => {
                self.switch(now_ns, cpu, prev, next);
                self.last_switches[cpu as usize].add(now_ns, prev, next);
                if state == trace::SwitchState::Runnable {
                    self.set_runnable(prev, now_ns);
                }
            }
            Event::Counters { cpu, counts } if (cpu as usize) < self.cpus.len() => {
                self.cpus[cpu as usize].counts = Some(counts);
            }
            Event::Wake { task, .. } => self.set_runnable(task, now_ns),
            // Counters show levels better, and a slice has one set of counts.
            Event::Phase { .. } if self.has_counters => {}
            Event::Phase { task, class, rate_permille, .. } => {
                let Some(task) = index(self.history, task) else { return };
                let level = self.cpu.level_demanded(class, rate_permille);
                let place = self.cpus.iter().position(|place| place.running == Some(task));
                match place.filter(|_| self.levels[task as usize] != level) {
                    // A slice has one demand, so a change of demand ends it.
                    Some(cpu) => {
                        self.leave(now_ns, cpu as u32);
                        self.levels[task as usize] = level;
                        self.go_on(now_ns, cpu as u32, task);
                    }
                    None => self.levels[task as usize] = level,
                }
            }
            Event::Pause {
                cpu, by, first_ns, alone_ns, first_khz, last_khz, alone_khz, ..
            } if (cpu as usize) < self.cpus.len() => {
                match self.last_switches[cpu as usize].met(by, first_ns, alone_ns) {
                    Met::Idle => self.tally.idle += 1,
                    Met::AfterIdle => self.tally.after_idle += 1,
                    Met::Unknown => self.tally.switched += 1,
                    Met::Task { task, time_ns, is_alone } => {
                        let Some(task) = index(self.history, task) else { return };
                        self.tally.taken += 1;
                        let alone_khz = Some(alone_khz).filter(|_| is_alone);
                        let clocks = Clocks { time_ns, cpu, task, first_khz, last_khz, alone_khz };
                        self.collector.timed(clocks);
                    }
                }
            }
            _ => {}
        }
    }

    fn set_runnable(&mut self, tid: u32, now_ns: u64) {
        let Some(task) = index(self.history, tid) else { return };
        if !self.cpus.iter().any(|place| place.running == Some(task)) {
            self.runnable_ns[task as usize].get_or_insert(now_ns);
        }
    }

    fn switch(&mut self, now_ns: u64, cpu: u32, prev: u32, next: u32) {
        if !self.cpus[cpu as usize].is_known {
            self.cpus[cpu as usize].is_known = true;
            // It ran there since before the recording.
            let prev = index(self.history, prev);
            self.come(self.history.header.start_ns, cpu, prev);
        }
        self.leave(now_ns, cpu);
        let next = index(self.history, next);
        self.come(now_ns, cpu, next);
    }

    fn come(&mut self, now_ns: u64, cpu: u32, task: Option<u32>) {
        let since_ns = task.and_then(|task| self.runnable_ns[task as usize].take());
        let waited_ns = since_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        if let Some(task) = task {
            self.go_on(now_ns, cpu, task);
            self.cpus[cpu as usize].waited_ns = waited_ns;
        }
        self.collector.switched(now_ns, cpu, task, waited_ns);
    }

    /// A slice of a task begins.
    fn go_on(&mut self, now_ns: u64, cpu: u32, task: u32) {
        let core = self.cores.of[cpu as usize];
        if !self.is_active(core) {
            self.active_cores[core / self.cores_per_package as usize] += 1;
        }
        self.believe(cpu, 0, self.levels[task as usize], now_ns);
        self.cpus[cpu as usize] = Place {
            running: Some(task),
            began_ns: now_ns,
            waited_ns: 0,
            booked: self.beliefs[core].booked,
            is_known: true,
            counts: self.cpus[cpu as usize].counts,
        };
    }

    fn leave(&mut self, now_ns: u64, cpu: u32) {
        let place = self.cpus[cpu as usize];
        // Counts of an idle CPU are of no task.
        let counted = self.cpus[cpu as usize].counts.take();
        let Some(task) = place.running else { return };
        let core = self.cores.of[cpu as usize];
        let level = self.levels[task as usize];
        self.believe(cpu, level, 0, now_ns);
        let package = core / self.cores_per_package as usize;
        let active = self.steady_cores.unwrap_or(self.active_cores[package]);
        let row = self.cpu.turbo.row(active);
        let time_ns = now_ns.saturating_sub(place.began_ns);
        let believed = self.beliefs[core].since(&place.booked, time_ns);
        let mut counts = policy::Slice { time_ns, ..policy::Slice::default() };
        let (throttled_cycles, demand) = match counted {
            Some(counted) => {
                counts = named(time_ns, &counted);
                if let Some(levels) = &mut self.core_levels {
                    let start_ns = self.history.header.start_ns;
                    let passed = |ns: u64| ns.saturating_sub(start_ns);
                    levels.counted(core, passed(place.began_ns), passed(now_ns), &counts);
                }
                (counted.throttled, Demand::Retired([counted.fp_256, counted.fp_512]))
            }
            // A counter could not be read: nothing is known but the time.
            None if self.has_counters => {
                policy::infer(&self.cpu.turbo, row, &LevelTimes::default(), &mut counts);
                (0, Demand::Retired([0; 2]))
            }
            None => {
                policy::infer(&self.cpu.turbo, row, &believed, &mut counts);
                (0, Demand::Level(level))
            }
        };
        self.collector.accounted(&Slice {
            task,
            cpu,
            began_ns: place.began_ns,
            ended_ns: now_ns,
            waited_ns: place.waited_ns,
            counts,
            throttled_cycles,
            demand,
        });
        self.cpus[cpu as usize].running = None;
        if !self.is_active(core) {
            self.active_cores[package] -= 1;
        }
    }

    /// A CPU demands another level from now on.
    fn believe(&mut self, cpu: u32, from: u8, to: u8, now_ns: u64) {
        let core = self.cores.of[cpu as usize];
        self.beliefs[core].change(&self.hold, from, to, now_ns);
        if let Some(levels) = &mut self.core_levels
            && !self.has_counters
        {
            let passed_ns = now_ns.saturating_sub(self.history.header.start_ns);
            levels.changed(core, passed_ns, &self.beliefs[core]);
        }
    }

    fn is_active(&self, core: usize) -> bool {
        self.cores.cpus[core].iter().any(|&cpu| self.cpus[cpu as usize].running.is_some())
    }

    /// The slices that run when the recording ends.
    fn finish(&mut self) {
        for cpu in 0..self.cpus.len() as u32 {
            self.leave(self.history.header.end_ns, cpu);
            // A hold may last until the end.
            self.believe(cpu, 0, 0, self.history.header.end_ns);
        }
    }
}
