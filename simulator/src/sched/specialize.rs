//! Core specialization (D 6.2): the kind of each core and task, and when they change.
//!
//! The headers `evenkeel/specialize.h` and `evenkeel/wide_phase.h` decide; this is what they have
//! to know. Queues are the scheduler's. `docs/decisions/0038` has what D leaves open.

use policy::{KindVtimes, Kinds, Rank, TaskKind, WIDE_PHASE_TIMEOUT_NS, WidePhase};

use crate::config::{PhaseEnd, Specialization};
use crate::error::SimError;
use crate::outcome::SpecializationCounts;
use crate::task::State;
use crate::topology::{Mask, Topology};
use crate::world::World;

#[derive(Clone, Copy, Debug)]
struct Task {
    /// Whether specialization concerns the task; it is a default task otherwise.
    is_enrolled: bool,
    /// Whether the task is wide, and since when.
    phase: WidePhase,
    /// Until when its CPU time is booked, while it runs.
    booked_ns: u64,
    /// Whether it used wide registers since its wide phase began or was renewed.
    used_widest: bool,
    /// Whether it has left a CPU.
    has_left: bool,
}

/// The CPUs of an affinity mask by the kind of their core.
#[derive(Clone, Debug)]
struct Places {
    wide: Mask,
    narrow: Mask,
}

/// What decides how many cores are wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Numbers of runnable tasks, as D has it.
    Loads,
    /// Virtual times. The fallback timeout of a wide phase is renewed while the task uses wide
    /// registers: else a task without system calls counts as narrow on a wide core, unseen.
    Lags,
}

/// The kinds of all cores and tasks.
pub(crate) struct Specialize {
    settings: Specialization,
    rule: Rule,
    /// Whether an operator switched specialization off: then tasks are of the default kind, and
    /// neither they nor cores change.
    is_off: bool,
    tasks: Vec<Task>,
    /// By core.
    is_wide: Vec<bool>,
    /// By affinity mask.
    places: Vec<Places>,
    kinds: Kinds,
    /// Runnable tasks that specialization does not concern: no load counts them (D 6.2.1).
    default_tasks: u32,
    /// The last change of any core.
    changed_ns: Option<u64>,
    counts: SpecializationCounts,
    /// Until when `counts.wide_core_ns` is booked.
    booked_ns: u64,
}

impl Specialize {
    /// All tasks are narrow, and so are all cores but the last ones, slow ones before others.
    pub(crate) fn new(
        world: &World,
        settings: Specialization,
        rule: Rule,
    ) -> Result<Self, SimError> {
        let cores = world.topology.cores as u32;
        let wide_cores = settings.wide_cores.unwrap_or(1);
        if wide_cores == 0 || (wide_cores >= cores && cores > 1) {
            return Err(SimError::Machine(format!(
                "{wide_cores} wide cores; of the machine's {cores} cores at least one is wide and \
                 one is narrow"
            )));
        }
        let narrow_cores = cores.saturating_sub(wide_cores);
        let mut order: Vec<usize> = (0..world.topology.cores).collect();
        order.sort_by_key(|&core| world.clocks.is_slow(core));
        let mut is_wide = vec![false; order.len()];
        for &core in &order[narrow_cores as usize..] {
            is_wide[core] = true;
        }
        let task = |task: &crate::task::Task| Task {
            is_enrolled: task.is_enrolled,
            phase: WidePhase::default(),
            booked_ns: 0,
            used_widest: false,
            has_left: false,
        };
        let mut specialize = Self {
            settings,
            rule,
            is_off: false,
            tasks: world.tasks.iter().map(task).collect(),
            is_wide,
            places: Vec::new(),
            kinds: Kinds { wide_cores, narrow_cores, ..Kinds::default() },
            default_tasks: 0,
            changed_ns: None,
            counts: SpecializationCounts::default(),
            booked_ns: 0,
        };
        specialize.find_places(world);
        Ok(specialize)
    }

    fn find_places(&mut self, world: &World) {
        let places = |mask: &Mask| {
            let of_kind = |is_wide: bool| {
                let mut cpus = Mask::empty(world.topology.cpus);
                let is_of_kind = |cpu: &usize| self.is_wide_cpu(&world.topology, *cpu) == is_wide;
                mask.iter().filter(is_of_kind).for_each(|cpu| cpus.insert(cpu));
                cpus
            };
            Places { wide: of_kind(true), narrow: of_kind(false) }
        };
        self.places = world.affinities.masks.iter().map(places).collect();
    }

    pub(crate) fn is_wide_cpu(&self, topology: &Topology, cpu: usize) -> bool {
        self.is_wide[topology.core_of(cpu)]
    }

    /// The kind by which a task is queued: a wide task whose affinity has no wide CPU runs where
    /// default tasks run, as it would starve otherwise.
    pub(crate) fn kind_of(&self, world: &World, task: usize) -> TaskKind {
        if self.is_off || !self.tasks[task].is_enrolled {
            TaskKind::Default
        } else if !self.tasks[task].phase.is_wide() {
            TaskKind::Narrow
        } else if self.places[world.tasks[task].mask].wide.is_empty() {
            TaskKind::Default
        } else {
            TaskKind::Wide
        }
    }

    pub(crate) fn rank(&self, world: &World, cpu: usize, task: usize) -> Rank {
        let kind = self.kind_of(world, task);
        policy::rank(self.is_wide_cpu(&world.topology, cpu), kind)
    }

    /// Switches specialization off, or on again; queued tasks have other kinds then.
    pub(crate) fn switch(&mut self, is_on: bool) {
        self.is_off = !is_on;
    }

    /// The CPUs that are best for a task, before the other CPUs that it may use: narrow ones for a
    /// narrow task. `None`: all that its affinity allows.
    pub(crate) fn home(&self, world: &World, task: usize) -> Option<&Mask> {
        let places = &self.places[world.tasks[task].mask];
        match self.kind_of(world, task) {
            TaskKind::Default => None,
            TaskKind::Narrow => Some(&places.narrow),
            TaskKind::Wide => Some(&places.wide),
        }
    }

    /// A task became runnable; one that is new inherits the phase of the task that forked it.
    pub(crate) fn wakes(&mut self, task: usize, parent: Option<usize>) {
        if let Some(parent) = parent.filter(|_| self.tasks[task].is_enrolled) {
            self.tasks[task].phase = WidePhase { ran_ns: 0, ..self.tasks[parent].phase };
        }
        *self.count(task) += 1;
    }

    /// A task is no longer runnable.
    pub(crate) fn leaves(&mut self, task: usize) {
        *self.count(task) -= 1;
    }

    fn count(&mut self, task: usize) -> &mut u32 {
        if !self.tasks[task].is_enrolled {
            &mut self.default_tasks
        } else if self.tasks[task].phase.is_wide() {
            &mut self.kinds.wide_tasks
        } else {
            &mut self.kinds.narrow_tasks
        }
    }

    /// Changes the phase of a runnable task.
    fn change_phase(&mut self, task: usize, change: impl FnOnce(&mut WidePhase)) {
        *self.count(task) -= 1;
        change(&mut self.tasks[task].phase);
        *self.count(task) += 1;
    }

    /// A CPU takes a task.
    pub(crate) fn starts(&mut self, world: &World, cpu: usize, task: usize) {
        self.tasks[task].booked_ns = world.now_ns;
        let is_wide_cpu = self.is_wide_cpu(&world.topology, cpu);
        if !self.is_off && self.tasks[task].phase.is_wide() && !is_wide_cpu {
            self.counts.misplaced_slices += 1;
        }
    }

    /// Length of a slice that a timeout may cut short.
    pub(crate) fn slice_ns(&self, task: usize, slice_ns: u64) -> u64 {
        let phase = &self.tasks[task].phase;
        if self.is_off || !phase.is_wide() {
            return slice_ns;
        }
        slice_ns.min(phase.left_ns(WIDE_PHASE_TIMEOUT_NS).max(1))
    }

    /// The slice of a task ends.
    pub(crate) fn stops(&mut self, now_ns: u64, task: usize) {
        self.book(now_ns, task);
        self.tasks[task].has_left = true;
        let renews_by_use =
            self.settings.phase_end == PhaseEnd::RenewedTimeout || self.rule == Rule::Lags;
        let phase = &self.tasks[task].phase;
        if self.is_off || !phase.is_wide() || phase.left_ns(WIDE_PHASE_TIMEOUT_NS) > 0 {
            return;
        }
        let renews = renews_by_use && std::mem::take(&mut self.tasks[task].used_widest);
        self.change_phase(task, |phase| phase.times_out(renews));
        self.counts.ended_by_timeout += u64::from(!renews);
    }

    fn book(&mut self, now_ns: u64, task: usize) {
        let subject = &mut self.tasks[task];
        subject.phase.ran(now_ns - subject.booked_ns);
        subject.booked_ns = now_ns;
    }

    /// A running task is about to use the widest registers. `true`: that faults, and the task is
    /// wide from now on.
    pub(crate) fn faults(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        let subject = &mut self.tasks[task];
        subject.used_widest = true;
        let is_hidden = world.config.sensor_faults.lazy_binding && !subject.has_left;
        let is_concerned = !self.is_off && subject.is_enrolled && !is_hidden;
        if !is_concerned || subject.phase.is_wide() || self.is_wide_cpu(&world.topology, cpu) {
            return false;
        }
        self.book(world.now_ns, task);
        self.change_phase(task, WidePhase::begins);
        self.counts.faults += 1;
        true
    }

    /// A running task called the kernel. `true`: it is narrow from now on.
    pub(crate) fn calls_kernel(&mut self, now_ns: u64, task: usize) -> bool {
        let ends = !self.is_off
            && self.settings.phase_end == PhaseEnd::SystemCall
            && self.tasks[task].phase.ends_by_call(self.settings.keeps_short_phases);
        if ends {
            self.book(now_ns, task);
            self.change_phase(task, WidePhase::ends);
            self.counts.ended_by_call += 1;
        }
        ends
    }

    /// Whether some narrow core has an idle CPU.
    pub(crate) fn narrow_cpu_idles(&self, world: &World) -> bool {
        world.idle.iter().any(|cpu| !self.is_wide_cpu(&world.topology, cpu))
    }

    /// A core becomes wide, if the loads ask for that when the CPU of a narrow core asks. Returns
    /// the core.
    pub(crate) fn adds(
        &mut self,
        world: &World,
        cpu: usize,
        narrow_cpu_idles: bool,
    ) -> Option<usize> {
        let adds = self.may_change(world.now_ns) && self.kinds.adds(narrow_cpu_idles);
        adds.then(|| self.change(world, cpu, true))
    }

    /// A core becomes narrow, if the loads ask for that when the CPU of a wide core asks.
    pub(crate) fn removes(&mut self, world: &World, cpu: usize) -> Option<usize> {
        let removes = self.may_change(world.now_ns) && self.kinds.removes();
        removes.then(|| self.change(world, cpu, false))
    }

    /// A core becomes wide, if virtual times of tasks that wait ask for that.
    pub(crate) fn adds_by_lag(
        &mut self,
        world: &World,
        cpu: usize,
        vtimes: KindVtimes,
        wasted_ns: u64,
    ) -> Option<usize> {
        let adds = self.may_change(world.now_ns) && self.kinds.adds_by_lag(vtimes, wasted_ns);
        adds.then(|| self.change(world, cpu, true))
    }

    /// A core becomes narrow, if virtual times ask for that.
    pub(crate) fn removes_by_lag(
        &mut self,
        world: &World,
        cpu: usize,
        vtimes: KindVtimes,
    ) -> Option<usize> {
        let removes = self.may_change(world.now_ns) && self.kinds.removes_by_lag(vtimes);
        removes.then(|| self.change(world, cpu, false))
    }

    /// When a narrow core may become wide by virtual time; `None`: no narrow core is left, or their
    /// number is fixed.
    pub(crate) fn may_add_ns(&self) -> Option<u64> {
        let may = !self.is_off && self.settings.wide_cores.is_none() && self.kinds.narrow_cores > 0;
        let after = |changed_ns| changed_ns + policy::CORE_CHANGE_LAG_INTERVAL_NS + 1;
        may.then(|| self.changed_ns.map_or(0, after))
    }

    /// Whether a wide core runs a narrow task though a wide one waits.
    pub(crate) fn narrow_first(&self, vtimes: KindVtimes) -> bool {
        self.kinds.narrow_first(vtimes)
    }

    /// The CPUs of a core that changed its kind that choose again, other than the one that chooses
    /// now: where their task must leave, or a wide task waits and goes first.
    pub(crate) fn cpus_that_choose(
        &self,
        world: &World,
        core: usize,
        chooses: usize,
        wide_waits: bool,
    ) -> impl Iterator<Item = usize> {
        world.topology.cpus_of_core(core).filter(move |&other| {
            let rank = world.cpus[other].running.map(|task| self.rank(world, other, task));
            other != chooses
                && match rank {
                    Some(Rank::Never) => true,
                    Some(Rank::First) => false,
                    Some(Rank::Second) | None => wide_waits,
                }
        })
    }

    fn may_change(&self, now_ns: u64) -> bool {
        let interval_ns = match self.rule {
            Rule::Loads => policy::CORE_CHANGE_INTERVAL_NS,
            Rule::Lags => policy::CORE_CHANGE_LAG_INTERVAL_NS,
        };
        let may = |changed_ns| policy::may_change_cores(now_ns, changed_ns, interval_ns);
        !self.is_off && self.settings.wide_cores.is_none() && self.changed_ns.is_none_or(may)
    }

    /// The core that changes its kind when a CPU asks: its own, or a preferred one that serves the
    /// same tasks, with an idle CPU where possible.
    fn core_to_change(&self, world: &World, cpu: usize, becomes_wide: bool) -> usize {
        let own = world.topology.core_of(cpu);
        let prefers = |core: usize| {
            self.is_wide[core] != becomes_wide
                && policy::prefers_core(becomes_wide, world.clocks.is_slow(core))
        };
        if prefers(own) {
            return own;
        }
        let served = self.masks_served(world, cpu, becomes_wide);
        let serves = |core: usize, mask: &Mask| {
            world.topology.cpus_of_core(core).any(|cpu| mask.contains(cpu))
        };
        let idles = |core| world.topology.cpus_of_core(core).any(|cpu| world.idle.contains(cpu));
        let cores = world.topology.cores;
        let nearest = (0..cores).map(|step| (own + step) % cores).filter(|&core| prefers(core));
        nearest
            .filter(|&core| served.iter().all(|mask| serves(core, mask)))
            .min_by_key(|&core| !idles(core))
            .unwrap_or(own)
    }

    /// The affinity masks of the tasks for which a CPU asks for a core of another kind: of those
    /// that wait, and of its own.
    fn masks_served<'a>(&self, world: &'a World, cpu: usize, wide: bool) -> Vec<&'a Mask> {
        let waits = |(number, task): (usize, &crate::task::Task)| {
            let subject = &self.tasks[number];
            let is_of_kind = subject.is_enrolled && subject.phase.is_wide() == wide;
            let is_there = task.state == State::Runnable || task.state == State::Running(cpu);
            let mask = &world.affinities.masks[task.mask];
            (is_of_kind && is_there && mask.contains(cpu)).then_some(mask)
        };
        world.tasks.iter().enumerate().filter_map(waits).collect()
    }

    fn change(&mut self, world: &World, cpu: usize, becomes_wide: bool) -> usize {
        let core = self.core_to_change(world, cpu, becomes_wide);
        self.book_cores(world.now_ns);
        self.changed_ns = Some(world.now_ns);
        self.counts.core_changes += 1;
        let Kinds { wide_cores, narrow_cores, .. } = &mut self.kinds;
        let (to, from) =
            if becomes_wide { (wide_cores, narrow_cores) } else { (narrow_cores, wide_cores) };
        *to += 1;
        *from -= 1;
        self.is_wide[core] = becomes_wide;
        self.find_places(world);
        core
    }

    fn book_cores(&mut self, now_ns: u64) {
        self.counts.wide_core_ns += (now_ns - self.booked_ns) * u64::from(self.kinds.wide_cores);
        self.booked_ns = now_ns;
    }

    /// Counts until now.
    pub(crate) fn counts(&self, now_ns: u64) -> SpecializationCounts {
        let since_ns = (now_ns - self.booked_ns) * u64::from(self.kinds.wide_cores);
        SpecializationCounts { wide_core_ns: self.counts.wide_core_ns + since_ns, ..self.counts }
    }
}
