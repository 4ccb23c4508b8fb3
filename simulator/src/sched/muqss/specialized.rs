//! MuQSS with core specialization, as the prototype of the dissertation (D 6.3.2): queues for each
//! kind of task, and in which order a CPU takes from them.

use policy::{Rank, TaskKind};

use super::{Entry, Muqss};
use crate::config::{RqSharing, Specialization};
use crate::error::SimError;
use crate::sched::specialize::{Rule, Specialize};
use crate::task::Stop;
use crate::world::World;

impl Muqss {
    /// The siblings of a core share run queues, and each CPU looks at all of them (D 6.3.1).
    pub(crate) fn specialized(world: &World, settings: Specialization) -> Result<Self, SimError> {
        let specialize = Specialize::new(world, settings, Rule::Loads)?;
        Ok(Self { specialize: Some(specialize), ..Self::new(world, RqSharing::Smt, true) })
    }

    /// The kind, queue and entry to run next on a CPU, whose core may change its kind first.
    pub(super) fn earliest_specialized(
        &mut self,
        world: &World,
        cpu: usize,
    ) -> Option<(TaskKind, usize, Entry)> {
        let specialize = self.specialize.as_mut()?;
        if specialize.is_wide_cpu(&world.topology, cpu) {
            let first = self.earliest_of(world, cpu, [TaskKind::Default, TaskKind::Wide]);
            if first.is_some() {
                return first;
            }
            let second = self.earliest_of(world, cpu, [TaskKind::Narrow; 2]);
            let (.., (.., task)) = second?;
            if let Some(core) = self.specialize.as_mut()?.removes(world, cpu) {
                self.core_changed(world, cpu, core);
                return if core == world.topology.core_of(cpu) {
                    second
                } else {
                    self.earliest_specialized(world, cpu)
                };
            }
            return if self.sends_home(world, task) { None } else { second };
        }
        let narrow = self.earliest_of(world, cpu, [TaskKind::Default, TaskKind::Narrow]);
        let specialize = self.specialize.as_mut()?;
        let idles = narrow.is_none() || specialize.narrow_cpu_idles(world);
        if let Some(core) = specialize.adds(world, cpu, idles) {
            self.core_changed(world, cpu, core);
            if core != world.topology.core_of(cpu) {
                return self.earliest_specialized(world, cpu);
            }
            let first = self.earliest_of(world, cpu, [TaskKind::Default, TaskKind::Wide]);
            return first.or_else(|| self.earliest_of(world, cpu, [TaskKind::Narrow; 2]));
        }
        if let Some((kind, ..)) = narrow {
            self.kick_idle_wide(world, kind);
        }
        narrow
    }

    /// The earliest of two kinds.
    fn earliest_of(
        &self,
        world: &World,
        cpu: usize,
        kinds: [TaskKind; 2],
    ) -> Option<(TaskKind, usize, Entry)> {
        let of_kind = |kind| {
            let earliest = self.earliest(world, cpu, kind);
            earliest.map(|(queue, entry)| (kind, queue, entry))
        };
        kinds.into_iter().filter_map(of_kind).min_by_key(|&(.., entry)| entry)
    }

    /// Whether a task is to run before the one that runs on a CPU. `limit`: the lateness below
    /// which the deadline of that one is later.
    pub(super) fn is_before_running(
        &self,
        world: &World,
        cpu: usize,
        task: usize,
        limit: u64,
    ) -> bool {
        let Some(running) = world.cpus[cpu].running else { return false };
        let (own, other) = (self.rank(world, cpu, task), self.rank(world, cpu, running));
        own != Rank::Never && (own < other || (own == other && self.running.get(cpu) < limit))
    }

    /// A narrow task that a wide CPU would run goes to an idle narrow CPU instead.
    fn sends_home(&mut self, world: &World, task: usize) -> bool {
        let Some(specialize) = &self.specialize else { return false };
        let home = specialize.home(world, task);
        let cpu = self.tasks[task].cpu;
        let Some(idle) = home.and_then(|home| self.best_idle_of(world, home, cpu)) else {
            return false;
        };
        self.kicked.push(idle);
        true
    }

    /// A narrow CPU took a task; where narrow tasks still wait, so that the CPU took another task
    /// than that for which it was woken, an idle wide CPU takes one.
    fn kick_idle_wide(&mut self, world: &World, kind: TaskKind) {
        let Some(specialize) = &self.specialize else { return };
        let queued = &self.queues[TaskKind::Narrow as usize].entries;
        let waiting: usize = queued.iter().map(|queue| queue.len()).sum();
        if waiting <= usize::from(kind == TaskKind::Narrow) {
            return;
        }
        let is_wide = |&cpu: &usize| specialize.is_wide_cpu(&world.topology, cpu);
        if let Some(cpu) = world.idle.iter().find(is_wide) {
            self.kicked.push(cpu);
        }
    }

    /// A core has another kind: its CPUs but the one that asked choose again where that changes
    /// their choice; queued tasks whose affinity gained or lost its last wide CPU change queues.
    fn core_changed(&mut self, world: &World, cpu: usize, core: usize) {
        self.requeue_wide(world);
        let wide_waits = !self.queues[TaskKind::Wide as usize].is_empty();
        let Some(specialize) = &self.specialize else { return };
        self.kicked.extend(specialize.cpus_that_choose(world, core, cpu, wide_waits));
    }

    fn requeue_wide(&mut self, world: &World) {
        if world.affinities.masks.len() > 1 {
            self.requeue(world, &[TaskKind::Default, TaskKind::Wide]);
        }
    }

    /// An operator switches specialization off or on; all CPUs choose again.
    pub(super) fn switch(&mut self, world: &World, is_on: bool) -> bool {
        let Some(specialize) = &mut self.specialize else { return false };
        specialize.switch(is_on);
        self.requeue(world, &[TaskKind::Narrow, TaskKind::Default, TaskKind::Wide]);
        self.kicked.extend(0..world.topology.cpus);
        true
    }

    /// Tasks in queues of these kinds that are of another kind now change queues.
    fn requeue(&mut self, world: &World, kinds: &[TaskKind]) {
        for &kind in kinds {
            for queue in 0..self.queues[kind as usize].entries.len() {
                let moves = |&(.., task): &Entry| self.kind_of(world, task) != kind;
                let entries = self.queues[kind as usize].entries[queue].iter();
                let moved: Vec<Entry> = entries.copied().filter(moves).collect();
                for entry in moved {
                    let to = self.kind_of(world, entry.2);
                    self.queues[kind as usize].remove(queue, entry);
                    self.queues[to as usize].insert(queue, entry);
                }
            }
        }
    }

    /// The slice of a task ended.
    pub(super) fn stop_specialized(&mut self, world: &World, task: usize, stop: Stop) {
        let Some(specialize) = &mut self.specialize else { return };
        specialize.stops(world.now_ns, task);
        if stop != Stop::Preempted {
            specialize.leaves(task);
        }
    }

    /// A task that must leave its CPU preempts a later one elsewhere. Where a CPU idles, the engine
    /// asks for it ([`crate::sched::Scheduler::idle_cpu_for`]).
    pub(super) fn find_place_for(&mut self, world: &World, cpu: usize, task: usize) {
        let must_leave = self.rank(world, cpu, task) == Rank::Never;
        if !must_leave || self.best_idle(world, task, cpu).is_some() {
            return;
        }
        if let Some(victim) = self.preemptable(world, task, cpu) {
            self.preempting[victim] = Some(task);
            self.kicked.push(victim);
        }
    }

    /// A task is about to use the widest registers.
    pub(super) fn fault(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        let Some(specialize) = &mut self.specialize else { return false };
        if !specialize.faults(world, cpu, task) {
            return false;
        }
        let idles = specialize.narrow_cpu_idles(world);
        if let Some(core) = specialize.adds(world, cpu, idles) {
            self.core_changed(world, cpu, core);
        }
        if self.rank(world, cpu, task) == Rank::Never {
            self.kicked.push(cpu);
        }
        true
    }

    /// A task called the kernel. One that becomes narrow on a wide CPU has no longer priority.
    pub(super) fn call_kernel(&mut self, world: &World, cpu: usize, task: usize) {
        let Some(specialize) = &mut self.specialize else { return };
        if specialize.calls_kernel(world.now_ns, task)
            && self.rank(world, cpu, task) == Rank::Second
        {
            self.kicked.push(cpu);
        }
    }
}
