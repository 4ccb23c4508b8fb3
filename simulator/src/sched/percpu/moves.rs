//! Which tasks may be moved by balancing, and how much each of them counts.

use super::balance::Attempt;
use super::group::Amount;
use super::{Discipline, MIGRATION_COST_NS, PerCpu};
use crate::world::World;

impl<D: Discipline> PerCpu<D> {
    /// Tasks to be taken from a CPU (`h_nr_runnable`, before 6.14 `h_nr_queued`).
    pub(super) fn takeable(&self, cpu: usize) -> u64 {
        let queue = &self.queues[cpu];
        if self.era.sleepers_apart { queue.nr - queue.sleeping } else { queue.nr }
    }

    /// The checks that `can_migrate_task` makes before those of affinity.
    pub(super) fn stays_put(
        &self,
        task: usize,
        from: usize,
        attempt: Attempt,
        amount: Amount,
    ) -> bool {
        let Attempt { cpu, level, .. } = attempt;
        let with_load = matches!(amount, Amount::Load(_));
        if self.era.sleepers_apart && self.entities[task].sleeping && !with_load {
            return true;
        }
        self.era.eligible_first
            && self.paces[level][cpu].failed == 0
            && self.queues[cpu].nr > 0
            && !self.discipline.is_eligible_to_move(from, task)
    }

    /// `can_migrate_task` for a task that may run on the CPU.
    pub(super) fn can_migrate(
        &self,
        world: &World,
        task: usize,
        from: usize,
        attempt: Attempt,
    ) -> bool {
        let Attempt { cpu, level, .. } = attempt;
        let entity = &self.entities[task];
        if entity.running {
            return false;
        }
        let domain = &self.levels[level];
        if domain.shares_core || self.paces[level][cpu].failed > domain.cache_nice_tries {
            return true;
        }
        let buddy = self.queues[cpu].nr > 0 && self.discipline.is_buddy(from, task);
        let hot =
            entity.last_ran_ns.is_some_and(|ran_ns| world.now_ns - ran_ns < MIGRATION_COST_NS);
        !hot && !buddy
    }

    /// Takes the task's share off the amount; `false` if the share is too large.
    pub(super) fn take_from(
        &mut self,
        task: usize,
        amount: &mut Amount,
        attempt: Attempt,
        now_ns: u64,
    ) -> bool {
        let Attempt { cpu, level, .. } = attempt;
        self.sync_task(task, now_ns);
        let failed = self.paces[level][cpu].failed;
        let signal = &self.entities[task].signal;
        match amount {
            Amount::Tasks(left) => *left = left.saturating_sub(1),
            Amount::Load(left) => {
                let load = signal.load().max(1);
                let too_much = if self.era.halves_by_failure {
                    load >> failed.min(63) > *left
                } else {
                    load / 2 > *left && failed <= self.levels[level].cache_nice_tries
                };
                if too_much {
                    return false;
                }
                *left = left.saturating_sub(load);
            }
            Amount::Util(left) => {
                let util = signal.util();
                let judged = if self.era.halves_by_failure { util >> failed.min(63) } else { util };
                if judged > *left {
                    return false;
                }
                *left = left.saturating_sub(util);
            }
        }
        true
    }
}
