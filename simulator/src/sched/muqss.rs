//! MuQSS 0.204: the earliest deadline of all queues, or of the nearest longer one.
//!
//! Numbers and rules are those of `kernel/sched/MuQSS.c` in 5.9-ck1. The skip list is an
//! ordered set here: it decides the cost of a queue, not its order. Locks never fail to
//! be taken. Left out: `SMT_NICE`, which matters between different nice levels only, and
//! real-time, batch and idle policies. CPUs at the same distance are visited upwards and
//! around; MuQSS goes downwards from those in the upper half.

use std::collections::BTreeSet;

use crate::config::RqSharing;
use crate::random::{Purpose, Stream};
use crate::sched::{Charged, Pick, Placed, Scheduler, Stop, Wake};
use crate::sensors::Observed;
use crate::topology::Topology;
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
    order: u64,
    cpu: usize,
    known: bool,
}

/// MuQSS.
pub(crate) struct Muqss {
    sharing: RqSharing,
    interactive: bool,
    tasks: Vec<Task>,
    /// By run queue: deadline, order of arrival, task.
    queues: Vec<BTreeSet<(u64, u64, usize)>>,
    /// By CPU: tasks queued for it or running on it (`rq_load`).
    load: Vec<u64>,
    /// By CPU: the task that it was told to run (a hint).
    preempting: Vec<Option<usize>>,
    orders: u64,
    draws: Stream,
}

/// CPUs from the nearest: the own, its core, its package, the rest.
fn nearest(topology: &Topology, cpu: usize) -> impl Iterator<Item = usize> + use<> {
    let threads = topology.threads_per_core;
    let package = threads * topology.cores_per_package;
    let packages = topology.packages;
    let own_package = cpu / package;
    (0..packages).flat_map(move |p| {
        let start = (own_package + p) % packages * package;
        let first_core = (cpu % package) / threads;
        let cores = package / threads;
        (0..cores).flat_map(move |c| {
            let core = start + (first_core + c) % cores * threads;
            (0..threads).map(move |t| core + (cpu + t) % threads)
        })
    })
}

impl Muqss {
    pub(crate) fn new(world: &World, sharing: RqSharing, interactive: bool) -> Self {
        let topology = &world.topology;
        let queues = match sharing {
            RqSharing::None => topology.cpus,
            RqSharing::Smt => topology.cores,
            RqSharing::Mc => topology.packages,
            RqSharing::All => 1,
        };
        let task = |task: &crate::task::Task| {
            let nice = (NICE_MIN..=NICE_MAX).find(|&nice| policy::weight(nice) == task.weight);
            Task {
                relative_ns: deadline_ns(nice.unwrap_or(0)),
                deadline_ns: 0,
                left_ns: 0,
                order: 0,
                cpu: world.affinities.masks[task.mask].iter().next().unwrap_or(0),
                known: false,
            }
        };
        Self {
            sharing,
            interactive,
            tasks: world.tasks.iter().map(task).collect(),
            queues: vec![BTreeSet::new(); queues],
            load: vec![0; topology.cpus],
            preempting: vec![None; topology.cpus],
            orders: 0,
            draws: Stream::new(world.config.seed, Purpose::Slice, 0),
        }
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
        entity.order = self.orders;
        entity.cpu = cpu;
        self.queues[queue].insert((entity.deadline_ns, entity.order, task));
        self.load[cpu] += 1;
    }

    /// `time_slice_expired`: slice and deadline are renewed together.
    fn refill(&mut self, task: usize, now_ns: u64) {
        let draw = self.draws.next_u32();
        let entity = &mut self.tasks[task];
        entity.left_ns = policy::slice_ns(SLICE_NS, SLICE_JITTER_PERMILLE, draw);
        entity.deadline_ns = now_ns + entity.relative_ns;
    }

    /// `best_mask_cpu`: the idle CPU that ranks best for a task of `cpu`; the task's own
    /// if it idles, else of equals the last whose core idles, else the first.
    fn best_idle(&self, world: &World, task: usize, cpu: usize) -> Option<usize> {
        const OTHER_THREAD: u32 = 1;
        const OTHER_CORE: u32 = 2;
        const CACHE_BUSY: u32 = 8;
        const OTHER_NODE: u32 = 64;
        let topology = &world.topology;
        let mask = &world.affinities.masks[world.tasks[task].mask];
        if world.idle.contains(cpu) && mask.contains(cpu) {
            return Some(cpu);
        }
        let mut best: Option<(u32, usize)> = None;
        let mut package = usize::MAX;
        let mut cache_idle = false;
        for other in world.idle.iter().filter(|&other| mask.contains(other)) {
            if topology.package_of(other) != package {
                package = topology.package_of(other);
                let mut cpus = topology.cpus_of_package(package);
                cache_idle = cpus.all(|cpu| world.idle.contains(cpu));
            }
            let mut ranking = if topology.core_of(other) == topology.core_of(cpu) {
                OTHER_THREAD
            } else if package == topology.package_of(cpu) {
                OTHER_CORE
            } else {
                OTHER_NODE
            };
            if !cache_idle {
                ranking |= CACHE_BUSY;
            }
            let core_idle = world.idle_cores.contains(topology.core_of(other));
            let better =
                best.is_none_or(|(least, _)| ranking < least || (ranking == least && core_idle));
            if better {
                best = Some((ranking, other));
            }
        }
        best.map(|(_, cpu)| cpu)
    }

    /// `select_best_cpu` without idle CPUs: the nearest of the least loaded.
    fn least_loaded(&self, world: &World, task: usize) -> usize {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let own = self.tasks[task].cpu;
        nearest(&world.topology, own)
            .filter(|&cpu| mask.contains(cpu))
            .min_by_key(|&cpu| self.load[cpu])
            .unwrap_or(own)
    }

    /// `try_preempt`: the nearest CPU whose task is due later.
    fn preemptable(&self, world: &World, task: usize, near: usize) -> Option<usize> {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        nearest(&world.topology, near).filter(|&cpu| mask.contains(cpu)).find(|&cpu| {
            let loaded = self.interactive || cpu == near || self.load[cpu] > self.load[near];
            let Some(running) = world.cpus[cpu].running else { return false };
            loaded && self.tasks[task].deadline_ns < self.tasks[running].deadline_ns
        })
    }

    /// `earliest_deadline_task`: the queue and entry to run next.
    fn earliest(&self, world: &World, cpu: usize) -> Option<(usize, (u64, u64, usize))> {
        let topology = &world.topology;
        let own = self.queue_of(topology, cpu);
        let mut best: Option<(usize, (u64, u64, usize))> = None;
        let mut best_entries = 0;
        let mut last = usize::MAX;
        for near in nearest(topology, cpu) {
            let queue = self.queue_of(topology, near);
            if queue == last {
                continue;
            }
            last = queue;
            let local = queue == own;
            let entries = self.queues[queue].len();
            if !self.interactive {
                if best.is_some() && topology.package_of(near) != topology.package_of(cpu) {
                    break;
                }
                if entries <= best_entries {
                    continue;
                }
            }
            for &entry in &self.queues[queue] {
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

impl Scheduler for Muqss {
    fn tick_ns(&self) -> Option<u64> {
        None
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        if wake == Wake::New || !self.tasks[task].known {
            // A new task shares the slice of the one that makes it, with its deadline.
            self.refill(task, world.now_ns);
            self.tasks[task].left_ns /= 2;
            self.tasks[task].known = true;
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
        self.load[cpu] -= 1;
        if stop == Stop::Preempted {
            self.enqueue(world, task, cpu);
        }
        Charged::default()
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        let earliest = self.earliest(world, cpu);
        self.preempting[cpu] = None;
        let (queue, entry) = earliest?;
        self.queues[queue].remove(&entry);
        let task = entry.2;
        let from = std::mem::replace(&mut self.tasks[task].cpu, cpu);
        self.load[from] -= 1;
        self.load[cpu] += 1;
        Some(Pick { task, slice_ns: Some(self.tasks[task].left_ns) })
    }

    fn tick(&mut self, _world: &World, _cpu: usize, _reschedule: &mut Vec<usize>) {}

    /// `resched_suitable_idle` for a task that was preempted.
    fn idle_cpu_for(&self, world: &World, task: usize) -> Option<usize> {
        self.best_idle(world, task, self.tasks[task].cpu)
    }
}

#[cfg(test)]
mod tests;
