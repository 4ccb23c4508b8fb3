//! On which CPU a waking or new task is queued.

use std::ops::Range;

use super::group::{Group, Kind};
use super::{Discipline, PerCpu};
use crate::sched::domains::Level;
use crate::sched::pelt::CAPACITY;
use crate::sched::{By, Wake};
use crate::topology::Mask;
use crate::world::World;

/// Cost of a search for an idle CPU (`avg_scan_cost`, which the kernel measures).
/// Our choice.
const SCAN_COST_NS: u64 = 1_000;

/// The tasks that a task wakes (`record_wakee`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wakees {
    flips: u64,
    last: Option<usize>,
    decayed_at: u64,
}

/// The CPUs of a range, from one of them on, around.
fn from_on(range: Range<usize>, first: usize) -> impl Iterator<Item = usize> {
    let (start, len) = (range.start, range.len());
    (0..len).map(move |i| start + (first - start + i) % len)
}

impl<D: Discipline> PerCpu<D> {
    /// `select_task_rq_fair`.
    pub(super) fn select(&mut self, world: &World, task: usize, wake: Wake) -> usize {
        let prev = self.entities[task].cpu;
        let by = match wake {
            // `sched_fork` puts a new task on the CPU of its parent.
            Wake::New { by_cpu: None } if world.tasks[task].last_cpu.is_some() => return prev,
            Wake::New { by_cpu } => {
                let this = by_cpu.unwrap_or(prev);
                self.entities[task].recent_cpu = this;
                return self.idlest(world, task, this);
            }
            Wake::Woken(by) => by,
        };
        let this = by.cpu().unwrap_or(prev);
        let sync = matches!(by, By::Task { sync: true, .. });
        let mask = &world.affinities.masks[world.tasks[task].mask];
        // The kernel takes the current task for the waker, even one that was merely interrupted.
        let waker = by.cpu().and_then(|cpu| self.queues[cpu].running);
        let mut affine = mask.contains(this);
        if let Some(waker) = waker {
            self.record_wakee(world, waker, task);
            affine &= !self.wakes_widely(world, waker, task);
        }
        let mut target = prev;
        if affine && this != prev {
            let level = self.levels.iter().find(|level| level.span_of(this).contains(&prev));
            if let Some(pct) = level.map(|level| level.imbalance_pct)
                && self.is_better_here(world, task, this, prev, pct, sync)
            {
                target = this;
            }
        }
        if self.era.scan_by_util {
            return self.idle_sibling_6_12(world, mask, task, prev, target);
        }
        let cpu = self.idle_sibling_5_9(world, mask, task, prev, target, this);
        // 5.14 removed this.
        if affine && let Some(waker) = waker {
            self.entities[waker].recent_cpu = this;
        }
        cpu
    }

    fn record_wakee(&mut self, world: &World, waker: usize, task: usize) {
        let now = self.jiffies(world);
        let hz = self.hz;
        let wakees = &mut self.entities[waker].wakees;
        if now > wakees.decayed_at + hz {
            wakees.flips >>= 1;
            wakees.decayed_at = now;
        }
        if wakees.last != Some(task) {
            wakees.last = Some(task);
            wakees.flips += 1;
        }
    }

    /// `wake_wide`: the waker wakes more tasks than the CPUs near its own could run.
    fn wakes_widely(&self, world: &World, waker: usize, task: usize) -> bool {
        let factor = (world.topology.cpus / world.topology.packages) as u64;
        let (a, b) = (self.entities[waker].wakees.flips, self.entities[task].wakees.flips);
        let (master, slave) = (a.max(b), a.min(b));
        slave >= factor && master >= slave * factor
    }

    /// `wake_affine`: whether the waker's CPU is better than the task's last.
    fn is_better_here(
        &mut self,
        world: &World,
        task: usize,
        this: usize,
        prev: usize,
        imbalance_pct: u64,
        sync: bool,
    ) -> bool {
        let near = world.topology.package_of(this) == world.topology.package_of(prev);
        if self.is_idle(this) && near {
            return !self.is_idle(prev);
        }
        if sync && self.queues[this].nr == self.queues[this].sleeping + 1 {
            return true;
        }
        if self.is_idle(prev) {
            return false;
        }
        self.sync_queue(this, world.now_ns);
        self.sync_queue(prev, world.now_ns);
        let mut load_here = self.queues[this].signal.load();
        if sync && let Some(waker) = self.queues[this].running {
            self.sync_task(waker, world.now_ns);
            let wakers = self.entities[waker].signal.load();
            if wakers > load_here {
                return true;
            }
            load_here -= wakers;
        }
        // The kernel decays the load of a sleeper only when queued again (`task_h_load`), so that
        // the load counts as much as when the task fell asleep.
        let load = self.entities[task].signal.load();
        let bias = 100 + (imbalance_pct - 100) / 2;
        let here = (load_here + load) * 100;
        let there = self.queues[prev].signal.load() * bias + u64::from(sync);
        here + load * bias < there
    }

    /// The target, else the previous CPU, if idle and in the target's cache domain.
    fn idle_of_two(&self, world: &World, prev: usize, target: usize) -> Option<usize> {
        let near = world.topology.package_of(prev) == world.topology.package_of(target);
        if self.is_idle(target) {
            Some(target)
        } else {
            (near && self.is_idle(prev)).then_some(prev)
        }
    }

    /// The task's recently used CPU, if idle and near.
    fn usable_recent(
        &self,
        world: &World,
        mask: &Mask,
        task: usize,
        prev: usize,
        target: usize,
    ) -> Option<usize> {
        let recent = self.entities[task].recent_cpu;
        let near = world.topology.package_of(recent) == world.topology.package_of(target);
        let usable = recent != prev && recent != target && near;
        (usable && self.is_idle(recent) && mask.contains(recent)).then_some(recent)
    }

    /// `select_idle_sibling` of 5.9.
    fn idle_sibling_5_9(
        &mut self,
        world: &World,
        mask: &Mask,
        task: usize,
        prev: usize,
        target: usize,
        this: usize,
    ) -> usize {
        if let Some(cpu) = self.idle_of_two(world, prev, target) {
            return cpu;
        }
        if let Some(recent) = self.usable_recent(world, mask, task, prev, target) {
            self.entities[task].recent_cpu = prev;
            return recent;
        }
        if let Some(cpu) = self.idle_core(world, mask, target) {
            return cpu;
        }
        let span = world.topology.cpus_of_package(world.topology.package_of(target));
        let budget = span.len() as u64 * (self.queues[this].avg_idle_ns / 512);
        let looks = if budget > 4 * (SCAN_COST_NS + 1) { budget / (SCAN_COST_NS + 1) } else { 4 };
        let looks = usize::try_from(looks.saturating_sub(1)).unwrap_or(usize::MAX);
        let found = from_on(span, target)
            .filter(|&cpu| mask.contains(cpu))
            .take(looks)
            .find(|&cpu| self.is_idle(cpu));
        found.or_else(|| self.idle_thread(world, mask, target)).unwrap_or(target)
    }

    /// `select_idle_sibling` of 6.12 and 6.18.
    fn idle_sibling_6_12(
        &mut self,
        world: &World,
        mask: &Mask,
        task: usize,
        prev: usize,
        target: usize,
    ) -> usize {
        if let Some(cpu) = self.idle_of_two(world, prev, target) {
            return cpu;
        }
        let package = world.topology.package_of(target);
        let near = world.topology.package_of(prev) == package;
        let recent = self.usable_recent(world, mask, task, prev, target);
        self.entities[task].recent_cpu = prev;
        if let Some(recent) = recent {
            return recent;
        }
        if self.maybe_idle_core[package] && world.topology.threads_per_core > 1 {
            if let Some(cpu) = self.idle_core(world, mask, target) {
                return cpu;
            }
            let span = world.topology.cpus_of_package(package);
            return from_on(span, target)
                .find(|&cpu| mask.contains(cpu) && self.is_idle(cpu))
                .unwrap_or(target);
        }
        if near && let Some(cpu) = self.idle_thread(world, mask, prev) {
            return cpu;
        }
        let span = world.topology.cpus_of_package(package);
        let first = if target + 1 < span.end { target + 1 } else { span.start };
        from_on(span, first)
            .filter(|&cpu| mask.contains(cpu))
            .take(self.scan[package] as usize)
            .find(|&cpu| self.is_idle(cpu))
            .unwrap_or(target)
    }

    /// `select_idle_core`: the first core around that idles as a whole.
    fn idle_core(&mut self, world: &World, mask: &Mask, target: usize) -> Option<usize> {
        let package = world.topology.package_of(target);
        if world.topology.threads_per_core == 1 || !self.maybe_idle_core[package] {
            return None;
        }
        let cores = world.topology.cores_of_package(package);
        let found = from_on(cores, world.topology.core_of(target)).find_map(|core| {
            let mut cpus = world.topology.cpus_of_core(core);
            let first = cpus.clone().find(|&cpu| mask.contains(cpu))?;
            cpus.all(|cpu| self.is_idle(cpu)).then_some(first)
        });
        if found.is_none() {
            self.maybe_idle_core[package] = false;
        }
        found
    }

    /// `select_idle_smt`: an idle thread of the core.
    fn idle_thread(&self, world: &World, mask: &Mask, target: usize) -> Option<usize> {
        let core = world.topology.cpus_of_core(world.topology.core_of(target));
        core.into_iter().find(|&cpu| mask.contains(cpu) && self.is_idle(cpu))
    }

    /// `update_idle_cpu_scan` of 6.0 and later.
    pub(super) fn update_scan(&mut self, world: &World, cpu: usize, level: &Level, util: u64) {
        let size = world.topology.cpus / world.topology.packages;
        if level.span != size {
            return;
        }
        let x = util / size as u64;
        let pct = level.imbalance_pct;
        let missing = (x * x * pct * pct / (10_000 * CAPACITY)).min(CAPACITY);
        let package = world.topology.package_of(cpu);
        self.scan[package] = (CAPACITY - missing) * size as u64 / CAPACITY;
    }

    /// `find_idlest_cpu`: descends from the whole machine to the idlest group, then CPU.
    pub(super) fn idlest(&mut self, world: &World, task: usize, this: usize) -> usize {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let mut cpu = this;
        for level in (0..self.levels.len()).rev() {
            let cpus = self
                .idlest_group(world, task, level, cpu)
                .unwrap_or_else(|| self.levels[level].group_of(cpu));
            cpu = self.idlest_in_group(world, mask, cpus, cpu);
        }
        cpu
    }

    /// `find_idlest_group`; `None`: the own one.
    fn idlest_group(
        &mut self,
        world: &World,
        task: usize,
        level: usize,
        cpu: usize,
    ) -> Option<Range<usize>> {
        let mask = &world.affinities.masks[world.tasks[task].mask];
        let domain = self.levels[level];
        let mut local = None;
        let mut best: Option<Group> = None;
        for (index, cpus) in domain.groups(cpu).enumerate() {
            if mask.first_common(mask, cpus.clone()).is_none() {
                continue;
            }
            let group = self.group(level, cpus, &[], Some(task), world.now_ns);
            if index == 0 {
                local = Some(group);
            } else if best.as_ref().is_none_or(|best| is_idler(&group, best)) {
                best = Some(group);
            }
        }
        let best = best?;
        let Some(local) = local else { return Some(best.cpus) };
        if local.kind != best.kind {
            return (local.kind > best.kind).then_some(best.cpus);
        }
        let (here, there) = (local.per_cpu_load(), best.per_cpu_load());
        let slack = CAPACITY * (domain.imbalance_pct - 100) / 100;
        let away = match local.kind {
            Kind::Pinned => false,
            Kind::HasSpare => {
                let near = domain.shares_cache || local.idle == 0;
                near && local.idle < best.idle
            }
            Kind::FullyBusy | Kind::Overloaded => {
                (domain.shares_cache || there + slack < here)
                    && there < here + slack
                    && 100 * here > domain.imbalance_pct * there
            }
        };
        away.then_some(best.cpus)
    }

    /// `find_idlest_group_cpu`: the last to go idle, else the least loaded.
    fn idlest_in_group(
        &mut self,
        world: &World,
        mask: &Mask,
        cpus: Range<usize>,
        otherwise: usize,
    ) -> usize {
        let mut idle: Option<(u64, usize)> = None;
        let mut loaded: Option<(u64, usize)> = None;
        for cpu in cpus.filter(|&cpu| mask.contains(cpu)) {
            if self.is_idle(cpu) {
                let since_ns = self.queues[cpu].idle_since_ns.unwrap_or(0);
                if idle.is_none_or(|(best_ns, _)| since_ns > best_ns) {
                    idle = Some((since_ns, cpu));
                }
            } else if idle.is_none() {
                self.sync_queue(cpu, world.now_ns);
                let load = self.queues[cpu].signal.load();
                if loaded.is_none_or(|(least, _)| load < least) {
                    loaded = Some((load, cpu));
                }
            }
        }
        idle.or(loaded).map_or(otherwise, |(_, cpu)| cpu)
    }
}

/// `update_pick_idlest`.
fn is_idler(group: &Group, other: &Group) -> bool {
    if group.kind != other.kind {
        return group.kind < other.kind;
    }
    match group.kind {
        Kind::HasSpare => group.idle > other.idle,
        Kind::FullyBusy | Kind::Overloaded => group.per_cpu_load() < other.per_cpu_load(),
        Kind::Pinned => false,
    }
}
