//! MuQSS 0.204: the earliest deadline of all queues, or of the nearest longer one.
//!
//! Numbers and rules are those of `kernel/sched/MuQSS.c` in 5.9-ck1. The skip list, which
//! decides the cost of a queue and not its order, is an ordered set here. Trylocks never
//! fail. Left out: `SMT_NICE`, which matters between different nice levels only, and
//! real-time, batch and idle policies. CPUs at the same distance are visited upwards and
//! around; MuQSS goes downwards from those in the upper half.
//!
//! With core specialization (D 6.3.2) each run queue exists once for each kind of task.

mod near;
mod specialized;

use std::collections::BTreeSet;
use std::ops::Range;

use policy::{Rank, TaskKind};

use self::near::Shape;
use crate::config::RqSharing;
use crate::outcome::SpecializationCounts;
use crate::random::{Purpose, Stream, of_tasks};
use crate::sched::specialize::Specialize;
use crate::sched::{Charged, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::timers::{NEVER, WinnerTree};
use crate::topology::{Mask, Topology};
use crate::world::World;

/// `rr_interval` of 6 "ms" of 2^20 ns each: 6.291456 ms.
const SLICE_NS: u64 = RR_INTERVAL << 20;
const RR_INTERVAL: u64 = 6;
/// A slice with less left is as good as expired: `RESCHED_US`, 100 "us" of 2^10 ns.
const EXPIRED_NS: u64 = 100 << 10;
/// Slices are ended by a timer at exact times; equal ones would lock gangs in step.
/// Our choice, as for `fair`.
const SLICE_JITTER_PERMILLE: u32 = 150;
const NICE_MIN: i8 = -20;
const NICE_MAX: i8 = 19;

/// How far in the future the deadline of a new slice is: `prio_ratios` grow by a tenth
/// with each nice level from 128, in units of a 128th of the interval.
pub(crate) fn deadline_ns(nice: i8) -> u64 {
    const FIRST_RATIO: u64 = 128;
    let levels = i32::from(nice.clamp(NICE_MIN, NICE_MAX)) - i32::from(NICE_MIN);
    let ratio = (0..levels).fold(FIRST_RATIO, |ratio, _| ratio * 11 / 10);
    ratio * RR_INTERVAL * ((1 << 20) / FIRST_RATIO)
}

#[derive(Clone, Copy, Debug)]
struct Task {
    /// From now to the deadline whenever the slice is refilled.
    relative_ns: u64,
    deadline_ns: u64,
    left_ns: u64,
    cpu: usize,
    known: bool,
}

/// Deadline, order of arrival, task.
type Entry = (u64, u64, usize);

/// The run queues of one kind of task.
struct Queues {
    /// By run queue.
    entries: Vec<BTreeSet<Entry>>,
    /// By run queue: its earliest deadline.
    heads: WinnerTree,
}

impl Queues {
    fn new(count: usize) -> Self {
        Self { entries: vec![BTreeSet::new(); count], heads: WinnerTree::new(count) }
    }

    fn is_empty(&self) -> bool {
        self.heads.first().0 == NEVER
    }

    fn insert(&mut self, queue: usize, entry: Entry) {
        self.entries[queue].insert(entry);
        self.heads.set(queue, self.heads.get(queue).min(entry.0));
    }

    fn remove(&mut self, queue: usize, entry: Entry) {
        self.entries[queue].remove(&entry);
        let head = self.entries[queue].first().map_or(NEVER, |&(deadline_ns, ..)| deadline_ns);
        self.heads.set(queue, head);
    }
}

/// MuQSS.
pub(crate) struct Muqss {
    sharing: RqSharing,
    interactive: bool,
    tasks: Vec<Task>,
    /// By [`TaskKind`]; all tasks are default ones without specialization.
    queues: [Queues; 3],
    /// By CPU: number of queued and running tasks (`rq_load`).
    load: WinnerTree,
    /// By CPU: how much before the end of time its task is due; the latest wins.
    running: WinnerTree,
    cpus: Shape,
    shape: Shape,
    /// By CPU: the woken task for which its slice was preempted, a hint for the next pick.
    preempting: Vec<Option<usize>>,
    orders: u64,
    /// By task: draws of the lengths of slices.
    draws: Vec<Stream>,
    specialize: Option<Specialize>,
    /// CPUs that must choose again.
    kicked: Vec<usize>,
}

impl Muqss {
    pub(crate) fn new(world: &World, sharing: RqSharing, interactive: bool) -> Self {
        let topology = &world.topology;
        let shape = Shape::of_queues(topology, sharing);
        let mut load = WinnerTree::new(topology.cpus);
        for cpu in 0..topology.cpus {
            load.set(cpu, 0);
        }
        let task = |task: &crate::task::Task| {
            let nice = (NICE_MIN..=NICE_MAX).find(|&nice| policy::weight(nice) == task.weight);
            Task {
                relative_ns: deadline_ns(nice.unwrap_or(0)),
                deadline_ns: 0,
                left_ns: 0,
                cpu: world.affinities.masks[task.mask].iter().next().unwrap_or(0),
                known: false,
            }
        };
        Self {
            sharing,
            interactive,
            tasks: world.tasks.iter().map(task).collect(),
            queues: std::array::from_fn(|_| Queues::new(shape.places())),
            load,
            running: WinnerTree::new(topology.cpus),
            cpus: Shape::of_queues(topology, RqSharing::None),
            shape,
            preempting: vec![None; topology.cpus],
            orders: 0,
            draws: of_tasks(world.config.seed, Purpose::Slice, &world.stream_numbers()),
            specialize: None,
            kicked: Vec::new(),
        }
    }

    fn kind_of(&self, world: &World, task: usize) -> TaskKind {
        self.specialize.as_ref().map_or(TaskKind::Default, |it| it.kind_of(world, task))
    }

    fn rank(&self, world: &World, cpu: usize, task: usize) -> Rank {
        self.specialize.as_ref().map_or(Rank::First, |it| it.rank(world, cpu, task))
    }

    fn queue_of(&self, topology: &Topology, cpu: usize) -> usize {
        match self.sharing {
            RqSharing::None => cpu,
            RqSharing::Smt => topology.core_of(cpu),
            RqSharing::Mc => topology.package_of(cpu),
            RqSharing::All => 0,
        }
    }

    fn enqueue(&mut self, world: &World, task: usize, cpu: usize) {
        self.orders += 1;
        let queue = self.queue_of(&world.topology, cpu);
        let entity = &mut self.tasks[task];
        entity.cpu = cpu;
        let deadline_ns = entity.deadline_ns;
        let kind = self.kind_of(world, task);
        self.queues[kind as usize].insert(queue, (deadline_ns, self.orders, task));
        self.load.set(cpu, self.load.get(cpu) + 1);
    }

    fn dequeue(&mut self, kind: TaskKind, queue: usize, entry: Entry) {
        self.queues[kind as usize].remove(queue, entry);
        let from = self.tasks[entry.2].cpu;
        self.load.set(from, self.load.get(from) - 1);
    }

    /// `time_slice_expired`: slice and deadline are renewed together.
    fn refill(&mut self, task: usize, now_ns: u64) {
        let draw = self.draws[task].next_u32();
        let entity = &mut self.tasks[task];
        entity.left_ns = policy::slice_ns(SLICE_NS, SLICE_JITTER_PERMILLE, draw);
        entity.deadline_ns = now_ns + entity.relative_ns;
    }

    /// `best_mask_cpu`: the idle CPU that ranks best for a task of `cpu`: itself, its core, its
    /// package, a package that idles, any. Of equals the last whose core idles, else the first.
    fn best_idle_of(&self, world: &World, mask: &Mask, cpu: usize) -> Option<usize> {
        if world.idle.is_empty() {
            return None;
        }
        let topology = &world.topology;
        if world.idle.contains(cpu) && mask.contains(cpu) {
            return Some(cpu);
        }
        let package = topology.package_of(cpu);
        let idles = |&other: &usize| {
            let mut cores = topology.cores_of_package(other);
            other != package && cores.all(|core| world.idle_cores.contains(core))
        };
        let idle_packages = (0..topology.packages).rev().filter(idles);
        best_idle_within(world, mask, topology.cpus_of_core(topology.core_of(cpu)))
            .or_else(|| best_idle_within(world, mask, topology.cpus_of_package(package)))
            .or_else(|| {
                let mut cpus = idle_packages.map(|package| topology.cpus_of_package(package));
                cpus.find_map(|cpus| best_idle_within(world, mask, cpus))
            })
            .or_else(|| best_idle_within(world, mask, 0..topology.cpus))
    }

    /// The best idle CPU for a task, which with specialization depends on its kind.
    fn best_idle(&self, world: &World, task: usize, cpu: usize) -> Option<usize> {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let Some(specialize) = &self.specialize else {
            return self.best_idle_of(world, mask, cpu);
        };
        let home = specialize.home(world, task);
        let is_bound = specialize.kind_of(world, task) == TaskKind::Wide;
        home.and_then(|home| self.best_idle_of(world, home, cpu))
            .or_else(|| if is_bound { None } else { self.best_idle_of(world, mask, cpu) })
    }

    /// `select_best_cpu` without idle CPUs: the nearest of the least loaded.
    fn least_loaded(&self, world: &World, task: usize) -> usize {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let home = self.specialize.as_ref().and_then(|it| it.home(world, task));
        let mask = home.filter(|home| !home.is_empty()).unwrap_or(mask);
        let own = self.tasks[task].cpu;
        let (least, _) = self.load.first();
        let most = world.tasks.len() as u64;
        (least..=most)
            .find_map(|load| {
                self.cpus.nearest_below(own, &self.load, load + 1, |cpu| mask.contains(cpu))
            })
            .unwrap_or(own)
    }

    /// `try_preempt`: the nearest CPU whose task is due later.
    fn preemptable(&self, world: &World, task: usize, near: usize) -> Option<usize> {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let loaded =
            |cpu| self.interactive || cpu == near || self.load.get(cpu) > self.load.get(near);
        let limit = lateness(self.tasks[task].deadline_ns);
        if self.specialize.is_some() {
            let accept =
                |cpu: usize| mask.contains(cpu) && self.is_before_running(world, cpu, task, limit);
            return self.cpus.nearest_below(near, &self.running, NEVER, accept);
        }
        let accept = |cpu: usize| mask.contains(cpu) && loaded(cpu);
        self.cpus.nearest_below(near, &self.running, limit, accept)
    }

    /// `earliest_deadline_task`: the queue and entry of a kind to run next.
    fn earliest(&self, world: &World, cpu: usize, kind: TaskKind) -> Option<(usize, Entry)> {
        let Queues { entries, heads } = &self.queues[kind as usize];
        let (least, _) = heads.first();
        if least == NEVER {
            return None;
        }
        let hinted = self.preempting[cpu].is_some_and(|task| self.tasks[task].deadline_ns > least);
        let all_may = matches!(&world.affinities.masks[..], [mask] if mask.contains(cpu));
        if !self.interactive || hinted || !all_may {
            return self.earliest_by_visiting(world, cpu, kind);
        }
        // Then the visit would end with the first queue that has the least of all deadlines.
        let own = self.queue_of(&world.topology, cpu);
        let queue = self.shape.nearest_below(own, heads, least.saturating_add(1), |_| true)?;
        entries[queue].first().map(|&entry| (queue, entry))
    }

    fn earliest_by_visiting(
        &self,
        world: &World,
        cpu: usize,
        kind: TaskKind,
    ) -> Option<(usize, Entry)> {
        let all_entries = &self.queues[kind as usize].entries;
        let topology = &world.topology;
        let own = self.queue_of(topology, cpu);
        let mut best: Option<(usize, Entry)> = None;
        let mut best_entries = 0;
        for queue in self.shape.nearest(own) {
            let local = queue == own;
            let entries = all_entries[queue].len();
            if !self.interactive {
                if best.is_some() && !self.shape.is_same_package(queue, own) {
                    break;
                }
                if entries <= best_entries {
                    continue;
                }
            }
            for &entry in &all_entries[queue] {
                if best.is_some_and(|(_, (key, ..))| entry.0 >= key) {
                    break;
                }
                let mask = &world.affinities.masks[world.tasks[entry.2].mask];
                if mask.contains(cpu) {
                    best = Some((queue, entry));
                    best_entries = entries;
                    break;
                }
                if !self.interactive && !local {
                    break;
                }
            }
            if best.is_some_and(|(_, (_, _, task))| self.preempting[cpu] == Some(task)) {
                break;
            }
        }
        best
    }
}

/// A key that falls as a deadline moves away.
fn lateness(deadline_ns: u64) -> u64 {
    (NEVER - 1).saturating_sub(deadline_ns)
}

/// The last idle CPU of a range whose core idles, else the first idle one.
fn best_idle_within(world: &World, mask: &Mask, cpus: Range<usize>) -> Option<usize> {
    let mut end = cpus.end;
    while let Some(cpu) = world.idle.last_common(mask, cpus.start..end) {
        let core = world.topology.core_of(cpu);
        if world.idle_cores.contains(core) {
            return Some(cpu);
        }
        end = world.topology.cpus_of_core(core).start.max(cpus.start);
    }
    world.idle.first_common(mask, cpus)
}

impl Scheduler for Muqss {
    fn tick_ns(&self) -> Option<u64> {
        None
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        if matches!(wake, Wake::New { .. }) || !self.tasks[task].known {
            // A new task shares the slice of its parent, with its deadline.
            self.refill(task, world.now_ns);
            self.tasks[task].left_ns /= 2;
            self.tasks[task].known = true;
        }
        if let Some(specialize) = &mut self.specialize {
            let by_cpu = if let Wake::New { by_cpu } = wake { by_cpu } else { None };
            specialize.wakes(task, by_cpu.and_then(|cpu| world.cpus[cpu].running));
        }
        let idle = self.best_idle(world, task, self.tasks[task].cpu);
        let cpu = idle.unwrap_or_else(|| self.least_loaded(world, task));
        self.enqueue(world, task, cpu);
        if idle.is_some() {
            return Placed { cpu, reschedule: idle };
        }
        let victim = self.preemptable(world, task, cpu);
        if let Some(victim) = victim {
            self.preempting[victim] = Some(task);
        }
        Placed { cpu, reschedule: victim }
    }

    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        observed: &Observed,
        stop: Stop,
    ) -> Charged {
        let entity = &mut self.tasks[task];
        entity.left_ns = entity.left_ns.saturating_sub(observed.slice.time_ns);
        if entity.left_ns < EXPIRED_NS {
            self.refill(task, world.now_ns);
        }
        self.load.set(cpu, self.load.get(cpu) - 1);
        self.running.set(cpu, NEVER);
        self.stop_specialized(world, task, stop);
        if stop == Stop::Preempted {
            self.enqueue(world, task, cpu);
            self.find_place_for(world, cpu, task);
        }
        Charged::default()
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        let kind_and_entry = if self.specialize.is_some() {
            self.earliest_specialized(world, cpu)
        } else {
            let earliest = self.earliest(world, cpu, TaskKind::Default);
            earliest.map(|(queue, entry)| (TaskKind::Default, queue, entry))
        };
        self.preempting[cpu] = None;
        let (kind, queue, entry) = kind_and_entry?;
        self.dequeue(kind, queue, entry);
        let (deadline_ns, _, task) = entry;
        self.tasks[task].cpu = cpu;
        self.load.set(cpu, self.load.get(cpu) + 1);
        self.running.set(cpu, lateness(deadline_ns));
        let mut slice_ns = self.tasks[task].left_ns;
        if let Some(specialize) = &mut self.specialize {
            specialize.starts(world, cpu, task);
            slice_ns = specialize.slice_ns(task, slice_ns);
        }
        Some(Pick { task, slice_ns: Some(slice_ns) })
    }

    fn uses_widest(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        self.fault(world, cpu, task)
    }

    fn system_call(&mut self, world: &World, cpu: usize, task: usize) {
        self.call_kernel(world, cpu, task);
    }

    fn switch_specialization(&mut self, world: &World, is_on: bool) -> bool {
        self.switch(world, is_on)
    }

    fn specialization(&self, now_ns: u64) -> Option<SpecializationCounts> {
        self.specialize.as_ref().map(|specialize| specialize.counts(now_ns))
    }

    fn reschedules(&mut self, cpus: &mut Vec<usize>) {
        cpus.append(&mut self.kicked);
    }

    fn tick(&mut self, _world: &World, _cpu: usize, _reschedule: &mut Vec<usize>) {}

    /// `resched_suitable_idle` for a task that was preempted.
    fn idle_cpu_for(&self, world: &World, task: usize) -> Option<usize> {
        self.best_idle(world, task, self.tasks[task].cpu)
    }
}

#[cfg(test)]
mod tests;
