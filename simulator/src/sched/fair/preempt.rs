//! Which running task does a waking or waiting task preempt?

use super::kernel::WAKE_SCAN_MAX;
use super::{Fair, NICE_0_WEIGHT};
use crate::timers::NEVER;
use crate::world::World;

/// A waking task preempts one that is this far ahead: `sysctl_sched_wakeup_granularity`
/// on 8 and more CPUs (CFS 5.9, `wakeup_gran`).
const WAKEUP_GRANULARITY_NS: u64 = 4_000_000;
/// Above any time and virtual time that a run reaches.
const BASE: u64 = 1 << 62;

impl Fair {
    /// Virtual time of a running task if accounted now.
    fn vtime_now(&self, world: &World, cpu: usize, task: usize) -> u64 {
        let ran_ns = world.now_ns - world.cpus[cpu].since_ns;
        policy::charge(self.vtime[task], ran_ns, 0, 0, world.tasks[task].weight)
    }

    /// A key that bounds the virtual time of a task that begins to run: until the task is
    /// accounted, its virtual time is at most `now + BASE - key`, for weights from that of
    /// nice 0 on. Lighter tasks get the key 0, which bounds nothing.
    pub(super) fn bound(&self, world: &World, task: usize) -> u64 {
        if world.tasks[task].weight < NICE_0_WEIGHT {
            return 0;
        }
        (BASE + world.now_ns).saturating_sub(self.vtime[task])
    }

    fn is_beyond(&self, world: &World, package: usize, vtime: u64) -> bool {
        let (key, _) = self.latest[package].first();
        key != NEVER && (BASE + world.now_ns).saturating_sub(key) > vtime
    }

    pub(super) fn note_running(&mut self, world: &World, cpu: usize, key: u64) {
        let package = world.topology.package_of(cpu);
        let place = cpu - world.topology.cpus_of_package(package).start;
        self.latest[package].set(place, key);
    }

    /// The virtual time from which on a waking task preempts a running one.
    pub(super) fn preempt_limit(&self, world: &World, task: usize) -> u64 {
        let weight = world.tasks[task].weight;
        policy::preempt_limit(self.vtime[task], WAKEUP_GRANULARITY_NS, weight)
    }

    /// The first CPU, nearest first, whose task is ahead of the woken one by the granularity.
    /// MuQSS's `try_preempt` takes the first in locality order as well.
    /// `is_sync`: the waker is about to sleep.
    pub(super) fn preemptable(
        &self,
        world: &World,
        task: usize,
        near: usize,
        is_sync: bool,
    ) -> Option<usize> {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let limit = self.preempt_limit(world, task);
        let after_ns = || policy::preempt_after_ns(world.tasks[task].weight);
        let kernel = self.kernel.as_ref().map(|kernel| (kernel, (after_ns(), is_sync)));
        let home = world.topology.package_of(near);
        let packages = world.topology.packages;
        let reach = if self.groups == 1 { packages } else { 1 };
        (0..reach)
            .map(|step| (home + step) % packages)
            .filter(|&package| self.is_beyond(world, package, limit))
            .find_map(|package| {
                let cpus = world.topology.cpus_of_package(package);
                let first = if package == home { near - cpus.start } else { 0 };
                let scanned = self.kernel.as_ref().map_or(cpus.len(), |_| WAKE_SCAN_MAX);
                let nearest_first = (0..cpus.len()).map(|i| cpus.start + (first + i) % cpus.len());
                let rest_ns =
                    |cpu| kernel.map_or(Some(0), |(kernel, by)| kernel.rest_ns(world, cpu, by));
                nearest_first.take(scanned).filter(|&cpu| mask.contains(cpu)).find(|&cpu| {
                    world.cpus[cpu].running.is_some_and(|running| {
                        rest_ns(cpu).is_some_and(|rest_ns| {
                            let limit = limit.saturating_add(rest_ns);
                            self.is_ahead(world, cpu, running, limit)
                        })
                    })
                })
            })
    }

    /// Whether the running task gives way: a waiting task is behind by the granularity, or the
    /// slice is over.
    pub(super) fn gives_way_at_tick(&self, world: &World, cpu: usize) -> bool {
        let (Some(kernel), Some(task)) = (&self.kernel, world.cpus[cpu].running) else {
            return false;
        };
        if kernel.is_over(world, cpu) {
            return true;
        }
        let Some((least_ns, _)) = self.least(world, cpu, self.group_of(world, cpu)) else {
            return false;
        };
        let own_price_ns = self
            .even
            .as_ref()
            .map_or(0, |even| even.price_ns(world, cpu, even.level(task, world.now_ns)));
        let least_ns = least_ns.saturating_sub(own_price_ns);
        let limit = policy::preempt_limit(least_ns, WAKEUP_GRANULARITY_NS, NICE_0_WEIGHT);
        policy::preempts(limit, self.vtime_now(world, cpu, task))
    }

    pub(super) fn is_ahead(&self, world: &World, cpu: usize, task: usize, limit: u64) -> bool {
        let ran_ns = world.now_ns - world.cpus[cpu].since_ns;
        let is_light = world.tasks[task].weight < NICE_0_WEIGHT;
        policy::preempts(limit, self.vtime[task])
            || ((is_light || self.vtime[task].saturating_add(ran_ns) > limit)
                && policy::preempts(limit, self.vtime_now(world, cpu, task)))
    }
}
