//! The additions of `even` to virtual time: placement by level, and idle compensation.
//!
//! All formulas are the policy's (`evenkeel/mix.h`, `deficit.h`, `learned.h`); this file gathers
//! their inputs. While no task was observed to demand a level above 0, the schedule is exactly
//! that of `fair` with the same placement of newcomers.

use cpu_model::LEVELS_MAX;
use policy::{Alone, CoreState, Deficit, Learned};

use crate::config::{EvenParts, SensorSet};
use crate::outcome::PolicyEvent;
use crate::recorder::tid;
use crate::sensors::Observed;
use crate::timers::{NEVER, WinnerTree};
use crate::world::World;

/// The forced idle of a CPU, which repays the deficit of a task on its sibling.
#[derive(Clone, Copy, Debug)]
struct ForcedIdle {
    from_ns: u64,
    /// The task that would have run.
    refused: usize,
}

/// How long a CPU and its siblings had no task.
#[derive(Clone, Copy, Debug, Default)]
struct IdleTime {
    /// Until its last task began.
    total_ns: u64,
    /// When its last task ended.
    since_ns: u64,
    /// The siblings' idle time when the running task began.
    siblings_before_ns: u64,
    /// The forced idle of siblings for the running task.
    forced_ns: u64,
}

/// Levels of tasks and cores, and deficits.
#[derive(Clone, Debug)]
pub(super) struct Even {
    parts: EvenParts,
    smt_share_permille: u32,
    /// By task.
    learned: Vec<Learned>,
    /// By task: the level that its last slice showed.
    shown: Vec<u8>,
    /// By task: the level that rules name, where rules are the sensor set.
    ruled: Option<Vec<u8>>,
    deficits: Vec<Deficit>,
    /// By task: speed-up alone on its core, in permille.
    gain_permille: Vec<u32>,
    /// By task: target CPU of a swap, taken when the task leaves its own CPU.
    swap_to: Vec<Option<usize>>,
    /// By CPU: the level of the running task.
    runs: Vec<Option<u8>>,
    idle: Vec<IdleTime>,
    /// By package: how often the mean task is alone on its core.
    alone: Vec<Alone>,
    forced_idle: Vec<Option<ForcedIdle>>,
    /// By CPU: end of the forced idle.
    forced_idle_until: WinnerTree,
    /// By CPU: the task that a swap or forced switch-out runs next.
    arriving: Vec<Option<usize>>,
    /// By core: until when each level is held.
    held_until_ns: Vec<[u64; LEVELS_MAX]>,
    no_swap_until_ns: Vec<u64>,
    /// By CPU: the running task, and since when the task has not left the CPU.
    stays: Vec<Option<(usize, u64)>>,
    /// Whether levels are read from saved registers, which show only at switch-out.
    reads_registers: bool,
    /// CPUs that must choose again.
    reschedules: Vec<usize>,
    /// Tasks that waited for a CPU in forced idle, and for how long.
    paid: Vec<(usize, u64)>,
    /// Whether some task has waited at every moment since a CPU last refused a task.
    has_refused: bool,
    /// Events of CPUs since the last call that took them; `None` unless a history is kept.
    policy_events: Option<Vec<PolicyEvent>>,
}

impl Even {
    pub(super) fn new(world: &World, parts: EvenParts) -> Self {
        let (tasks, cpus) = (world.tasks.len(), world.topology.cpus);
        let by_rules = world.config.sensors == SensorSet::Rules;
        Self {
            parts,
            smt_share_permille: world.config.believed_smt_share_permille,
            learned: vec![Learned::default(); tasks],
            shown: vec![0; tasks],
            ruled: by_rules.then(|| world.tasks.iter().map(|task| task.ruled_level).collect()),
            deficits: vec![Deficit::default(); tasks],
            gain_permille: vec![0; tasks],
            swap_to: vec![None; tasks],
            runs: vec![None; cpus],
            idle: vec![IdleTime::default(); cpus],
            alone: vec![Alone::default(); world.topology.packages],
            forced_idle: vec![None; cpus],
            forced_idle_until: WinnerTree::new(cpus),
            arriving: vec![None; cpus],
            held_until_ns: vec![[0; LEVELS_MAX]; world.topology.cores],
            no_swap_until_ns: vec![0; world.topology.cores],
            stays: vec![None; cpus],
            reads_registers: world.config.sensors.reads_registers(),
            reschedules: Vec::new(),
            paid: Vec::new(),
            has_refused: false,
            policy_events: world.config.history.then(Vec::new),
        }
    }

    /// The level that a task is believed to demand.
    pub(super) fn level(&self, task: usize, now_ns: u64) -> u8 {
        match &self.ruled {
            Some(levels) => levels[task],
            None => self.learned[task].level(now_ns),
        }
    }

    // --- Beginning and end of a slice ---

    pub(super) fn begins(&mut self, world: &World, cpu: usize, task: usize) {
        if let Some(since_ns) = world.tasks[task].runnable_since {
            self.deficits[task].waited(world.now_ns - since_ns);
        }
        if self.runs[cpu].is_none() {
            self.idle[cpu].total_ns = self.idle_ns(cpu, world.now_ns);
        }
        self.runs[cpu] = Some(self.level(task, world.now_ns));
        self.idle[cpu].siblings_before_ns = self.siblings_idle_ns(world, cpu);
        self.idle[cpu].forced_ns = 0;
        if self.stays[cpu].is_none_or(|(stays, _)| stays != task) {
            self.stays[cpu] = Some((task, world.now_ns));
        }
    }

    /// A slice ends; the forced idle of siblings for this task ends, and repays its deficit.
    pub(super) fn ends(&mut self, world: &World, cpu: usize, task: usize, observed: &Observed) {
        let now_ns = world.now_ns;
        let core = world.topology.core_of(cpu);
        let level = observed.shown_level();
        let before = if observed.is_believed {
            level
        } else {
            std::mem::replace(&mut self.shown[task], level)
        };
        self.learned[task].learn_shown(level, before, now_ns);
        for lower in 1..=usize::from(level) {
            self.held_until_ns[core][lower] = now_ns + world.model.license.hold_ns[lower];
        }
        self.runs[cpu] = None;
        let slice = &observed.slice;
        // Repay at the speed-up that was assumed when the forced idle began: the evidence of this
        // slice counts from the next one on.
        for sibling in siblings(world, cpu) {
            self.end_forced_idle(world, sibling, Some((task, slice.time_ns)));
        }
        self.note_alone(world, cpu, task, slice.time_ns);
        self.idle[cpu].since_ns = now_ns;
        let stall_q30 = policy::share_q30(slice.stall_cycles, slice.cycles);
        self.gain_permille[task] = policy::alone_gain_permille(self.smt_share_permille, stall_q30);
    }

    /// How long a CPU has had no task, since the run began.
    fn idle_ns(&self, cpu: usize, now_ns: u64) -> u64 {
        let idle = &self.idle[cpu];
        let since_ns = if self.runs[cpu].is_none() { now_ns - idle.since_ns } else { 0 };
        idle.total_ns + since_ns
    }

    /// The least idle time of the siblings of a CPU: its task was not alone for longer.
    fn siblings_idle_ns(&self, world: &World, cpu: usize) -> u64 {
        siblings(world, cpu).map(|sibling| self.idle_ns(sibling, world.now_ns)).min().unwrap_or(0)
    }

    /// Notes for how much of its slice a task was alone on its core, other than by forced idle.
    fn note_alone(&mut self, world: &World, cpu: usize, task: usize, ran_ns: u64) {
        let idle = self.idle[cpu];
        let idle_ns = self.siblings_idle_ns(world, cpu) - idle.siblings_before_ns;
        let alone_ns = idle_ns.saturating_sub(idle.forced_ns);
        let all = &mut self.alone[world.topology.package_of(cpu)];
        self.deficits[task].ran(all, alone_ns, ran_ns, self.gain_permille[task]);
        all.add(alone_ns, ran_ns);
    }

    /// Whether all tasks on the siblings of a CPU lead.
    fn siblings_lead(&self, world: &World, cpu: usize) -> bool {
        siblings(world, cpu)
            .filter_map(|sibling| world.cpus[sibling].running)
            .all(|task| self.deficits[task].leads())
    }

    /// Ends the forced idle of a CPU; `left` is the task that has just left a sibling, with the
    /// length of its slice.
    fn end_forced_idle(&mut self, world: &World, cpu: usize, left: Option<(usize, u64)>) {
        let Some(forced_idle) = self.forced_idle[cpu].take() else { return };
        self.forced_idle_until.set(cpu, NEVER);
        if let Some(events) = &mut self.policy_events {
            events.push(PolicyEvent::ForcedIdleEnds { cpu: cpu as u32 });
        }
        let now_ns = world.now_ns;
        if let Some((task, ran_ns)) = left {
            let forced_idle_ns = (now_ns - forced_idle.from_ns).min(ran_ns);
            self.deficits[task].repay(forced_idle_ns, self.gain_permille[task]);
            for sibling in siblings(world, cpu) {
                self.idle[sibling].forced_ns += forced_idle_ns;
            }
        } else {
            for sibling in siblings(world, cpu) {
                let Some(task) = world.cpus[sibling].running else { continue };
                let forced_idle_ns = now_ns - forced_idle.from_ns.max(world.cpus[sibling].since_ns);
                self.deficits[task].repay(forced_idle_ns, self.gain_permille[task]);
                self.idle[sibling].forced_ns += forced_idle_ns;
            }
        }
        let refused = &world.tasks[forced_idle.refused];
        let is_paid = |other: &ForcedIdle| other.refused == forced_idle.refused;
        // The refused task may have found another CPU meanwhile, or wait for another one in
        // forced idle.
        if refused.runnable_since.is_some_and(|since_ns| since_ns <= forced_idle.from_ns)
            && !self.forced_idle.iter().flatten().any(is_paid)
        {
            self.paid.push((forced_idle.refused, now_ns - forced_idle.from_ns));
        }
        self.reschedules.push(cpu);
    }

    /// A task that waited for a CPU in forced idle, and for how long: charged as if the task had
    /// run.
    pub(super) fn take_paid(&mut self) -> Option<(usize, u64)> {
        self.paid.pop()
    }

    pub(super) fn take_policy_events(&mut self) -> impl Iterator<Item = PolicyEvent> {
        self.policy_events.iter_mut().flat_map(|events| events.drain(..))
    }

    // --- Deficits ---

    pub(super) fn deficit(&self, task: usize) -> Deficit {
        self.deficits[task]
    }

    /// The part of a refund that counts as virtual time; idle compensation repays the rest.
    pub(super) fn bank(&mut self, task: usize, refund_ns: u64) -> u64 {
        if self.parts.without_repayment {
            return refund_ns;
        }
        self.deficits[task].bank(refund_ns)
    }

    /// Length of the forced idle of a CPU that would otherwise run this level; 0: none.
    pub(super) fn forced_idle_ns(&self, world: &World, cpu: usize, level: u8) -> u64 {
        if self.parts.without_repayment || level == 0 {
            return 0;
        }
        siblings(world, cpu)
            .filter(|&sibling| self.runs[sibling].is_some_and(|lower| lower < level))
            .filter_map(|sibling| world.cpus[sibling].running)
            .map(|task| self.deficits[task].forced_idle_ns(self.gain_permille[task]))
            .max()
            .unwrap_or(0)
    }

    pub(super) fn force_idle(&mut self, world: &World, cpu: usize, refused: usize, for_ns: u64) {
        let from_ns = world.now_ns;
        self.has_refused = true;
        self.forced_idle[cpu] = Some(ForcedIdle { from_ns, refused });
        self.forced_idle_until.set(cpu, from_ns + for_ns);
        let beside = siblings(world, cpu).filter_map(|sibling| world.cpus[sibling].running);
        let creditor = beside.max_by_key(|&task| self.deficits[task].deficit_ns);
        if let (Some(events), Some(task)) = (&mut self.policy_events, creditor) {
            let gain_permille = self.gain_permille[task];
            events.push(PolicyEvent::ForcedIdle { cpu: cpu as u32, tid: tid(task), gain_permille });
        }
    }

    /// A CPU took or refused a task: idle CPUs run the scheduler while a refused task waits.
    pub(super) fn ask_idle(&mut self, world: &World, cpu: usize, others_wait: bool) {
        self.has_refused &= others_wait;
        if !self.has_refused {
            return;
        }
        let idle = (0..world.topology.cpus).filter(|&other| {
            other != cpu && world.idle.contains(other) && self.forced_idle[other].is_none()
        });
        self.reschedules.extend(idle);
    }

    /// The CPU runs the scheduler again, so its forced idle ends.
    pub(super) fn wakes_up(&mut self, world: &World, cpu: usize) {
        self.end_forced_idle(world, cpu, None);
        self.reschedules.retain(|&other| other != cpu);
    }

    /// The earliest end of a forced idle.
    pub(super) fn forced_idle_until_ns(&self) -> Option<u64> {
        let (until_ns, _) = self.forced_idle_until.first();
        (until_ns != NEVER).then_some(until_ns)
    }

    pub(super) fn end_due(&mut self, world: &World) {
        loop {
            let (until_ns, cpu) = self.forced_idle_until.first();
            if until_ns > world.now_ns {
                return;
            }
            self.end_forced_idle(world, cpu, None);
        }
    }

    // --- Levels of siblings ---

    /// The highest level that runs on the siblings of a CPU.
    fn sibling_level(&self, world: &World, cpu: usize) -> Option<u8> {
        siblings(world, cpu).filter_map(|sibling| self.runs[sibling]).max()
    }

    fn held(&self, core: usize, now_ns: u64) -> u8 {
        let held = |&level: &usize| self.held_until_ns[core][level] > now_ns;
        (1..LEVELS_MAX).rev().find(held).map_or(0, |level| level as u8)
    }

    fn loss_permille(world: &World, cpu: usize, level: u8, sibling_level: Option<u8>) -> u32 {
        sibling_level.map_or(0, |sibling| {
            policy::mix_loss_permille(world.believed_turbo(cpu), world.row_of(cpu), level, sibling)
        })
    }

    /// The price of a level on this CPU: virtual time that its tasks wait longer.
    pub(super) fn price_ns(&self, world: &World, cpu: usize, level: u8) -> u64 {
        if self.parts.without_matching {
            return 0;
        }
        let sibling_level = self.sibling_level(world, cpu);
        policy::mix_price_ns(Self::loss_permille(world, cpu, level, sibling_level))
    }

    /// The idle CPU that suits a waking task: the one that `fair` takes, unless another costs less.
    pub(super) fn idle_cpu(&self, world: &World, task: usize, fairs: usize) -> usize {
        if self.parts.without_placing {
            return fairs;
        }
        let level = self.level(task, world.now_ns);
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let package = world.topology.cpus_of_package(world.topology.package_of(fairs));
        let first = fairs - package.start;
        let nearest = (0..package.len()).map(|i| package.start + (first + i) % package.len());
        nearest
            .filter(|&cpu| world.idle.contains(cpu) && mask.contains(cpu))
            .filter(|&cpu| self.forced_idle_ns(world, cpu, level) == 0)
            .min_by_key(|&cpu| self.idle_cost_permille(world, cpu, level))
            .unwrap_or(fairs)
    }

    fn idle_cost_permille(&self, world: &World, cpu: usize, level: u8) -> u32 {
        let core = world.topology.core_of(cpu);
        // A claimed sibling does not run its task yet: assume the level of this task. Siblings
        // that lead may lose speed.
        let sibling_level = self
            .sibling_level(world, cpu)
            .filter(|&sibling| sibling > level || !self.siblings_lead(world, cpu))
            .unwrap_or(level);
        let state = CoreState {
            is_busy: (!world.idle_cores.contains(core)).into(),
            sibling_level: sibling_level.into(),
            held: self.held(core, world.now_ns).into(),
        };
        let (turbo, row) = (world.believed_turbo(cpu), world.row_of(cpu));
        policy::mix_idle_cost_permille(turbo, row, level, &state, self.smt_share_permille)
    }

    // --- Swaps ---

    /// Swaps the CPU of the only waiting task with that of a task elsewhere, if the mix of levels
    /// improves. After `true` the task is due to arrive at the other CPU.
    pub(super) fn swaps(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        if self.parts.without_swaps {
            return false;
        }
        let level = self.level(task, world.now_ns);
        let Some(sibling_level) = self.sibling_level(world, cpu) else { return false };
        if sibling_level == level || self.is_swap_paused(world, cpu) {
            return false;
        }
        let loser_leads = if level < sibling_level {
            self.deficits[task].leads()
        } else {
            self.siblings_lead(world, cpu)
        };
        if loser_leads {
            return false;
        }
        let package = world.topology.cpus_of_package(world.topology.package_of(cpu));
        let best = package
            .filter(|&other| world.topology.core_of(other) != world.topology.core_of(cpu))
            .filter_map(|other| Some((self.gain(world, cpu, task, other)?, other)))
            .max_by_key(|&(gain, other)| (gain, std::cmp::Reverse(other)));
        let Some((_, other)) = best else { return false };
        for changed in [cpu, other] {
            self.no_swap_until_ns[world.topology.core_of(changed)] =
                policy::mix_no_swap_until_ns(world.now_ns);
        }
        self.arriving[other] = Some(task);
        self.reschedules.push(other);
        if let Some(theirs) = world.cpus[other].running {
            self.swap_to[theirs] = Some(cpu);
        }
        true
    }

    /// Forces the only waiting task of a CPU to switch out, so that its saved registers can be
    /// read. After `true` the task is due to arrive at the same CPU immediately.
    pub(super) fn forces_switch_out(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        let stays = self.stays[cpu].filter(|&(stays, _)| stays == task);
        let Some((_, since_ns)) = stays else { return false };
        let is_due = self.reads_registers
            && !self.parts.without_forced_switch_out
            && self.sibling_level(world, cpu).is_some()
            && policy::forces_switch_out(world.now_ns - since_ns);
        if is_due {
            self.stays[cpu] = None;
            self.arriving[cpu] = Some(task);
            self.reschedules.push(cpu);
        }
        is_due
    }

    fn is_swap_paused(&self, world: &World, cpu: usize) -> bool {
        self.no_swap_until_ns[world.topology.core_of(cpu)] > world.now_ns
    }

    /// The gain of swapping a task with that of another CPU, in permille of a CPU's speed.
    fn gain(&self, world: &World, cpu: usize, task: usize, other: usize) -> Option<u32> {
        let allows =
            |task: usize, cpu: usize| world.affinities.masks[world.tasks[task].mask].contains(cpu);
        if !allows(task, other)
            || self.arriving[other].is_some()
            || self.is_swap_paused(world, other)
        {
            return None;
        }
        let level = self.level(task, world.now_ns);
        let (here, there) = (self.sibling_level(world, cpu), self.sibling_level(world, other));
        let loss = |level, sibling| Self::loss_permille(world, cpu, level, sibling);
        let mut before = loss(level, here);
        let mut after = loss(level, there);
        match world.cpus[other].running {
            Some(theirs) => {
                if !allows(theirs, cpu) {
                    return None;
                }
                let their_level = self.runs[other].unwrap_or(0);
                before += loss(their_level, there);
                after += loss(their_level, here);
            }
            None if !world.idle.contains(other) || self.forced_idle[other].is_some() => {
                return None;
            }
            None => {}
        }
        policy::mix_swaps(before, after).then(|| before - after)
    }

    /// Whether a preempted task goes to another CPU by a swap, and must not be enqueued.
    pub(super) fn dispatch_swapped(&mut self, task: usize) -> bool {
        let Some(to) = self.swap_to[task].take() else { return false };
        if self.arriving[to].is_some() {
            return false;
        }
        self.arriving[to] = Some(task);
        self.reschedules.push(to);
        true
    }

    pub(super) fn sleeps(&mut self, world: &World, cpu: usize, task: usize) {
        self.swap_to[task] = None;
        self.stays[cpu] = None;
        self.deficits[task].sleeps(world.now_ns);
    }

    /// A task wakes, and its placement raises its virtual time by `later_ns`.
    pub(super) fn wakes(&mut self, world: &World, task: usize, later_ns: u64) {
        self.deficits[task].wakes(later_ns, world.now_ns);
    }

    pub(super) fn arrived(&mut self, cpu: usize) -> Option<usize> {
        self.arriving[cpu].take()
    }

    pub(super) fn take_reschedules(&mut self, cpus: &mut Vec<usize>) {
        cpus.append(&mut self.reschedules);
    }
}

fn siblings(world: &World, cpu: usize) -> impl Iterator<Item = usize> {
    let core = world.topology.core_of(cpu);
    world.topology.cpus_of_core(core).filter(move |&sibling| sibling != cpu)
}
