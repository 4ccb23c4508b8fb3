//! What `even` adds to virtual time: placement by level, and repayment in kind.
//!
//! All judgements are the policy's (`evenkeel/mix.h`, `deficit.h`, `learned.h`); here is what they
//! are asked about. A machine on which nobody was seen to demand more than level 0 is scheduled as
//! by `fair`, to the last slice.

use cpu_model::LEVELS_MAX;
use policy::{CoreState, Deficit, Learned};

use crate::config::{EvenParts, SensorSet};
use crate::outcome::Note;
use crate::recorder::tid;
use crate::sensors::Observed;
use crate::timers::{NEVER, WinnerTree};
use crate::world::World;

/// A CPU that stays idle so that its siblings gain.
#[derive(Clone, Copy, Debug)]
struct Quiet {
    from_ns: u64,
    /// The task that would have run.
    refused: usize,
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
    /// By task: the level that rules give it, where they are the sensor.
    ruled: Option<Vec<u8>>,
    deficits: Vec<Deficit>,
    /// By task: how much faster it is alone on its core.
    gain_permille: Vec<u32>,
    /// By task: the CPU that it changes to when it leaves its own.
    sent_to: Vec<Option<usize>>,
    /// By CPU: the level of what runs there.
    runs: Vec<Option<u8>>,
    quiet: Vec<Option<Quiet>>,
    /// By CPU: until when it stays quiet.
    quiet_until: WinnerTree,
    /// By CPU: the task that comes to it next.
    arriving: Vec<Option<usize>>,
    /// By core: until when each level is held.
    held_until_ns: Vec<[u64; LEVELS_MAX]>,
    settled_ns: Vec<u64>,
    /// By CPU: what runs there without having left it since, and since when.
    stays: Vec<Option<(usize, u64)>>,
    /// Whether registers tell levels, which show only when a task leaves its CPU.
    reads_registers: bool,
    /// CPUs that must choose again.
    asked: Vec<usize>,
    /// Tasks that waited for quiet CPUs, and for how long.
    paid: Vec<(usize, u64)>,
    /// Since somebody was refused, somebody has waited all the time.
    has_refused: bool,
    /// Of CPUs, since they were taken last; where a history is kept.
    notes: Option<Vec<Note>>,
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
            sent_to: vec![None; tasks],
            runs: vec![None; cpus],
            quiet: vec![None; cpus],
            quiet_until: WinnerTree::new(cpus),
            arriving: vec![None; cpus],
            held_until_ns: vec![[0; LEVELS_MAX]; world.topology.cores],
            settled_ns: vec![0; world.topology.cores],
            stays: vec![None; cpus],
            reads_registers: world.config.sensors.reads_registers(),
            asked: Vec::new(),
            paid: Vec::new(),
            has_refused: false,
            notes: world.config.history.then(Vec::new),
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
        self.runs[cpu] = Some(self.level(task, world.now_ns));
        if self.stays[cpu].is_none_or(|(stays, _)| stays != task) {
            self.stays[cpu] = Some((task, world.now_ns));
        }
    }

    /// A slice ends; whoever stayed quiet for it has repaid a part, and is free.
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
        // At the gain for which they were quiet: what this slice shows counts from the next on.
        for sibling in siblings(world, cpu) {
            self.end_quiet(world, sibling, Some((task, slice.time_ns)));
        }
        let stall_q30 = policy::share_q30(slice.stall_cycles, slice.cycles);
        self.gain_permille[task] = policy::alone_gain_permille(self.smt_share_permille, stall_q30);
    }

    /// A CPU is quiet no more; `left` is what has just left a sibling, and how long it ran.
    fn end_quiet(&mut self, world: &World, cpu: usize, left: Option<(usize, u64)>) {
        let Some(quiet) = self.quiet[cpu].take() else { return };
        self.quiet_until.set(cpu, NEVER);
        if let Some(notes) = &mut self.notes {
            notes.push(Note::QuietOver { cpu: cpu as u32 });
        }
        let now_ns = world.now_ns;
        if let Some((task, ran_ns)) = left {
            let quiet_ns = (now_ns - quiet.from_ns).min(ran_ns);
            self.deficits[task].repay(quiet_ns, self.gain_permille[task]);
        } else {
            for sibling in siblings(world, cpu) {
                let Some(task) = world.cpus[sibling].running else { continue };
                let quiet_ns = now_ns - quiet.from_ns.max(world.cpus[sibling].since_ns);
                self.deficits[task].repay(quiet_ns, self.gain_permille[task]);
            }
        }
        let refused = &world.tasks[quiet.refused];
        let is_paid = |other: &Quiet| other.refused == quiet.refused;
        // It might have found another CPU meanwhile, or wait for another that is quiet.
        if refused.runnable_since.is_some_and(|since_ns| since_ns <= quiet.from_ns)
            && !self.quiet.iter().flatten().any(is_paid)
        {
            self.paid.push((quiet.refused, now_ns - quiet.from_ns));
        }
        self.asked.push(cpu);
    }

    /// A task that waited for a quiet CPU, and for how long: as if it had run.
    pub(super) fn take_paid(&mut self) -> Option<(usize, u64)> {
        self.paid.pop()
    }

    pub(super) fn take_notes(&mut self) -> impl Iterator<Item = Note> {
        self.notes.iter_mut().flat_map(|notes| notes.drain(..))
    }

    // --- Deficits ---

    pub(super) fn deficit(&self, task: usize) -> Deficit {
        self.deficits[task]
    }

    /// How much of a refund counts as virtual time; the rest is repaid in kind.
    pub(super) fn bank(&mut self, task: usize, refund_ns: u64) -> u64 {
        if self.parts.without_repayment {
            return refund_ns;
        }
        self.deficits[task].bank(refund_ns)
    }

    /// How long a CPU is to stay quiet rather than run a level; 0 is not at all.
    pub(super) fn quiet_ns(&self, world: &World, cpu: usize, level: u8) -> u64 {
        if self.parts.without_repayment || level == 0 {
            return 0;
        }
        siblings(world, cpu)
            .filter(|&sibling| self.runs[sibling].is_some_and(|lower| lower < level))
            .filter_map(|sibling| world.cpus[sibling].running)
            .map(|task| self.deficits[task].quiet_ns(self.gain_permille[task]))
            .max()
            .unwrap_or(0)
    }

    pub(super) fn be_quiet(&mut self, world: &World, cpu: usize, refused: usize, for_ns: u64) {
        let from_ns = world.now_ns;
        self.has_refused = true;
        self.quiet[cpu] = Some(Quiet { from_ns, refused });
        self.quiet_until.set(cpu, from_ns + for_ns);
        let beside = siblings(world, cpu).filter_map(|sibling| world.cpus[sibling].running);
        let creditor = beside.max_by_key(|&task| self.deficits[task].owed_ns);
        if let (Some(notes), Some(task)) = (&mut self.notes, creditor) {
            let gain_permille = self.gain_permille[task];
            notes.push(Note::Quiet { cpu: cpu as u32, tid: tid(task), gain_permille });
        }
    }

    /// A CPU took a task or refused one: whoever idles looks at those that wait since a refusal.
    pub(super) fn ask_idle(&mut self, world: &World, cpu: usize, others_wait: bool) {
        self.has_refused &= others_wait;
        if !self.has_refused {
            return;
        }
        let idle = (0..world.topology.cpus).filter(|&other| {
            other != cpu && world.idle.contains(other) && self.quiet[other].is_none()
        });
        self.asked.extend(idle);
    }

    /// The CPU chooses again, whatever it was quiet for.
    pub(super) fn wakes_up(&mut self, world: &World, cpu: usize) {
        self.end_quiet(world, cpu, None);
        self.asked.retain(|&asked| asked != cpu);
    }

    /// When the next CPU has been quiet for long enough.
    pub(super) fn quiet_until_ns(&self) -> Option<u64> {
        let (until_ns, _) = self.quiet_until.first();
        (until_ns != NEVER).then_some(until_ns)
    }

    pub(super) fn end_due(&mut self, world: &World) {
        loop {
            let (until_ns, cpu) = self.quiet_until.first();
            if until_ns > world.now_ns {
                return;
            }
            self.end_quiet(world, cpu, None);
        }
    }

    // --- Levels beside each other ---

    /// The highest level that runs beside a CPU.
    fn beside(&self, world: &World, cpu: usize) -> Option<u8> {
        siblings(world, cpu).filter_map(|sibling| self.runs[sibling]).max()
    }

    fn held(&self, core: usize, now_ns: u64) -> u8 {
        let held = |&level: &usize| self.held_until_ns[core][level] > now_ns;
        (1..LEVELS_MAX).rev().find(held).map_or(0, |level| level as u8)
    }

    fn loss_permille(world: &World, cpu: usize, level: u8, beside: Option<u8>) -> u32 {
        beside.map_or(0, |beside| {
            policy::mix_loss_permille(&world.believed_turbo, world.row_of(cpu), level, beside)
        })
    }

    /// The virtual time by which a level goes later on this CPU.
    pub(super) fn price_ns(&self, world: &World, cpu: usize, level: u8) -> u64 {
        if self.parts.without_matching {
            return 0;
        }
        let beside = self.beside(world, cpu);
        policy::mix_price_ns(Self::loss_permille(world, cpu, level, beside))
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
            .filter(|&cpu| self.quiet_ns(world, cpu, level) == 0)
            .min_by_key(|&cpu| self.idle_cost_permille(world, cpu, level))
            .unwrap_or(fairs)
    }

    fn idle_cost_permille(&self, world: &World, cpu: usize, level: u8) -> u32 {
        let core = world.topology.core_of(cpu);
        let state = CoreState {
            is_busy: (!world.idle_cores.contains(core)).into(),
            // A task may be on its way there; until it runs it is like this one.
            beside: self.beside(world, cpu).unwrap_or(level).into(),
            held: self.held(core, world.now_ns).into(),
        };
        let (turbo, row) = (&world.believed_turbo, world.row_of(cpu));
        policy::mix_idle_cost_permille(turbo, row, level, &state, self.smt_share_permille)
    }

    // --- Changing places ---

    /// Whether a task that would go on alone in the queue is sent to another CPU, whose own comes
    /// here: if so, it is on its way.
    pub(super) fn swaps(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        if self.parts.without_swaps {
            return false;
        }
        let level = self.level(task, world.now_ns);
        let beside = self.beside(world, cpu);
        if beside.is_none_or(|beside| beside == level) || self.is_settling(world, cpu) {
            return false;
        }
        let package = world.topology.cpus_of_package(world.topology.package_of(cpu));
        let best = package
            .filter(|&other| world.topology.core_of(other) != world.topology.core_of(cpu))
            .filter_map(|other| Some((self.gain(world, cpu, task, other)?, other)))
            .max_by_key(|&(gain, other)| (gain, std::cmp::Reverse(other)));
        let Some((_, other)) = best else { return false };
        for changed in [cpu, other] {
            self.settled_ns[world.topology.core_of(changed)] = policy::mix_settled_ns(world.now_ns);
        }
        self.arriving[other] = Some(task);
        self.asked.push(other);
        if let Some(theirs) = world.cpus[other].running {
            self.sent_to[theirs] = Some(cpu);
        }
        true
    }

    /// Whether a task that would go on alone leaves its CPU for a moment, so that its registers
    /// show what it is: if so, it comes back at once.
    pub(super) fn airs(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        let stays = self.stays[cpu].filter(|&(stays, _)| stays == task);
        let Some((_, since_ns)) = stays else { return false };
        let airs = self.reads_registers
            && !self.parts.without_airing
            && self.beside(world, cpu).is_some()
            && policy::airs(world.now_ns - since_ns);
        if airs {
            self.stays[cpu] = None;
            self.arriving[cpu] = Some(task);
            self.asked.push(cpu);
        }
        airs
    }

    fn is_settling(&self, world: &World, cpu: usize) -> bool {
        self.settled_ns[world.topology.core_of(cpu)] > world.now_ns
    }

    /// What is gained, in permille of a CPU's speed, if a task goes to another CPU and what runs
    /// there comes here.
    fn gain(&self, world: &World, cpu: usize, task: usize, other: usize) -> Option<u32> {
        let allows =
            |task: usize, cpu: usize| world.affinities.masks[world.tasks[task].mask].contains(cpu);
        if !allows(task, other) || self.arriving[other].is_some() || self.is_settling(world, other)
        {
            return None;
        }
        let level = self.level(task, world.now_ns);
        let (here, there) = (self.beside(world, cpu), self.beside(world, other));
        let loss = |level, beside| Self::loss_permille(world, cpu, level, beside);
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
            None if !world.idle.contains(other) || self.quiet[other].is_some() => return None,
            None => {}
        }
        policy::mix_swaps(before, after).then(|| before - after)
    }

    /// A preempted task that changes its place is not queued: whether it is on its way.
    pub(super) fn is_sent(&mut self, task: usize) -> bool {
        let Some(to) = self.sent_to[task].take() else { return false };
        if self.arriving[to].is_some() {
            return false;
        }
        self.arriving[to] = Some(task);
        self.asked.push(to);
        true
    }

    pub(super) fn sleeps(&mut self, world: &World, cpu: usize, task: usize) {
        self.sent_to[task] = None;
        self.stays[cpu] = None;
        self.deficits[task].sleeps(world.now_ns);
    }

    /// A task wakes, and is placed so much later than it had been.
    pub(super) fn wakes(&mut self, world: &World, task: usize, later_ns: u64) {
        self.deficits[task].wakes(later_ns, world.now_ns);
    }

    pub(super) fn arrived(&mut self, cpu: usize) -> Option<usize> {
        self.arriving[cpu].take()
    }

    pub(super) fn take_asked(&mut self, cpus: &mut Vec<usize>) {
        cpus.append(&mut self.asked);
    }
}

fn siblings(world: &World, cpu: usize) -> impl Iterator<Item = usize> {
    let core = world.topology.core_of(cpu);
    world.topology.cpus_of_core(core).filter(move |&sibling| sibling != cpu)
}
