//! Balancing without a tick: of CPUs that just went idle, and of those that idle.

use super::balance::Idle;
use super::{Discipline, PerCpu};
use crate::world::World;

impl<D: Discipline> PerCpu<D> {
    /// `newidle_balance`: whether the CPU has a task to run afterwards.
    ///
    /// The cost of looking around, which the kernel measures and weighs against the
    /// expected idle time, is taken as nothing.
    pub(super) fn balance_newly_idle(&mut self, world: &World, cpu: usize) -> bool {
        if self.queues[cpu].nr > 0 {
            return true;
        }
        if !self.overloaded || self.queues[cpu].avg_idle_ns < self.era.newidle_after_ns {
            self.balance_sooner(cpu, 0);
            return false;
        }
        for level in 0..self.levels.len() {
            self.balance_sooner(cpu, level);
            let mut weight = 0;
            if self.era.newidle_by_success {
                let draw = self.draws[cpu].next_u32();
                match self.paces[level][cpu].try_newidle(draw) {
                    Some(of_success) => weight = of_success,
                    None => continue,
                }
            }
            let mut go_on = true;
            let moved = self.balance(world, cpu, level, Idle::Newly, &mut go_on, &mut Vec::new());
            if self.era.newidle_by_success {
                self.paces[level][cpu].note_newidle(if moved > 0 { weight } else { 0 });
            }
            if self.queues[cpu].nr > 0 {
                return true;
            }
        }
        false
    }

    /// `update_next_balance`: a level is balanced again after the interval of an idle CPU.
    fn balance_sooner(&mut self, cpu: usize, level: usize) {
        let Some(pace) = self.paces.get(level).map(|paces| paces[cpu]) else { return };
        let cpus = self.queues.len() as u64;
        let next = pace.last + pace.interval(false, &self.era, self.hz, cpus);
        let queue = &mut self.queues[cpu];
        queue.next_balance = queue.next_balance.min(next);
    }

    /// `nohz_balancer_kick`: a busy CPU's tick has idle CPUs look for work.
    pub(super) fn balance_idle_cpus(
        &mut self,
        world: &World,
        cpu: usize,
        reschedule: &mut Vec<usize>,
    ) {
        let now = self.jiffies(world);
        let package = world.topology.package_of(cpu);
        let crowded = self.queues[cpu].nr >= 2 || self.busy[package] > 1;
        if now < self.next_idle_balance || !crowded || self.idle.is_empty() {
            return;
        }
        let mut next = now + 60 * self.hz;
        let idle: Vec<usize> = self.idle.iter().collect();
        // The first idle CPU balances for all, and for itself last.
        for &other in idle.iter().skip(1).chain(idle.first()) {
            if self.is_idle(other) && now >= self.queues[other].next_balance {
                self.balance_domains(world, other, true, reschedule);
            }
            next = next.min(self.queues[other].next_balance);
        }
        self.next_idle_balance = next;
    }
}
