//! `fair-specialize`: virtual time with refunds and bills, and wide tasks on wide cores alone.
//!
//! Which cores are wide follows from virtual times: a core becomes wide where waiting wide tasks
//! are behind waiting narrow ones, and narrow where they are ahead (`evenkeel/specialize.h`).

use policy::{KindVtimes, Rank, TaskKind};

use super::{Fair, Queue};
use crate::config::{Compensation, Newcomers, Queues, Specialization};
use crate::error::SimError;
use crate::outcome::SpecializationCounts;
use crate::sched::Wake;
use crate::sched::specialize::{Rule, Specialize};
use crate::task::Stop;
use crate::timers::NEVER;
use crate::world::World;

/// Kinds of task, each with queues of its own.
const KINDS: usize = 3;

/// Kinds of cores and tasks, and who waits.
pub(super) struct Specialized {
    specialize: Specialize,
    /// CPUs that must choose again.
    kicked: Vec<usize>,
    /// Since when some wide task has waited at any time.
    wide_waits_since_ns: Option<u64>,
    /// Since when some narrow CPU has idled, as far as CPUs that chose could see.
    narrow_idles_since_ns: Option<u64>,
    timer_fired_ns: u64,
}

impl Specialized {
    pub(super) fn wakes(&mut self, task: usize, wake: Wake, world: &World) {
        let by_cpu = if let Wake::New { by_cpu } = wake { by_cpu } else { None };
        self.specialize.wakes(task, by_cpu.and_then(|cpu| world.cpus[cpu].running));
    }

    /// A task is queued; the kind decides the queue.
    pub(super) fn enqueues(&mut self, world: &World, task: usize) -> TaskKind {
        let kind = self.specialize.kind_of(world, task);
        if kind == TaskKind::Wide {
            self.wide_waits_since_ns.get_or_insert(world.now_ns);
        }
        kind
    }

    /// A CPU takes a task; returns the length of its slice.
    pub(super) fn starts(&mut self, world: &World, cpu: usize, task: usize, slice_ns: u64) -> u64 {
        self.specialize.starts(world, cpu, task);
        self.specialize.slice_ns(task, slice_ns)
    }

    pub(super) fn stops(&mut self, world: &World, task: usize, stop: Stop) {
        self.specialize.stops(world.now_ns, task);
        if stop != Stop::Preempted {
            self.specialize.leaves(task);
        }
    }

    /// A task called the kernel. One that becomes narrow on a wide CPU has no longer priority.
    pub(super) fn calls_kernel(&mut self, world: &World, cpu: usize, task: usize) {
        if self.specialize.calls_kernel(world.now_ns, task)
            && self.specialize.rank(world, cpu, task) == Rank::Second
        {
            self.kicked.push(cpu);
        }
    }

    /// The best idle CPU for a task, which depends on its kind.
    pub(super) fn idle_cpu(&self, world: &World, task: usize, near: usize) -> Option<usize> {
        let home = self.specialize.home(world, task);
        let at_home = home.and_then(|home| world.idle_cpu_within(home, near));
        let is_bound = self.specialize.kind_of(world, task) == TaskKind::Wide;
        at_home.or_else(|| if is_bound { None } else { world.idle_cpu_near(task, near) })
    }

    /// A narrow CPU chooses, and idles or not: notes whether any narrow CPU idles.
    fn note_idle(&mut self, world: &World, idles: bool) {
        if idles || self.specialize.narrow_cpu_idles(world) {
            self.narrow_idles_since_ns.get_or_insert(world.now_ns);
        } else {
            self.narrow_idles_since_ns = None;
        }
    }

    /// For how long some narrow CPU has idled and some wide task has waited.
    fn wasted_ns(&self, now_ns: u64) -> u64 {
        let both = self.wide_waits_since_ns.zip(self.narrow_idles_since_ns);
        both.map_or(0, |(waits_ns, idles_ns)| now_ns - waits_ns.max(idles_ns))
    }

    /// When a narrow CPU that idles has to choose again: an idle CPU asks nothing by itself.
    pub(super) fn timer_ns(&self) -> Option<u64> {
        let (waits_ns, idles_ns) = self.wide_waits_since_ns.zip(self.narrow_idles_since_ns)?;
        let since_ns = waits_ns.max(idles_ns).max(self.timer_fired_ns);
        let wasted_ns = since_ns + policy::WIDE_CORE_IDLE_NS + 1;
        self.specialize.may_add_ns().map(|may_ns| may_ns.max(wasted_ns))
    }

    pub(super) fn timer_fires(&mut self, world: &World) {
        self.timer_fired_ns = world.now_ns;
        let is_narrow = |&cpu: &usize| !self.specialize.is_wide_cpu(&world.topology, cpu);
        match world.idle.iter().find(is_narrow) {
            Some(cpu) => self.kicked.push(cpu),
            None => self.narrow_idles_since_ns = None,
        }
    }

    pub(super) fn take_kicked(&mut self, cpus: &mut Vec<usize>) {
        cpus.append(&mut self.kicked);
    }

    pub(super) fn counts(&self, now_ns: u64) -> SpecializationCounts {
        self.specialize.counts(now_ns)
    }
}

impl Fair {
    /// Isolation, with queues for each kind of task.
    pub(crate) fn specialized(world: &World, settings: Specialization) -> Result<Self, SimError> {
        let specialize = Specialize::new(world, settings, Rule::Lags)?;
        let mut fair = Self::new(world, Compensation::Isolation, Queues::Global, Newcomers::Floor);
        fair.levels = KINDS;
        let by_kind = |queue: &Queue| vec![queue.clone(); KINDS];
        fair.queues[0] = fair.queues[0].iter().flat_map(by_kind).collect();
        fair.specialized = Some(Specialized {
            specialize,
            kicked: Vec::new(),
            wide_waits_since_ns: None,
            narrow_idles_since_ns: None,
            timer_fired_ns: 0,
        });
        Ok(fair)
    }

    /// The least virtual time of two kinds that a CPU may take, and its queue.
    fn least_of(&self, world: &World, cpu: usize, kinds: [TaskKind; 2]) -> Option<(u64, usize)> {
        self.heads(world, cpu, 0)
            .filter(|&(.., level)| kinds.iter().any(|&kind| kind as u8 == level))
            .map(|(head, queue, _)| (head, queue))
            .min()
    }

    /// The least virtual time of a kind that waits, on any CPU.
    fn least_waiting_ns(&self, kind: TaskKind) -> u64 {
        let queues = self.queues[0].iter().skip(kind as usize).step_by(KINDS);
        queues.map(|queue| queue.heads.first().0).min().unwrap_or(NEVER)
    }

    /// Least virtual time of the wide tasks that run.
    fn least_running_wide_ns(&self, world: &World) -> u64 {
        let is_wide = |&task: &usize| self.kind_of(world, task) == TaskKind::Wide;
        let wide = world.cpus.iter().filter_map(|cpu| cpu.running).filter(is_wide);
        wide.map(|task| self.vtime[task]).min().unwrap_or(KindVtimes::NONE_NS)
    }

    fn kind_of(&self, world: &World, task: usize) -> TaskKind {
        let specialized = self.specialized.as_ref();
        specialized.map_or(TaskKind::Default, |it| it.specialize.kind_of(world, task))
    }

    /// The queue to take from on a CPU, whose core may change its kind first.
    pub(super) fn choose_specialized(&mut self, world: &World, cpu: usize) -> Option<usize> {
        let is_wide = self.specialized.as_ref()?.specialize.is_wide_cpu(&world.topology, cpu);
        let queue = if is_wide {
            self.choose_on_wide(world, cpu)
        } else {
            self.choose_on_narrow(world, cpu)
        }?;
        self.note_wide_waits(queue);
        Some(queue)
    }

    fn choose_on_wide(&mut self, world: &World, cpu: usize) -> Option<usize> {
        let first = self.least_of(world, cpu, [TaskKind::Default, TaskKind::Wide]);
        let narrow = self.least_of(world, cpu, [TaskKind::Narrow; 2]);
        let Some((narrow_ns, narrow_queue)) = narrow else { return first.map(|(_, queue)| queue) };
        let wide_ns = first.map_or_else(|| self.least_running_wide_ns(world), |(head, _)| head);
        let vtimes = KindVtimes { wide_ns, narrow_ns };
        let specialize = &mut self.specialized.as_mut()?.specialize;
        if let Some(core) = specialize.removes_by_lag(world, cpu, vtimes) {
            self.core_changed(world, cpu, core);
            return if core == world.topology.core_of(cpu) {
                Some(narrow_queue)
            } else {
                self.choose_on_wide(world, cpu)
            };
        }
        match first {
            Some((_, queue)) if !specialize.narrow_first(vtimes) => Some(queue),
            Some(_) => Some(narrow_queue),
            None if self.sends_home(world, cpu, narrow_queue) => None,
            None => Some(narrow_queue),
        }
    }

    fn choose_on_narrow(&mut self, world: &World, cpu: usize) -> Option<usize> {
        let narrow = self.least_of(world, cpu, [TaskKind::Default, TaskKind::Narrow]);
        let wide = self.least_of(world, cpu, [TaskKind::Wide; 2]);
        let head_ns = |of: Option<(u64, usize)>| of.map_or(KindVtimes::NONE_NS, |(head, _)| head);
        let vtimes = KindVtimes { wide_ns: head_ns(wide), narrow_ns: head_ns(narrow) };
        let specialized = self.specialized.as_mut()?;
        specialized.note_idle(world, narrow.is_none());
        let wasted_ns = specialized.wasted_ns(world.now_ns);
        if let Some(core) = specialized.specialize.adds_by_lag(world, cpu, vtimes, wasted_ns) {
            self.core_changed(world, cpu, core);
            if core != world.topology.core_of(cpu) {
                return self.choose_on_narrow(world, cpu);
            }
            let first = self.least_of(world, cpu, [TaskKind::Default, TaskKind::Wide]);
            return first.or(narrow).map(|(_, queue)| queue);
        }
        let (_, queue) = narrow?;
        self.kick_idle_wide(world);
        Some(queue)
    }

    /// A narrow task that a wide CPU would run goes to an idle narrow CPU instead.
    fn sends_home(&mut self, world: &World, cpu: usize, queue: usize) -> bool {
        let (_, slot) = self.queues[0][queue].heads.first();
        let task = self.queues[0][queue].tasks[slot];
        let near = world.tasks[task].last_cpu.unwrap_or(cpu);
        let Some(specialized) = &mut self.specialized else { return false };
        let home = specialized.specialize.home(world, task);
        let idle = home.and_then(|home| world.idle_cpu_within(home, near));
        specialized.kicked.extend(idle);
        idle.is_some()
    }

    /// A narrow CPU took a task; where tasks still wait, so that the CPU took another task than
    /// that for which it was woken, an idle wide CPU takes one.
    fn kick_idle_wide(&mut self, world: &World) {
        if self.waiting[0] <= 1 || world.idle.is_empty() {
            return;
        }
        let Some(specialized) = &mut self.specialized else { return };
        let is_wide = |&cpu: &usize| specialized.specialize.is_wide_cpu(&world.topology, cpu);
        specialized.kicked.extend(world.idle.iter().find(is_wide));
    }

    /// The head of a queue is about to be taken: notes whether wide tasks still wait.
    fn note_wide_waits(&mut self, taken: usize) {
        let heads = |queue: &Queue| queue.heads.first().0 != NEVER;
        let wide = self.queues[0].iter().enumerate().skip(TaskKind::Wide as usize).step_by(KINDS);
        let mut waiting = wide.filter(|(_, queue)| heads(queue)).map(|(number, _)| number);
        let (first, second) = (waiting.next(), waiting.next());
        let is_last = first == Some(taken) && second.is_none() && {
            let (_, slot) = self.queues[0][taken].heads.first();
            let heads = &self.queues[0][taken].heads;
            (0..self.queues[0][taken].tasks.len()).all(|at| at == slot || heads.get(at) == NEVER)
        };
        if (first.is_none() || is_last)
            && let Some(specialized) = &mut self.specialized
        {
            specialized.wide_waits_since_ns = None;
        }
    }

    /// A core has another kind; a CPU asked for that.
    fn core_changed(&mut self, world: &World, cpu: usize, core: usize) {
        self.requeue_wide(world);
        let wide_waits = self.least_waiting_ns(TaskKind::Wide) != NEVER;
        let Some(Specialized { specialize, kicked, .. }) = &mut self.specialized else { return };
        kicked.extend(specialize.cpus_that_choose(world, core, cpu, wide_waits));
    }

    /// Queued wide tasks whose affinity gained or lost its last wide CPU change queues.
    fn requeue_wide(&mut self, world: &World) {
        if world.affinities.masks.len() > 1 {
            self.requeue(world, &[TaskKind::Default, TaskKind::Wide]);
        }
    }

    /// An operator switches specialization off or on; all CPUs choose again.
    pub(super) fn switch(&mut self, world: &World, is_on: bool) -> bool {
        let Some(specialized) = &mut self.specialized else { return false };
        specialized.specialize.switch(is_on);
        specialized.kicked.extend(0..world.topology.cpus);
        self.requeue(world, &[TaskKind::Narrow, TaskKind::Default, TaskKind::Wide]);
        let waits = self.least_waiting_ns(TaskKind::Wide) != NEVER;
        if let Some(specialized) = &mut self.specialized {
            specialized.wide_waits_since_ns = waits.then_some(world.now_ns);
        }
        true
    }

    /// Tasks in queues of these kinds that are of another kind now change queues.
    fn requeue(&mut self, world: &World, kinds: &[TaskKind]) {
        for first in (0..self.queues[0].len()).step_by(KINDS) {
            for &from in kinds {
                for slot in 0..self.queues[0][first].tasks.len() {
                    let queue = &self.queues[0][first + from as usize];
                    let head = queue.heads.get(slot);
                    let kind = self.kind_of(world, queue.tasks[slot]);
                    if head != NEVER && kind != from {
                        self.queues[0][first + from as usize].heads.set(slot, NEVER);
                        self.queues[0][first + kind as usize].heads.set(slot, head);
                    }
                }
            }
        }
    }

    /// The nearest CPU that would choose a waking task.
    pub(super) fn preemptable_specialized(
        &self,
        world: &World,
        task: usize,
        near: usize,
    ) -> Option<usize> {
        let specialize = &self.specialized.as_ref()?.specialize;
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let limit = self.preempt_limit(world, task);
        let cpus = world.topology.cpus;
        let mut nearest = (0..cpus).map(|step| (near + step) % cpus);
        nearest.find(|&cpu| {
            let Some(running) = world.cpus[cpu].running.filter(|_| mask.contains(cpu)) else {
                return false;
            };
            let own = specialize.rank(world, cpu, task);
            let other = specialize.rank(world, cpu, running);
            own != Rank::Never
                && (own < other || (own == other && self.is_ahead(world, cpu, running, limit)))
        })
    }

    /// A task that must leave its CPU preempts one elsewhere, if no CPU idles for it.
    pub(super) fn find_place_for(&mut self, world: &World, cpu: usize, task: usize) {
        let Some(specialized) = &self.specialized else { return };
        let must_leave = specialized.specialize.rank(world, cpu, task) == Rank::Never;
        if !must_leave || specialized.idle_cpu(world, task, cpu).is_some() {
            return;
        }
        let victim = self.preemptable_specialized(world, task, cpu);
        if let Some(specialized) = &mut self.specialized {
            specialized.kicked.extend(victim);
        }
    }

    /// A task is about to use the widest registers.
    pub(super) fn fault(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        let Some(specialized) = &mut self.specialized else { return false };
        let faults = specialized.specialize.faults(world, cpu, task);
        if faults && specialized.specialize.rank(world, cpu, task) == Rank::Never {
            specialized.kicked.push(cpu);
        }
        faults
    }
}
