//! `fair`, `fair-relative`, `fair-isolation`, `even`: virtual time picked over shared queues.
//!
//! The baseline of D 7.5 and 7.6: MuQSS in its interactive mode with the virtual
//! runtimes of CFS instead of deadlines, comparable across all CPUs. A CPU takes the
//! runnable task with the least virtual time that its affinity allows. D says "a
//! scheduling policy very similar to the policy of CFS"; details that D leaves open are
//! marked as our choice below. All formulas are the policy headers'. `even` is isolation
//! with the additions in [`even`].

mod even;
mod kernel;
mod lag;
mod preempt;
mod specialized;

use cpu_model::{LEVELS_MAX, Turbo};
use policy::{Deficit, Loss, Meter, Mode, NO_TASK};

use crate::config::{Compensation, Newcomers, Queues};
use crate::outcome::{PolicyEvent, SpecializationCounts};
use crate::random::{Purpose, Stream, of_tasks};
use crate::recorder::tid;
use crate::sched::{Charged, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::timers::{NEVER, WinnerTree};
use crate::world::World;
use even::Even;
use kernel::Kernel;
use lag::Lag;
use specialized::Specialized;

/// Slice: `rr_interval` 6 in MuQSS's binary milliseconds (`kernel/sched/MuQSS.c` of
/// 5.9-ck1), which the prototype inherits.
const SLICE_NS: u64 = 6 << 20;
/// Real slices end at jittered times; equal ones would lock gangs in step. Our choice.
const SLICE_JITTER_PERMILLE: u32 = 150;
/// A sleeper is placed this far before the least virtual time at most: half of
/// `sysctl_sched_latency` on 8 and more CPUs (CFS 5.9, `place_entity`).
const SLEEPER_CREDIT_NS: u64 = 12_000_000;
const NICE_0_WEIGHT: u32 = 1024;

/// The queue of the tasks of one level that share an affinity mask, in one group of CPUs.
#[derive(Clone, Debug)]
struct Queue {
    heads: WinnerTree,
    /// Task by slot.
    tasks: Vec<usize>,
}

/// Virtual-time scheduling with or without compensation.
pub(crate) struct Fair {
    mode: Mode,
    /// The measure that a slice is charged by, if not its time.
    meter: Option<Meter>,
    groups: usize,
    /// Levels that have queues of their own.
    levels: usize,
    /// By group, then by affinity mask and level.
    queues: Vec<Vec<Queue>>,
    /// By group: tasks in its queues.
    waiting: Vec<usize>,
    /// By task: its slot in the queues of its mask.
    slot: Vec<usize>,
    vtime: Vec<u64>,
    /// By task: bills that its next charge will contain.
    pending_bill: Vec<u64>,
    /// By task: group of its last queue.
    group: Vec<usize>,
    /// By group: virtual times of its queued and running tasks.
    runnable: Vec<WinnerTree>,
    /// By group: least virtual time so far; never falls.
    min_vtime: Vec<u64>,
    /// By group: tasks queued or running.
    load: Vec<usize>,
    /// By package: a bound on the virtual times of the tasks that run there ([`Fair::bound`]).
    latest: Vec<WinnerTree>,
    /// By task: draws of the lengths of slices.
    draws: Vec<Stream>,
    even: Option<Even>,
    /// Floors of virtual time; `None`: tasks are placed by the least virtual time.
    lag: Option<Lag>,
    /// Events since the last call that took them; `None` unless a history is kept.
    policy_events: Option<Vec<PolicyEvent>>,
    /// Differences of the kernel scheduler, for queues by last-level cache.
    kernel: Option<Kernel>,
    specialized: Option<Specialized>,
}

impl Fair {
    pub(crate) fn new(
        world: &World,
        compensation: Compensation,
        queues: Queues,
        newcomers: Newcomers,
    ) -> Self {
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
        let (mode, meter, even) = match compensation {
            Compensation::None => (Mode::None, None, None),
            Compensation::Relative => (Mode::Relative, None, None),
            Compensation::Isolation => (Mode::Isolation, None, None),
            Compensation::Cycles => (Mode::None, Some(Meter::Cycles), None),
            Compensation::Energy => (Mode::None, Some(Meter::Energy), None),
            Compensation::Even(parts) => (Mode::Isolation, None, Some(Even::new(world, parts))),
        };
        let levels = if even.is_some() { LEVELS_MAX } else { 1 };
        let queues_of_mask = |tasks| vec![queue(tasks); levels];
        Self {
            mode,
            meter,
            groups,
            levels,
            queues: (0..groups)
                .map(|_| of_mask.iter().flat_map(queues_of_mask).collect())
                .collect(),
            waiting: vec![0; groups],
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
            draws: of_tasks(world.config.seed, Purpose::Slice, &world.stream_numbers()),
            even,
            lag: (newcomers == Newcomers::Floor).then(|| Lag::new(world, groups)),
            policy_events: world.config.history.then(Vec::new),
            kernel: (queues == Queues::PerLlc).then(|| Kernel::new(world, groups)),
            specialized: None,
        }
    }

    fn group_of(&self, world: &World, cpu: usize) -> usize {
        if self.groups == 1 { 0 } else { world.topology.package_of(cpu) }
    }

    fn enqueue(&mut self, world: &World, task: usize, group: usize) {
        let level = match &mut self.specialized {
            Some(specialized) => specialized.enqueues(world, task) as u8,
            None => self.even.as_ref().map_or(0, |even| even.level(task, world.now_ns)),
        };
        let queue = world.tasks[task].mask * self.levels + usize::from(level);
        self.group[task] = group;
        self.queues[group][queue].heads.set(self.slot[task], self.vtime[task]);
        self.waiting[group] += 1;
        self.runnable[group].set(task, self.vtime[task]);
    }

    fn advance_min_vtime(&mut self, group: usize) {
        let (least, _) = self.runnable[group].first();
        if least != NEVER {
            self.min_vtime[group] = self.min_vtime[group].max(least);
        }
    }

    /// Queues that the CPU may take from, with their heads and levels.
    fn heads(
        &self,
        world: &World,
        cpu: usize,
        group: usize,
    ) -> impl Iterator<Item = (u64, usize, u8)> {
        let queues = world.affinities.of_cpu[cpu]
            .iter()
            .flat_map(|&mask| mask * self.levels..(mask + 1) * self.levels);
        queues
            .map(move |queue| (self.queues[group][queue].heads.first().0, queue))
            .filter(|&(head, _)| head != NEVER)
            .map(|(head, queue)| (head, queue, (queue % self.levels) as u8))
    }

    /// The queue with the least sum of head and price of its level, of all that the CPU may use.
    fn least(&self, world: &World, cpu: usize, group: usize) -> Option<(u64, usize)> {
        let price_ns =
            |level| self.even.as_ref().map_or(0, |even| even.price_ns(world, cpu, level));
        self.heads(world, cpu, group)
            .map(|(head, queue, level)| (head.saturating_add(price_ns(level)), queue))
            .min()
    }

    /// Own group first; another group's tasks only when the own has none.
    fn least_anywhere(&self, world: &World, cpu: usize) -> Option<(usize, usize)> {
        let own = self.group_of(world, cpu);
        if let Some((_, queue)) = self.least(world, cpu, own) {
            return Some((own, queue));
        }
        (0..self.groups)
            .filter_map(|group| {
                self.least(world, cpu, group).map(|(head, queue)| (head, group, queue))
            })
            .min()
            .map(|(_, group, queue)| (group, queue))
    }

    /// The queue to take from: the given one, or one of a lower level instead of a forced idle;
    /// `None`: the CPU is forced idle.
    fn queue_unless_forced_idle(
        &mut self,
        world: &World,
        cpu: usize,
        least: (usize, usize),
    ) -> Option<(usize, usize)> {
        let (group, queue) = least;
        let Some(even) = &self.even else { return Some(least) };
        let for_ns = even.forced_idle_ns(world, cpu, (queue % self.levels) as u8);
        if for_ns == 0 {
            return Some(least);
        }
        // Ahead by the price of all of a core's speed at most; else the refused task could starve.
        let (refused, _) = self.queues[group][queue].heads.first();
        let last = refused.saturating_add(policy::mix_price_ns(1000));
        let lower = self
            .heads(world, cpu, group)
            .filter(|&(head, _, level)| head <= last && even.forced_idle_ns(world, cpu, level) == 0)
            .min();
        if lower.is_none()
            && let Some(even) = &mut self.even
        {
            let (_, slot) = self.queues[group][queue].heads.first();
            even.force_idle(world, cpu, self.queues[group][queue].tasks[slot], for_ns);
        }
        lower.map(|(_, queue, _)| (group, queue))
    }

    /// Takes the first task out of a queue, and to the CPU's group.
    fn take(&mut self, world: &World, cpu: usize, group: usize, queue: usize) -> usize {
        let queue = &mut self.queues[group][queue];
        let (_, slot) = queue.heads.first();
        queue.heads.set(slot, NEVER);
        let task = queue.tasks[slot];
        self.waiting[group] -= 1;
        let own = self.group_of(world, cpu);
        if own != group {
            self.change_group(world, task, own);
            self.runnable[own].set(task, self.vtime[task]);
        } else if let Some(lag) = &mut self.lag {
            lag.note_least(world, cpu, (own, task), self.vtime[task]);
        }
        self.advance_min_vtime(own);
        task
    }

    /// The task begins to run on a CPU.
    fn begin(&mut self, world: &World, cpu: usize, task: usize) -> Pick {
        if let Some(even) = &mut self.even {
            even.begins(world, cpu, task);
        }
        self.note_running(world, cpu, self.bound(world, task));
        if let Some(kernel) = &mut self.kernel {
            let group = if self.groups == 1 { 0 } else { world.topology.package_of(cpu) };
            kernel.begins(world, cpu, task, (group, self.waiting[group]));
            return Pick { task, slice_ns: None };
        }
        let draw = self.draws[task].next_u32();
        let mut slice_ns = policy::slice_ns(SLICE_NS, SLICE_JITTER_PERMILLE, draw);
        if let Some(specialized) = &mut self.specialized {
            slice_ns = specialized.starts(world, cpu, task, slice_ns);
        }
        Pick { task, slice_ns: Some(slice_ns) }
    }

    /// The refund of a slice, and the culprit to bill.
    fn compensate(&mut self, task: usize, observed: &Observed, turbo: &Turbo) -> Charged {
        let time_ns = observed.slice.time_ns;
        let mut charged = Charged::default();
        if let Some(meter) = self.meter {
            let metered_ns = policy::metered_ns(meter, turbo, &observed.slice, observed.own_level);
            charged.refund_ns = time_ns.saturating_sub(metered_ns);
        }
        if self.mode != Mode::None {
            let lost_ns = observed.lost_ns.unwrap_or_else(|| {
                policy::time_lost(turbo, &observed.slice, observed.own_level).lost_ns
            });
            let last_user = observed.last_user;
            let bill_ns = self.pending_bill.get(last_user as usize).copied().unwrap_or(0);
            let loss = Loss {
                time_ns,
                lost_ns,
                victim: task as u32,
                last_user,
                room_ns: policy::bill_room_ns(bill_ns),
            };
            let compensation = policy::compensate(self.mode, &loss);
            charged.refund_ns = compensation.refund_ns;
            charged.bill_ns = compensation.bill_ns;
            if last_user != NO_TASK {
                charged.culprit = Some(last_user as usize);
            }
            self.keep_banked(task, &mut charged);
            if compensation.culprit != NO_TASK {
                self.pending_bill[compensation.culprit as usize] += charged.bill_ns;
            }
        }
        charged
    }

    /// Limits a refund to the part that counts as virtual time; the rest is idle compensation,
    /// which nobody is billed for.
    fn keep_banked(&mut self, task: usize, charged: &mut Charged) {
        if let Some(even) = &mut self.even
            && charged.refund_ns > 0
        {
            let refund_ns = even.bank(task, charged.refund_ns);
            charged.idle_compensation_ns = charged.refund_ns - refund_ns;
            charged.refund_ns = refund_ns;
            charged.bill_ns = charged.bill_ns.min(charged.refund_ns);
        }
    }

    /// Charges tasks for waiting for a CPU in forced idle. Without the charge their lower virtual
    /// time would take the same time again, from all other tasks.
    fn charge_forced_idle(&mut self) {
        while let Some((task, ns)) = self.even.as_mut().and_then(Even::take_paid) {
            let bill_ns = &mut self.pending_bill[task];
            *bill_ns += ns.min(policy::bill_room_ns(*bill_ns));
        }
    }

    fn record_account(&mut self, task: usize, paid_ns: u64, idle_compensation_ns: u64) {
        let vtime_ns = self.vtime[task];
        let Deficit { deficit_ns, banked_ns, .. } = self.deficit(task);
        if let Some(events) = &mut self.policy_events {
            let tid = tid(task);
            events.push(PolicyEvent::Account {
                tid,
                vtime_ns,
                paid_ns,
                idle_compensation_ns,
                deficit_ns,
                banked_ns,
            });
        }
    }

    fn deficit(&self, task: usize) -> Deficit {
        self.even.as_ref().map_or(Deficit::default(), |even| even.deficit(task))
    }

    /// The best idle CPU for a task that last ran on or near a CPU.
    fn idle_cpu(&self, world: &World, task: usize, near: usize) -> Option<usize> {
        if let Some(specialized) = &self.specialized {
            return specialized.idle_cpu(world, task, near);
        }
        let idle = world.idle_cpu_near(task, near)?;
        Some(self.even.as_ref().map_or(idle, |even| even.idle_cpu(world, task, idle)))
    }

    /// The group for a task without an idle CPU: the least loaded one that its affinity allows.
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

    /// The virtual time by which a task is placed that becomes runnable in a group.
    fn origin(&self, world: &World, group: usize, task: usize) -> u64 {
        let least = self.min_vtime[group];
        self.lag.as_ref().map_or(least, |lag| lag.floor_ns(world, group, task).max(least))
    }

    /// Moves a task's virtual time to the scale of another group.
    fn change_group(&mut self, world: &World, task: usize, to: usize) {
        let from = self.group[task];
        if from != to {
            let [min_from, min_to] = [from, to].map(|group| self.origin(world, group, task));
            self.vtime[task] = policy::move_between(self.vtime[task], min_from, min_to);
            if self.runnable[from].get(task) != NEVER {
                self.runnable[from].set(task, NEVER);
                self.load[from] -= 1;
                self.load[to] += 1;
                if let Some(lag) = &mut self.lag {
                    lag.leaves(world, from, task);
                    lag.enters(world, to, task);
                }
            }
            self.group[task] = to;
        }
    }
}

impl Scheduler for Fair {
    fn tick_ns(&self) -> Option<u64> {
        self.kernel.as_ref().map(|kernel| kernel.tick_ns)
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        let last = world.tasks[task].last_cpu;
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let near = last.or_else(|| mask.iter().next()).unwrap_or(0);
        if let Some(specialized) = &mut self.specialized {
            specialized.wakes(task, wake, world);
        }
        let idle = self.idle_cpu(world, task, near);
        let cpu = idle.unwrap_or_else(|| match wake {
            Wake::New { .. } => self.least_loaded(world, task, near),
            Wake::Woken(_) => near,
        });
        let group = self.group_of(world, cpu);
        self.change_group(world, task, group);
        let origin = self.origin(world, group, task);
        let before_ns = self.vtime[task];
        let deficit = self.deficit(task);
        self.vtime[task] = match (&self.lag, &wake) {
            (Some(_), wake) => lag::placed_ns(world, task, wake, before_ns, origin, &deficit),
            (None, Wake::New { .. }) => policy::place_new(before_ns, origin, SLICE_NS),
            (None, Wake::Woken(_)) => policy::place_waking(before_ns, origin, SLEEPER_CREDIT_NS),
        };
        if let Some(even) = &mut self.even {
            even.wakes(world, task, self.vtime[task] - before_ns);
        }
        self.record_account(task, 0, deficit.banked_ns - self.deficit(task).banked_ns);
        self.load[group] += 1;
        if let Some(lag) = &mut self.lag {
            lag.enters(world, group, task);
            lag.wakes(task, idle.is_some());
        }
        self.enqueue(world, task, group);
        let interrupted = match &self.specialized {
            _ if idle.is_some() => None,
            Some(_) => self.preemptable_specialized(world, task, cpu),
            None => self.preemptable(world, task, cpu, wake.is_sync()),
        };
        if let (Some(kernel), Some(cpu)) = (&mut self.kernel, interrupted) {
            kernel.request_preemption(cpu);
        }
        Placed { cpu, reschedule: idle.or(interrupted) }
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
        if let Some(even) = &mut self.even {
            even.ends(world, cpu, task, observed);
            self.charge_forced_idle();
        }
        let charged = self.compensate(task, observed, world.believed_turbo(cpu));
        let bill_ns = std::mem::take(&mut self.pending_bill[task]);
        let weight = world.tasks[task].weight;
        self.vtime[task] =
            policy::charge(self.vtime[task], time_ns, charged.refund_ns, bill_ns, weight);
        let group = self.group_of(world, cpu);
        self.change_group(world, task, group);
        if let (Some(lag), Stop::Preempted) = (&self.lag, stop) {
            self.vtime[task] = lag.bound_ns(world, group, task, self.vtime[task]);
        }
        self.record_account(task, bill_ns, charged.idle_compensation_ns);
        if let Some(specialized) = &mut self.specialized {
            specialized.stops(world, task, stop);
        }
        match stop {
            Stop::Preempted => {
                if self.even.as_mut().is_some_and(|even| even.dispatch_swapped(task)) {
                    self.runnable[group].set(task, self.vtime[task]);
                } else {
                    self.enqueue(world, task, group);
                }
            }
            Stop::Blocked | Stop::Ended => {
                if let Some(even) = &mut self.even {
                    even.sleeps(world, cpu, task);
                }
                self.runnable[group].set(task, NEVER);
                self.load[group] -= 1;
                if let Some(lag) = &mut self.lag {
                    lag.leaves(world, group, task);
                }
            }
        }
        self.note_running(world, cpu, NEVER);
        self.advance_min_vtime(group);
        if stop == Stop::Preempted {
            self.find_place_for(world, cpu, task);
        }
        charged
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        if let Some(even) = &mut self.even {
            even.wakes_up(world, cpu);
            let arrived = even.arrived(cpu);
            self.charge_forced_idle();
            if let Some(task) = arrived {
                return Some(self.begin(world, cpu, task));
            }
        }
        if self.specialized.is_some() {
            let queue = self.choose_specialized(world, cpu)?;
            let task = self.take(world, cpu, 0, queue);
            return Some(self.begin(world, cpu, task));
        }
        let least = self.least_anywhere(world, cpu)?;
        let chosen = self.queue_unless_forced_idle(world, cpu, least);
        if let Some(even) = &mut self.even {
            let waiting: usize = self.waiting.iter().sum();
            even.ask_idle(world, cpu, waiting > usize::from(chosen.is_some()));
        }
        let (group, queue) = chosen?;
        let task = self.take(world, cpu, group, queue);
        if self.waiting[self.group_of(world, cpu)] == 0
            && let Some(even) = &mut self.even
            && (even.swaps(world, cpu, task) || even.forces_switch_out(world, cpu, task))
        {
            return None;
        }
        Some(self.begin(world, cpu, task))
    }

    fn tick(&mut self, world: &World, cpu: usize, reschedule: &mut Vec<usize>) {
        if self.gives_way_at_tick(world, cpu) {
            reschedule.push(cpu);
        }
    }

    fn reschedules(&mut self, cpus: &mut Vec<usize>) {
        if let Some(even) = &mut self.even {
            even.take_reschedules(cpus);
        }
        if let Some(specialized) = &mut self.specialized {
            specialized.take_kicked(cpus);
        }
    }

    fn uses_widest(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        self.fault(world, cpu, task)
    }

    fn system_call(&mut self, world: &World, cpu: usize, task: usize) {
        if let Some(specialized) = &mut self.specialized {
            specialized.calls_kernel(world, cpu, task);
        }
    }

    fn switch_specialization(&mut self, world: &World, is_on: bool) -> bool {
        self.switch(world, is_on)
    }

    fn specialization(&self, now_ns: u64) -> Option<SpecializationCounts> {
        self.specialized.as_ref().map(|specialized| specialized.counts(now_ns))
    }

    fn policy_events(&mut self) -> impl Iterator<Item = PolicyEvent> {
        let of_cpus = self.even.iter_mut().flat_map(Even::take_policy_events);
        of_cpus.chain(self.policy_events.iter_mut().flat_map(|events| events.drain(..)))
    }

    fn timer_ns(&self) -> Option<u64> {
        let of_even = self.even.as_ref().and_then(Even::forced_idle_until_ns);
        of_even.or_else(|| self.specialized.as_ref()?.timer_ns())
    }

    /// A CPU in forced idle is idle as well, and would refuse the task again.
    fn idle_cpu_for(&self, world: &World, task: usize) -> Option<usize> {
        self.idle_cpu(world, task, world.tasks[task].last_cpu.unwrap_or(0))
    }

    fn timer_fires(&mut self, world: &World) {
        if let Some(even) = &mut self.even {
            even.end_due(world);
            self.charge_forced_idle();
        }
        if let Some(specialized) = &mut self.specialized {
            specialized.timer_fires(world);
        }
    }
}
