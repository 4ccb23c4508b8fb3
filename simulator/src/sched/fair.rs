//! `fair`, `fair-relative`, `fair-isolation`: virtual time picked over shared queues.
//!
//! The baseline of D 7.5 and 7.6: MuQSS in its interactive mode with the virtual
//! runtimes of CFS instead of deadlines, comparable across all CPUs. A CPU takes the
//! task with the least virtual time of all that it may run. D says "a scheduling
//! policy very similar to the policy of CFS"; what it leaves open is marked as our
//! choice below. All formulas are the policy headers'.

use policy::{Loss, Mode, NOBODY};

use crate::config::{Compensation, Queues};
use crate::random::{Purpose, Stream};
use crate::sched::{Charged, Pick, Placed, Scheduler, Stop, Wake};
use crate::sensors::Observed;
use crate::timers::{NEVER, WinnerTree};
use crate::world::World;

/// Slice: `rr_interval` 6 in MuQSS's binary milliseconds (`kernel/sched/MuQSS.c` of
/// 5.9-ck1), which the prototype inherits.
const SLICE_NS: u64 = 6 << 20;
/// Real slices end at jittered times; equal ones would lock gangs in step. Our choice.
const SLICE_JITTER_PERMILLE: u32 = 150;
/// A sleeper is placed this far behind the least virtual time at most: half of
/// `sysctl_sched_latency` on 8 and more CPUs (CFS 5.9, `place_entity`).
const SLEEPER_CREDIT_NS: u64 = 12_000_000;
/// A waking task preempts one that is this far ahead: `sysctl_sched_wakeup_granularity`
/// on 8 and more CPUs (CFS 5.9, `wakeup_gran`).
const WAKEUP_GRANULARITY_NS: u64 = 4_000_000;
const NICE_0_WEIGHT: u32 = 1024;
/// Above any time and virtual time that a run reaches.
const BASE: u64 = 1 << 62;

/// The queue of the tasks that share an affinity mask, in one group of CPUs.
#[derive(Clone, Debug)]
struct Queue {
    heads: WinnerTree,
    /// Task by slot.
    tasks: Vec<usize>,
}

/// Virtual-time scheduling with or without compensation.
pub(crate) struct Fair {
    mode: Mode,
    groups: usize,
    /// By group, then by affinity mask.
    queues: Vec<Vec<Queue>>,
    /// By task: its slot in the queues of its mask.
    slot: Vec<usize>,
    vtime: Vec<u64>,
    /// By task: billed, to be folded in at its next charge.
    pending_bill: Vec<u64>,
    /// By task: group it was queued in last.
    group: Vec<usize>,
    /// By group: virtual times of its queued and running tasks.
    runnable: Vec<WinnerTree>,
    /// By group: least virtual time so far; never falls.
    min_vtime: Vec<u64>,
    /// By group: tasks queued or running.
    load: Vec<usize>,
    /// By package: a bound on the virtual times of the tasks that run there ([`Fair::bound`]).
    latest: Vec<WinnerTree>,
    draws: Stream,
}

impl Fair {
    pub(crate) fn new(world: &World, compensation: Compensation, queues: Queues) -> Self {
        let groups = match queues {
            Queues::Global => 1,
            Queues::PerLlc => world.topology.packages,
        };
        let masks = world.affinities.masks.len();
        let mut of_mask = vec![Vec::new(); masks];
        let mut slot = Vec::with_capacity(world.tasks.len());
        for (index, task) in world.tasks.iter().enumerate() {
            slot.push(of_mask[task.mask].len());
            of_mask[task.mask].push(index);
        }
        let queue = |tasks: &Vec<usize>| Queue {
            heads: WinnerTree::new(tasks.len()),
            tasks: tasks.clone(),
        };
        Self {
            mode: match compensation {
                Compensation::None => Mode::None,
                Compensation::Relative => Mode::Relative,
                Compensation::Isolation => Mode::Isolation,
            },
            groups,
            queues: (0..groups).map(|_| of_mask.iter().map(queue).collect()).collect(),
            slot,
            vtime: vec![0; world.tasks.len()],
            pending_bill: vec![0; world.tasks.len()],
            group: vec![0; world.tasks.len()],
            runnable: vec![WinnerTree::new(world.tasks.len()); groups],
            min_vtime: vec![0; groups],
            load: vec![0; groups],
            latest: vec![
                WinnerTree::new(world.topology.cpus_of_package(0).len());
                world.topology.packages
            ],
            draws: Stream::new(world.config.seed, Purpose::Slice, 0),
        }
    }

    fn group_of(&self, world: &World, cpu: usize) -> usize {
        if self.groups == 1 { 0 } else { world.topology.package_of(cpu) }
    }

    fn enqueue(&mut self, world: &World, task: usize, group: usize) {
        self.group[task] = group;
        let queue = &mut self.queues[group][world.tasks[task].mask];
        queue.heads.set(self.slot[task], self.vtime[task]);
        self.runnable[group].set(task, self.vtime[task]);
    }

    fn advance_min_vtime(&mut self, group: usize) {
        let (least, _) = self.runnable[group].first();
        if least != NEVER {
            self.min_vtime[group] = self.min_vtime[group].max(least);
        }
    }

    /// The queue with the least head of all that the CPU may take from.
    fn least(&self, world: &World, cpu: usize, group: usize) -> Option<(u64, usize)> {
        world.affinities.of_cpu[cpu]
            .iter()
            .map(|&mask| (self.queues[group][mask].heads.first().0, mask))
            .filter(|&(head, _)| head != NEVER)
            .min()
    }

    /// Own group first; another group's tasks only when the own has none.
    fn least_anywhere(&self, world: &World, cpu: usize) -> Option<(usize, usize)> {
        let own = self.group_of(world, cpu);
        if let Some((_, mask)) = self.least(world, cpu, own) {
            return Some((own, mask));
        }
        (0..self.groups)
            .filter_map(|group| {
                self.least(world, cpu, group).map(|(head, mask)| (head, group, mask))
            })
            .min()
            .map(|(_, group, mask)| (group, mask))
    }

    /// Virtual time a running task would have if it were accounted now.
    fn vtime_now(&self, world: &World, cpu: usize, task: usize) -> u64 {
        let ran_ns = world.now_ns - world.cpus[cpu].since_ns;
        policy::charge(self.vtime[task], ran_ns, 0, 0, world.tasks[task].weight)
    }

    /// A key that falls as the virtual time of the task that begins to run may grow: until it
    /// is accounted, its virtual time is at most `now + BASE - key`, for weights from that of
    /// nice 0 on. Lighter tasks get the key 0, which bounds nothing.
    fn bound(&self, world: &World, task: usize) -> u64 {
        if world.tasks[task].weight < NICE_0_WEIGHT {
            return 0;
        }
        (BASE + world.now_ns).saturating_sub(self.vtime[task])
    }

    fn is_beyond(&self, world: &World, package: usize, vtime: u64) -> bool {
        let (key, _) = self.latest[package].first();
        key != NEVER && (BASE + world.now_ns).saturating_sub(key) > vtime
    }

    fn note_running(&mut self, world: &World, cpu: usize, key: u64) {
        let package = world.topology.package_of(cpu);
        let place = cpu - world.topology.cpus_of_package(package).start;
        self.latest[package].set(place, key);
    }

    /// The first CPU, nearest first, whose task is ahead of the woken one by the granularity.
    /// MuQSS's `try_preempt` takes the first in locality order as well.
    fn preemptable(&self, world: &World, task: usize, near: usize) -> Option<usize> {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let weight = world.tasks[task].weight;
        let limit = policy::preempt_limit(self.vtime[task], WAKEUP_GRANULARITY_NS, weight);
        let home = world.topology.package_of(near);
        let packages = world.topology.packages;
        let reach = if self.groups == 1 { packages } else { 1 };
        (0..reach)
            .map(|step| (home + step) % packages)
            .filter(|&package| self.is_beyond(world, package, limit))
            .find_map(|package| {
                let cpus = world.topology.cpus_of_package(package);
                let first = if package == home { near - cpus.start } else { 0 };
                let nearest_first = (0..cpus.len()).map(|i| cpus.start + (first + i) % cpus.len());
                nearest_first.filter(|&cpu| mask.contains(cpu)).find(|&cpu| {
                    world.cpus[cpu]
                        .running
                        .is_some_and(|running| self.is_ahead(world, cpu, running, limit))
                })
            })
    }

    fn is_ahead(&self, world: &World, cpu: usize, task: usize, limit: u64) -> bool {
        let ran_ns = world.now_ns - world.cpus[cpu].since_ns;
        let is_light = world.tasks[task].weight < NICE_0_WEIGHT;
        policy::preempts(limit, self.vtime[task])
            || ((is_light || self.vtime[task].saturating_add(ran_ns) > limit)
                && policy::preempts(limit, self.vtime_now(world, cpu, task)))
    }

    /// The group that a task without an idle CPU begins in: the least loaded it may use.
    fn least_loaded(&self, world: &World, task: usize, near: usize) -> usize {
        if self.groups == 1 {
            return near;
        }
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let allowed = |group: &usize| {
            mask.first_common(mask, world.topology.cpus_of_package(*group)).is_some()
        };
        let group = (0..self.groups).filter(allowed).min_by_key(|&group| self.load[group]);
        group
            .and_then(|group| mask.first_common(mask, world.topology.cpus_of_package(group)))
            .unwrap_or(near)
    }

    /// Moves a task's virtual time to the scale of another group.
    fn change_group(&mut self, task: usize, to: usize) {
        let from = self.group[task];
        if from != to {
            let (min_from, min_to) = (self.min_vtime[from], self.min_vtime[to]);
            self.vtime[task] = policy::move_between(self.vtime[task], min_from, min_to);
            if self.runnable[from].get(task) != NEVER {
                self.runnable[from].set(task, NEVER);
                self.load[from] -= 1;
                self.load[to] += 1;
            }
            self.group[task] = to;
        }
    }
}

impl Scheduler for Fair {
    fn tick_ns(&self) -> Option<u64> {
        None
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        let last = world.tasks[task].last_cpu;
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let near = last.or_else(|| mask.iter().next()).unwrap_or(0);
        let idle = world.idle_cpu_near(task, near);
        let cpu = idle.unwrap_or_else(|| match wake {
            Wake::New { .. } => self.least_loaded(world, task, near),
            Wake::Woken(_) => near,
        });
        let group = self.group_of(world, cpu);
        self.change_group(task, group);
        let least = self.min_vtime[group];
        self.vtime[task] = match wake {
            Wake::New { .. } => policy::place_new(self.vtime[task], least, SLICE_NS),
            Wake::Woken(_) => policy::place_waking(self.vtime[task], least, SLEEPER_CREDIT_NS),
        };
        self.load[group] += 1;
        self.enqueue(world, task, group);
        Placed { cpu, reschedule: idle.or_else(|| self.preemptable(world, task, cpu)) }
    }

    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        observed: &Observed,
        stop: Stop,
    ) -> Charged {
        let time_ns = observed.slice.time_ns;
        let mut charged = Charged::default();
        if self.mode != Mode::None {
            let lost_ns = observed.lost_ns.unwrap_or_else(|| {
                policy::time_lost(&world.model.turbo, &observed.slice, observed.own_level).lost_ns
            });
            let last_user = observed.last_user;
            let owed_ns = self.pending_bill.get(last_user as usize).copied().unwrap_or(0);
            let loss = Loss {
                time_ns,
                lost_ns,
                victim: task as u32,
                last_user,
                room_ns: policy::bill_room_ns(owed_ns),
            };
            let compensation = policy::compensate(self.mode, &loss);
            charged.refund_ns = compensation.refund_ns;
            charged.bill_ns = compensation.bill_ns;
            if last_user != NOBODY {
                charged.culprit = Some(last_user as usize);
            }
            if compensation.culprit != NOBODY {
                self.pending_bill[compensation.culprit as usize] += compensation.bill_ns;
            }
        }
        let bill_ns = std::mem::take(&mut self.pending_bill[task]);
        let weight = world.tasks[task].weight;
        self.vtime[task] =
            policy::charge(self.vtime[task], time_ns, charged.refund_ns, bill_ns, weight);
        let group = self.group_of(world, cpu);
        self.change_group(task, group);
        match stop {
            Stop::Preempted => self.enqueue(world, task, group),
            Stop::Blocked | Stop::Ended => {
                self.runnable[group].set(task, NEVER);
                self.load[group] -= 1;
            }
        }
        self.note_running(world, cpu, NEVER);
        self.advance_min_vtime(group);
        charged
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        let (group, mask) = self.least_anywhere(world, cpu)?;
        let queue = &mut self.queues[group][mask];
        let (_, slot) = queue.heads.first();
        queue.heads.set(slot, NEVER);
        let task = queue.tasks[slot];
        let own = self.group_of(world, cpu);
        if own != group {
            self.change_group(task, own);
            self.runnable[own].set(task, self.vtime[task]);
        }
        self.advance_min_vtime(own);
        self.note_running(world, cpu, self.bound(world, task));
        let slice_ns = policy::slice_ns(SLICE_NS, SLICE_JITTER_PERMILLE, self.draws.next_u32());
        Some(Pick { task, slice_ns: Some(slice_ns) })
    }

    fn tick(&mut self, _world: &World, _cpu: usize, _reschedule: &mut Vec<usize>) {}
}
