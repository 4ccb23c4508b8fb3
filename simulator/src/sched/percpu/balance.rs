//! Balancing the queues of a domain: by which CPU, when, and which tasks move.

use super::group::{Amount, Group, Situation};
use super::{Discipline, PerCpu};
use crate::world::World;

/// `sysctl_sched_nr_migrate`: tasks looked at in one attempt.
const LOOK_AT_MAX: u64 = 32;

/// Idle state of the balancing CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    Busy,
    Idles,
    /// The CPU is about to idle.
    Newly,
}

/// The balancing CPU, its level and its idle state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) cpu: usize,
    pub(super) level: usize,
    pub(super) idle: Idle,
}

/// Result of an attempt to move tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Pulled {
    moved: usize,
    /// A task may not run on the balancing CPU.
    some_pinned: bool,
    /// No task of the source may run on the destination.
    all_pinned: bool,
    /// Amount not moved.
    rest: bool,
}

/// Notes that a CPU must choose again.
pub(super) fn request(reschedule: &mut Vec<usize>, cpu: usize) {
    if !reschedule.contains(&cpu) {
        reschedule.push(cpu);
    }
}

impl<D: Discipline> PerCpu<D> {
    /// `rebalance_domains`: every level whose time has come.
    pub(super) fn balance_domains(
        &mut self,
        world: &World,
        cpu: usize,
        mut idle: bool,
        reschedule: &mut Vec<usize>,
    ) {
        let now = self.jiffies(world);
        let cpus = self.queues.len() as u64;
        let mut next = now + 60 * self.hz;
        let mut go_on = true;
        for level in 0..self.levels.len() {
            if !go_on {
                break;
            }
            let pace = self.paces[level][cpu];
            if now >= pace.last + pace.interval(!idle, &self.era, self.hz, cpus) {
                let kind = if idle { Idle::Idles } else { Idle::Busy };
                if self.balance(world, cpu, level, kind, &mut go_on, reschedule) > 0 {
                    idle = self.is_idle(cpu);
                }
                self.paces[level][cpu].last = now;
            }
            let pace = self.paces[level][cpu];
            next = next.min(pace.last + pace.interval(!idle, &self.era, self.hz, cpus));
        }
        self.queues[cpu].next_balance = next;
    }

    /// `load_balance`: pulls tasks to the CPU, and returns the number of tasks moved.
    /// `go_on` is cleared when another CPU of the group should balance instead.
    pub(super) fn balance(
        &mut self,
        world: &World,
        cpu: usize,
        level: usize,
        idle: Idle,
        go_on: &mut bool,
        reschedule: &mut Vec<usize>,
    ) -> usize {
        let attempt = Attempt { cpu, level, idle };
        if !self.should_balance(world, attempt) {
            *go_on = false;
            self.settle_balanced(attempt, false);
            return 0;
        }
        let mut without = Vec::new();
        loop {
            let Some((busiest, amount)) = self.find_busiest(world, attempt, &without) else {
                self.settle_balanced(attempt, false);
                return 0;
            };
            let Some(from) = self.busiest_queue(&busiest, amount, &without) else {
                self.settle_balanced(attempt, false);
                return 0;
            };
            let pulled = self.pull(world, from, attempt, amount, reschedule);
            if pulled.some_pinned && pulled.rest {
                self.flag_pinned(level, cpu, true);
            }
            if pulled.all_pinned {
                without.push(from);
                let group = self.levels[level].group_of(cpu);
                let mut others = self.levels[level].span_of(cpu);
                if others.any(|other| !group.contains(&other) && !without.contains(&other)) {
                    continue;
                }
                self.settle_balanced(attempt, true);
                return 0;
            }
            if pulled.moved > 0 {
                self.paces[level][cpu].failed = 0;
                self.paces[level][cpu].reset();
            } else {
                self.note_failure(world, from, attempt, amount, reschedule);
            }
            return pulled.moved;
        }
    }

    fn flag_pinned(&mut self, level: usize, cpu: usize, pinned: bool) {
        let domain = cpu / self.levels[level].span;
        self.pinned[level][domain] = pinned;
    }

    /// Nothing to do here: come back later.
    fn settle_balanced(&mut self, attempt: Attempt, pinned: bool) {
        let Attempt { cpu, level, idle } = attempt;
        if !pinned {
            self.flag_pinned(level, cpu, false);
        }
        self.paces[level][cpu].failed = 0;
        if idle != Idle::Newly {
            self.paces[level][cpu].slow_down(pinned);
        }
    }

    /// `should_we_balance`: the first idle CPU of the own group, else its first CPU.
    fn should_balance(&self, world: &World, attempt: Attempt) -> bool {
        let Attempt { cpu, level, idle } = attempt;
        if idle == Idle::Newly {
            return true;
        }
        let level = &self.levels[level];
        let own = level.group_of(cpu);
        let start = own.start;
        let mut beside_busy = None;
        let mut first = own.start;
        while let Some(found) = self.idle.first_common(&self.idle, first..own.end) {
            let core = world.topology.cpus_of_core(world.topology.core_of(found));
            let whole = core.clone().all(|cpu| self.is_idle(cpu));
            if !self.era.careful || level.shares_core || whole {
                return found == cpu;
            }
            beside_busy = beside_busy.or(Some(found));
            first = core.end;
        }
        beside_busy.unwrap_or(start) == cpu
    }

    /// `find_busiest_group`, `update_sd_lb_stats`.
    fn find_busiest(
        &mut self,
        world: &World,
        attempt: Attempt,
        without: &[usize],
    ) -> Option<(Group, Amount)> {
        let Attempt { cpu, level, idle } = attempt;
        let now_ns = world.now_ns;
        let domain = self.levels[level];
        let mut groups = domain.groups(cpu);
        let local = self.group(level, groups.next()?, without, None, now_ns);
        let (mut load, mut util) = (local.load, local.util);
        let mut busiest: Option<Group> = None;
        for cpus in groups {
            let group = self.group(level, cpus, without, None, now_ns);
            load += group.load;
            util += group.util;
            if group.takeable > 0
                && busiest.as_ref().is_none_or(|other| group.is_busier_than(other))
            {
                busiest = Some(group);
            }
        }
        if level + 1 == self.levels.len() {
            self.overloaded = self.queues.iter().any(|queue| queue.nr > 1);
        }
        if self.era.scan_by_util && idle != Idle::Newly {
            self.update_scan(world, cpu, &domain, util);
        }
        let busiest = busiest?;
        let amount = Situation {
            level: &domain,
            local: &local,
            busiest: &busiest,
            avg_load: load / domain.span as u64,
            idle: idle != Idle::Busy,
            careful: self.era.careful,
            packages: world.topology.packages as u64,
        }
        .imbalance()?;
        Some((busiest, amount))
    }

    /// `find_busiest_queue`: the CPU of the group to take from.
    fn busiest_queue(&self, group: &Group, amount: Amount, without: &[usize]) -> Option<usize> {
        let mut best = None;
        let mut most = 0;
        for cpu in group.cpus.clone().filter(|cpu| !without.contains(cpu)) {
            let nr = self.takeable(cpu);
            let signal = &self.queues[cpu].signal;
            let has = match amount {
                Amount::Load(imbalance) => match signal.load() {
                    load if nr == 1 && load > imbalance => 0,
                    load if nr > 0 => load,
                    _ => 0,
                },
                Amount::Util(_) if nr > 1 => signal.util(),
                Amount::Util(_) => 0,
                Amount::Tasks(_) => nr,
            };
            if has > most {
                most = has;
                best = Some(cpu);
            }
        }
        best
    }

    /// `detach_tasks` and `attach_tasks`: oldest first.
    fn pull(
        &mut self,
        world: &World,
        from: usize,
        attempt: Attempt,
        mut amount: Amount,
        reschedule: &mut Vec<usize>,
    ) -> Pulled {
        let Attempt { cpu, idle, .. } = attempt;
        let mut pulled = Pulled { rest: true, ..Pulled::default() };
        if self.queues[from].nr <= 1 {
            return pulled;
        }
        let mut allowed_seen = false;
        let tasks: Vec<usize> = self.queues[from]
            .tasks
            .iter()
            .take(LOOK_AT_MAX as usize)
            .map(|&(_, task)| task)
            .collect();
        for task in tasks {
            if idle != Idle::Busy && self.queues[from].nr <= 1 {
                break;
            }
            if self.stays_put(task, from, attempt, amount) {
                self.restamp(task);
                continue;
            }
            let allowed = world.affinities.masks[world.tasks[task].mask].contains(cpu);
            allowed_seen |= allowed;
            pulled.some_pinned |= !allowed;
            let fits = allowed
                && self.can_migrate(world, task, from, attempt)
                && self.take_from(task, &mut amount, attempt, world.now_ns);
            if !fits {
                self.restamp(task);
                continue;
            }
            self.migrate(world, task, cpu);
            pulled.moved += 1;
            if idle != Idle::Newly && self.must_choose(cpu, task) {
                request(reschedule, cpu);
            }
            // Kernels that can preempt themselves stop after one (`CONFIG_PREEMPTION`).
            if amount.is_zero() || (idle == Idle::Newly && self.era.careful) {
                break;
            }
        }
        pulled.all_pinned = !allowed_seen;
        pulled.rest = !amount.is_zero();
        pulled
    }

    /// Nothing moved: after some failures the running task itself is pushed.
    fn note_failure(
        &mut self,
        world: &World,
        from: usize,
        attempt: Attempt,
        amount: Amount,
        reschedule: &mut Vec<usize>,
    ) {
        let Attempt { cpu, level, idle } = attempt;
        let tries = self.levels[level].cache_nice_tries;
        let pace = &mut self.paces[level][cpu];
        if idle != Idle::Newly {
            pace.failed += 1;
        }
        let eligible = !self.era.careful || matches!(amount, Amount::Tasks(_));
        if !eligible || pace.failed <= tries + 2 {
            pace.reset();
            return;
        }
        // Let the next attempt move tasks whatever their caches.
        pace.failed = if self.era.careful { 0 } else { tries + 1 };
        if self.era.careful {
            pace.reset();
        } else {
            pace.slow_down(false);
        }
        self.push(world, from, cpu, reschedule);
    }

    /// `active_load_balance_cpu_stop`: one task of `from` goes to `cpu`, the running one
    /// if no other may.
    fn push(&mut self, world: &World, from: usize, cpu: usize, reschedule: &mut Vec<usize>) {
        let allowed = |task: usize| world.affinities.masks[world.tasks[task].mask].contains(cpu);
        let waiting = self.queues[from]
            .tasks
            .iter()
            .map(|&(_, task)| task)
            .find(|&task| !self.entities[task].running && allowed(task));
        if let Some(task) = waiting {
            self.migrate(world, task, cpu);
            if self.must_choose(cpu, task) {
                request(reschedule, cpu);
            }
        } else if let Some(task) = self.queues[from].running.filter(|&task| allowed(task)) {
            self.queues[from].push_to = Some((task, cpu));
            request(reschedule, from);
        }
    }
}
