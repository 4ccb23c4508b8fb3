//! The common part of CFS and EEVDF: one queue for each CPU, balancing between the queues of a
//! domain, and the choice of a CPU for a waking task.
//!
//! The order within a queue is a [`Discipline`]. Everything here counts tasks and loads,
//! never virtual time. `kernel/sched/fair.c` of 5.9 and 6.12; differences are in [`Era`].
//!
//! Left out, because no modelled machine or workload needs them: task groups, asymmetric
//! capacities, real-time tasks, automatic NUMA balancing, energy-aware placement.

mod balance;
mod books;
pub(crate) mod cookies;
mod group;
pub(crate) mod machauer;
mod moves;
mod nohz;
mod select;

use std::collections::BTreeSet;

use crate::random::{Purpose, Stream};
use crate::sched::domains::{Era, Level, Pace, levels};
use crate::sched::pelt::Signal;
use crate::sched::{Charged, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::topology::Mask;
use crate::world::World;

/// `sysctl_sched_migration_cost`: how long caches stay hot, and the idle time from which
/// newly idle balancing is thought to pay.
pub(crate) const MIGRATION_COST_NS: u64 = 500_000;
/// A CPU's average idle time starts at and never exceeds twice that (`update_avg_idle`).
const AVG_IDLE_MAX_NS: u64 = 2 * MIGRATION_COST_NS;
const NS_PER_S: u64 = 1_000_000_000;

/// How a task comes to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enqueue {
    New,
    Woken,
    /// Balancing moved the task, runnable.
    Moved,
}

/// A queue's offer to its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Run(usize),
    /// A delayed task, asleep in the queue, leaves the queue now.
    Drop(usize),
    Nothing,
}

/// The order in which one CPU's tasks run.
pub(crate) trait Discipline {
    /// Charges the running task up to now.
    fn update(&mut self, cpu: usize, now_ns: u64);

    /// Queues a task that is in no queue; the running task has been charged.
    fn enqueue(&mut self, cpu: usize, task: usize, how: Enqueue);

    /// Takes out a runnable task that does not run, to be queued on another CPU.
    fn dequeue(&mut self, cpu: usize, task: usize);

    /// A task wakes that never left its queue.
    fn revive(&mut self, _cpu: usize, _task: usize) {}

    /// The running task, charged, stops. Returns whether the task stays in the queue.
    fn put(&mut self, cpu: usize, task: usize, stop: Stop) -> bool;

    /// Takes the next task to run from the queue.
    fn pick(&mut self, cpu: usize, now_ns: u64) -> Choice;

    /// Whether the running task gives way to one that was just queued.
    fn preempts(&mut self, cpu: usize, task: usize) -> bool;

    /// Whether the running task, charged, gives way at this tick.
    fn tick(&mut self, cpu: usize) -> bool;

    /// Whether the task is eligible; every task is in a queue without eligibility.
    fn is_eligible_to_move(&self, _cpu: usize, _task: usize) -> bool {
        true
    }

    /// Whether the task is to run next without being first.
    fn is_buddy(&self, _cpu: usize, _task: usize) -> bool {
        false
    }
}

/// Balancing's view of a CPU's queue.
#[derive(Clone, Debug)]
struct Queue {
    /// Tasks queued or running, and their weights.
    nr: u64,
    /// Those of them that sleep.
    sleeping: u64,
    weight: u64,
    running: Option<usize>,
    /// These tasks by when they were last queued or picked: balancing takes the oldest.
    tasks: BTreeSet<(u64, usize)>,
    signal: Signal,
    /// Since when the CPU idles, until a task wakes there.
    idle_since_ns: Option<u64>,
    avg_idle_ns: u64,
    /// Jiffy of the next periodic balancing.
    next_balance: u64,
    /// A task that ran here, and where it is pushed once it stopped.
    push_to: Option<(usize, usize)>,
}

/// Balancing's view of a task.
#[derive(Clone, Debug)]
struct Entity {
    weight: u64,
    /// CPU of the task's current or last queue.
    cpu: usize,
    known: bool,
    queued: bool,
    /// The task sleeps, but stays queued until eligible (`DELAY_DEQUEUE`).
    sleeping: bool,
    running: bool,
    stamp: u64,
    signal: Signal,
    /// When the task last ran on that CPU.
    last_ran_ns: Option<u64>,
    recent_cpu: usize,
    wakees: select::Wakees,
}

/// A kernel with a queue a CPU.
pub(crate) struct PerCpu<D> {
    discipline: D,
    era: Era,
    levels: Vec<Level>,
    /// By level, then by CPU.
    paces: Vec<Vec<Pace>>,
    /// By level, then by domain: affinities keep its tasks from being spread evenly.
    pinned: Vec<Vec<bool>>,
    queues: Vec<Queue>,
    entities: Vec<Entity>,
    /// CPUs with no task at all.
    idle: Mask,
    /// By package: CPUs with a task.
    busy: Vec<usize>,
    /// By package: an idle core was seen since the last search that found none.
    maybe_idle_core: Vec<bool>,
    /// By package: how many CPUs a search for an idle one may look at.
    scan: Vec<u64>,
    /// Some CPU has two tasks (`rd->overload`).
    overloaded: bool,
    /// Jiffy before which idle CPUs are not balanced.
    next_idle_balance: u64,
    hz: u64,
    tick_ns: u64,
    stamp: u64,
    /// By CPU.
    draws: Vec<Stream>,
    /// CPUs that must choose again, because a stopped task was pushed there.
    kicked: Vec<usize>,
}

impl<D: Discipline> PerCpu<D> {
    pub(crate) fn new(world: &World, era: Era, discipline: D) -> Self {
        let cpus = world.topology.cpus;
        let levels = levels(&world.topology, &era);
        let packages = world.topology.packages;
        let queue = Queue {
            nr: 0,
            sleeping: 0,
            weight: 0,
            running: None,
            tasks: BTreeSet::new(),
            signal: Signal::default(),
            idle_since_ns: None,
            avg_idle_ns: AVG_IDLE_MAX_NS,
            next_balance: 0,
            push_to: None,
        };
        let entity = |task: &crate::task::Task| {
            let allowed = &world.affinities.masks[task.mask];
            let first = task.last_cpu.or_else(|| allowed.iter().next()).unwrap_or(0);
            Entity {
                weight: u64::from(task.weight),
                cpu: first,
                known: false,
                queued: false,
                sleeping: false,
                running: false,
                stamp: 0,
                signal: Signal::default(),
                last_ran_ns: None,
                recent_cpu: first,
                wakees: select::Wakees::default(),
            }
        };
        let hz = u64::from(world.config.hz.max(1));
        Self {
            discipline,
            era,
            paces: levels.iter().map(|level| vec![Pace::new(level); cpus]).collect(),
            pinned: levels.iter().map(|level| vec![false; cpus / level.span]).collect(),
            levels,
            queues: vec![queue; cpus],
            entities: world.tasks.iter().map(entity).collect(),
            idle: Mask::full(cpus),
            busy: vec![0; packages],
            maybe_idle_core: vec![true; packages],
            scan: vec![(cpus / packages) as u64; packages],
            overloaded: false,
            next_idle_balance: 0,
            hz,
            tick_ns: NS_PER_S / hz,
            stamp: 0,
            draws: (0..cpus as u64)
                .map(|cpu| Stream::new(world.config.seed, Purpose::Scheduler, cpu))
                .collect(),
            kicked: Vec::new(),
        }
    }
}

impl<D: Discipline> Scheduler for PerCpu<D> {
    fn tick_ns(&self) -> Option<u64> {
        Some(self.tick_ns)
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        let now_ns = world.now_ns;
        let last = self.entities[task].cpu;
        self.discipline.update(last, now_ns);
        if self.entities[task].sleeping {
            self.sync_queue(last, now_ns);
            self.sync_task(task, now_ns);
            self.discipline.revive(last, task);
            self.entities[task].sleeping = false;
            self.queues[last].sleeping -= 1;
            let reschedule = self.must_choose(last, task).then_some(last);
            return Placed { cpu: last, reschedule };
        }
        let cpu = self.select(world, task, wake);
        self.sync_queue(cpu, now_ns);
        if self.entities[task].known {
            self.sync_task(task, now_ns);
            if cpu != last {
                self.sync_queue(last, now_ns);
                let signal = self.entities[task].signal;
                self.queues[last].signal.detach(&signal);
                self.queues[cpu].signal.attach(&signal);
                self.entities[task].last_ran_ns = None;
            }
        } else {
            self.introduce(cpu, task, now_ns);
            let signal = self.entities[task].signal;
            self.queues[cpu].signal.attach(&signal);
        }
        self.note_end_of_idling(cpu, now_ns);
        self.discipline.update(cpu, now_ns);
        self.add(world, cpu, task);
        let is_new = matches!(wake, Wake::New { .. });
        let how = if is_new { Enqueue::New } else { Enqueue::Woken };
        self.discipline.enqueue(cpu, task, how);
        Placed { cpu, reschedule: self.must_choose(cpu, task).then_some(cpu) }
    }

    /// `sched_exec`: the CPU is chosen as for a new task.
    fn exec(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        self.sync_queue(cpu, world.now_ns);
        self.sync_task(task, world.now_ns);
        let to = self.idlest(world, task, cpu);
        if to == cpu {
            return false;
        }
        self.queues[cpu].push_to = Some((task, to));
        true
    }

    fn reschedules(&mut self, cpus: &mut Vec<usize>) {
        cpus.append(&mut self.kicked);
    }

    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        _observed: &Observed,
        stop: Stop,
    ) -> Charged {
        let now_ns = world.now_ns;
        self.sync_queue(cpu, now_ns);
        self.sync_task(task, now_ns);
        self.discipline.update(cpu, now_ns);
        self.entities[task].last_ran_ns = Some(now_ns);
        self.note_stop(world, cpu, task, stop);
        if stop != Stop::Preempted {
            self.queues[cpu].push_to = None;
        }
        Charged::default()
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        let now_ns = world.now_ns;
        self.sync_queue(cpu, now_ns);
        self.push_stopped(world, cpu);
        loop {
            match self.discipline.pick(cpu, now_ns) {
                Choice::Run(task) => return Some(self.note_run(cpu, task, now_ns)),
                Choice::Drop(task) => {
                    self.sync_task(task, now_ns);
                    self.remove(world, cpu, task);
                    self.entities[task].sleeping = false;
                }
                Choice::Nothing => {
                    if !self.balance_newly_idle(world, cpu) {
                        self.go_idle(world, cpu);
                        return None;
                    }
                }
            }
        }
    }

    fn tick(&mut self, world: &World, cpu: usize, reschedule: &mut Vec<usize>) {
        let now_ns = world.now_ns;
        self.sync_queue(cpu, now_ns);
        self.discipline.update(cpu, now_ns);
        if let Some(task) = self.queues[cpu].running {
            self.sync_task(task, now_ns);
            self.entities[task].last_ran_ns = Some(now_ns);
        }
        if self.discipline.tick(cpu) || self.queues[cpu].push_to.is_some() {
            balance::request(reschedule, cpu);
        }
        if self.jiffies(world) >= self.queues[cpu].next_balance {
            self.balance_domains(world, cpu, false, reschedule);
        }
        self.balance_idle_cpus(world, cpu, reschedule);
    }

    /// A stopped task that was pushed to an idle CPU; nothing else is kicked.
    fn idle_cpu_for(&self, _world: &World, task: usize) -> Option<usize> {
        let entity = &self.entities[task];
        (entity.queued && self.queues[entity.cpu].running.is_none()).then_some(entity.cpu)
    }
}

#[cfg(test)]
mod tests;
