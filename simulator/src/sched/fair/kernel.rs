//! Differences of the kernel scheduler from D's prototype, for queues by last-level cache.
//!
//! Slices end at ticks, and are shorter where many tasks wait; a tick preempts a task that is ahead
//! of a waiting one. A wake-up examines a few CPUs and preempts a slice once at most, and one that
//! has just begun for a task that is further behind (`scheduler/src/bpf/preempt.bpf.h`).

use super::SLICE_NS;
use crate::world::World;

/// CPUs that a wake-up examines: `WAKE_SCAN_MAX` of the source.
pub(super) const WAKE_SCAN_MAX: usize = 8;
/// How often those that wait are counted: `COUNT_NS` of the source.
const COUNT_NS: u64 = 1_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// State of these differences.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) tick_ns: u64,
    /// By CPU: a waking task preempts the running slice.
    preempt_requested: Vec<bool>,
    /// By CPU: length of the running slice.
    slice_ns: Vec<u64>,
    /// By group: when those that wait were counted last, and how many they were.
    counted: Vec<(u64, u32)>,
}

impl Kernel {
    pub(super) fn new(world: &World, groups: usize) -> Self {
        Self {
            tick_ns: NS_PER_S / u64::from(world.config.hz),
            preempt_requested: vec![false; world.topology.cpus],
            slice_ns: vec![0; world.topology.cpus],
            counted: vec![(0, 0); groups],
        }
    }

    /// A task begins to run, of a group in which so many wait.
    pub(super) fn begins(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        (group, waiting): (usize, usize),
    ) {
        let (counted_ns, count) = &mut self.counted[group];
        if waiting == 0 {
            *count = 0;
        } else if world.now_ns - *counted_ns >= COUNT_NS {
            (*counted_ns, *count) = (world.now_ns, waiting as u32);
        }
        let cpus = world.topology.cpus_of_package(world.topology.package_of(cpu)).len();
        let weight = world.tasks[task].weight;
        self.slice_ns[cpu] = policy::slice_shared_ns(SLICE_NS, weight, *count, cpus as u32);
        self.preempt_requested[cpu] = false;
    }

    pub(super) fn is_over(&self, world: &World, cpu: usize) -> bool {
        world.now_ns - world.cpus[cpu].since_ns >= self.slice_ns[cpu]
    }

    /// How much further ahead the task of a CPU has to be for a waking one, which preempts after
    /// `after_ns`: by the rest of that time. `None`: it is preempted already, or has just begun
    /// and the waker is about to sleep (`is_sync`).
    pub(super) fn rest_ns(
        &self,
        world: &World,
        cpu: usize,
        (after_ns, is_sync): (u64, bool),
    ) -> Option<u64> {
        let rest_ns = after_ns.saturating_sub(world.now_ns - world.cpus[cpu].since_ns);
        (!self.preempt_requested[cpu] && (rest_ns == 0 || !is_sync)).then_some(rest_ns)
    }

    pub(super) fn request_preemption(&mut self, cpu: usize) {
        self.preempt_requested[cpu] = true;
    }
}
