//! How far may virtual times be apart, and which one does a newcomer get?
//!
//! The formulas are those of `evenkeel/lag.h`, their order that of the kernel scheduler's source
//! (`affinity_group.bpf.h`): each affinity mask has a floor, the greatest virtual time at which
//! one of its tasks was the least on some CPU. Tasks that are new or wake are placed by the
//! floor, and a task that ran is not further behind than a limit. In the source each CPU compares
//! masks on a clock of its own; here all masks share one order, and only a mask without a
//! runnable task starts at the clock of a CPU.

use policy::Deficit;

use super::SLICE_NS;
use crate::sched::Wake;
use crate::world::World;

/// A sleeper is placed this far before the floor, as in the kernel scheduler's source: half of
/// what CFS gives (docs/decisions/0033-one-even.md).
const SLEEPER_CREDIT_NS: u64 = 6_000_000;

/// The virtual time of a task that is new or wakes.
pub(super) fn placed_ns(
    world: &World,
    task: usize,
    wake: &Wake,
    vtime_ns: u64,
    floor_ns: u64,
    deficit: &Deficit,
) -> u64 {
    match wake {
        Wake::New { .. } => {
            let vslice_ns = policy::charge(0, SLICE_NS, 0, 0, world.tasks[task].weight);
            policy::place_new(vtime_ns, floor_ns, vslice_ns)
        }
        Wake::Woken(_) => {
            let credit_ns = deficit.credit_ns(SLEEPER_CREDIT_NS, world.now_ns);
            policy::place_waking(vtime_ns, floor_ns, credit_ns)
        }
    }
}

/// Floors of virtual time.
pub(super) struct Lag {
    /// By group, then by affinity mask: the greatest virtual time at which a task was the least on
    /// some CPU.
    floors_ns: Vec<Vec<u64>>,
    /// By CPU: the same of all masks.
    clocks_ns: Vec<u64>,
    /// By group, then by affinity mask: tasks queued or running.
    runnable: Vec<Vec<usize>>,
    /// By task: whether an idle CPU was woken for the task, which thus is compared with no other.
    is_alone: Vec<bool>,
}

impl Lag {
    pub(super) fn new(world: &World, groups: usize) -> Self {
        let masks = world.affinities.masks.len();
        Self {
            floors_ns: vec![vec![0; masks]; groups],
            clocks_ns: vec![0; world.topology.cpus],
            runnable: vec![vec![0; masks]; groups],
            is_alone: vec![false; world.tasks.len()],
        }
    }

    /// A task becomes runnable in a group.
    pub(super) fn enters(&mut self, world: &World, group: usize, task: usize) {
        self.runnable[group][world.tasks[task].mask] += 1;
    }

    /// A task sleeps, ends, or leaves the group.
    pub(super) fn leaves(&mut self, world: &World, group: usize, task: usize) {
        self.runnable[group][world.tasks[task].mask] -= 1;
    }

    pub(super) fn wakes(&mut self, task: usize, for_idle_cpu: bool) {
        self.is_alone[task] = for_idle_cpu;
    }

    /// A CPU takes a task of its group that goes first.
    pub(super) fn note_least(
        &mut self,
        world: &World,
        cpu: usize,
        (group, task): (usize, usize),
        vtime_ns: u64,
    ) {
        if std::mem::take(&mut self.is_alone[task]) {
            return;
        }
        let floor_ns = &mut self.floors_ns[group][world.tasks[task].mask];
        *floor_ns = vtime_ns.max(*floor_ns);
        self.clocks_ns[cpu] = vtime_ns.max(self.clocks_ns[cpu]);
    }

    /// The floor of a task's mask in a group of CPUs.
    pub(super) fn floor_ns(&self, world: &World, group: usize, task: usize) -> u64 {
        let number = world.tasks[task].mask;
        let floor_ns = self.floors_ns[group][number];
        if self.runnable[group][number] > 0 {
            return floor_ns;
        }
        // No task of the mask competes: it starts where the CPU is whose tasks are least ahead.
        let mask = &world.affinities.masks[number];
        let groups = self.runnable.len();
        let is_of_group = |cpu: &usize| groups == 1 || world.topology.package_of(*cpu) == group;
        let clocks_ns = mask.iter().filter(is_of_group).map(|cpu| self.clocks_ns[cpu]);
        floor_ns.max(clocks_ns.min().unwrap_or(0))
    }

    /// The virtual time of a task that ran, not further behind its floor than the limit.
    pub(super) fn bound_ns(&self, world: &World, group: usize, task: usize, vtime_ns: u64) -> u64 {
        let subject = &world.tasks[task];
        let limit_ns = policy::lag_limit_ns(SLICE_NS, subject.weight);
        policy::lag_bound_ns(vtime_ns, self.floors_ns[group][subject.mask], limit_ns)
    }
}
