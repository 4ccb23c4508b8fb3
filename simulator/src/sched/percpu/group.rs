//! Statistics of a group of CPUs, and how much load or how many tasks to pull from which group.

use std::ops::Range;

use super::{Discipline, PerCpu};
use crate::sched::domains::Level;
use crate::sched::pelt::CAPACITY;

/// States of a group, from the least to the most in need (`enum group_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    HasSpare,
    FullyBusy,
    Pinned,
    Overloaded,
}

/// Sums over a group (`struct sg_lb_stats`).
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub cpus: Range<usize>,
    pub kind: Kind,
    pub nr: u64,
    /// Those of them that may be taken.
    pub takeable: u64,
    pub idle: u64,
    pub load: u64,
    pub util: u64,
    /// Load for each CPU; 0 unless overloaded.
    pub avg_load: u64,
}

/// How much is to be moved, and in which unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Load(u64),
    Util(u64),
    Tasks(u64),
}

impl Amount {
    pub(super) fn is_zero(self) -> bool {
        matches!(self, Self::Load(0) | Self::Util(0) | Self::Tasks(0))
    }
}

impl Group {
    fn weight(&self) -> u64 {
        self.cpus.len() as u64
    }

    fn capacity(&self) -> u64 {
        self.weight() * CAPACITY
    }

    pub(super) fn per_cpu_load(&self) -> u64 {
        self.load / self.weight()
    }

    /// `group_is_overloaded`, `group_has_capacity`.
    fn classify(&self, runnable: u64, pct: u64, pinned: bool) -> Kind {
        let capacity = self.capacity();
        let crowded = capacity * pct < runnable * 100;
        if self.nr > self.weight() && (capacity * 100 < self.util * pct || crowded) {
            return Kind::Overloaded;
        }
        if pinned {
            return Kind::Pinned;
        }
        let spare = self.nr < self.weight() || (!crowded && capacity * 100 > self.util * pct);
        if spare { Kind::HasSpare } else { Kind::FullyBusy }
    }

    /// `update_sd_pick_busiest`: whether this group needs relief more than another.
    pub(super) fn is_busier_than(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return self.kind > other.kind;
        }
        match self.kind {
            Kind::Overloaded => self.avg_load > other.avg_load,
            Kind::Pinned | Kind::FullyBusy => false,
            Kind::HasSpare => {
                self.idle < other.idle || (self.idle == other.idle && self.nr > other.nr)
            }
        }
    }
}

/// Statistics of a domain from which its imbalance is computed.
pub(super) struct Situation<'a> {
    pub level: &'a Level,
    pub local: &'a Group,
    pub busiest: &'a Group,
    /// Load for each CPU of the whole domain.
    pub avg_load: u64,
    /// The CPU that balances idles, or is about to.
    pub idle: bool,
    /// See [`crate::sched::domains::Era::careful`].
    pub careful: bool,
    pub packages: u64,
}

impl Situation<'_> {
    /// `find_busiest_group`: how much to take from the busiest group.
    pub(super) fn imbalance(&self) -> Option<Amount> {
        let (local, busiest) = (self.local, self.busiest);
        if busiest.kind != Kind::Pinned {
            if local.kind > busiest.kind {
                return None;
            }
            if local.kind == Kind::Overloaded && !self.is_overload_uneven() {
                return None;
            }
            if !self.is_sibling_preferred() && busiest.kind != Kind::Overloaded {
                let crowded = busiest.cpus.len() > 1 && local.idle <= busiest.idle + 1;
                if !self.idle || crowded || busiest.takeable == 1 {
                    return None;
                }
            }
        }
        Some(self.amount()).filter(|amount| !amount.is_zero())
    }

    fn is_overload_uneven(&self) -> bool {
        let (local, busiest) = (self.local, self.busiest);
        local.avg_load < busiest.avg_load
            && local.avg_load < self.avg_load
            && 100 * busiest.avg_load > self.level.imbalance_pct * local.avg_load
    }

    /// Tasks that the busiest group has more than the own (`sibling_imbalance` of 6.12
    /// lets only idle CPUs even out).
    fn sibling_surplus(&self) -> u64 {
        if self.careful && !self.idle {
            return 0;
        }
        self.busiest.nr.saturating_sub(self.local.nr)
    }

    fn is_sibling_preferred(&self) -> bool {
        self.level.prefers_siblings
            && self.local.kind == Kind::HasSpare
            && self.sibling_surplus() > 1
    }

    /// `calculate_imbalance`.
    fn amount(&self) -> Amount {
        let (local, busiest) = (self.local, self.busiest);
        if busiest.kind == Kind::Pinned {
            return Amount::Tasks(1);
        }
        if local.kind == Kind::HasSpare {
            if busiest.kind > Kind::FullyBusy && !self.level.shares_cache {
                let spare = local.capacity().saturating_sub(local.util);
                if self.idle && spare == 0 {
                    return Amount::Tasks(1);
                }
                return Amount::Util(spare);
            }
            let tasks = if busiest.cpus.len() == 1 || self.level.prefers_siblings {
                self.sibling_surplus()
            } else {
                local.idle.saturating_sub(busiest.idle)
            };
            return Amount::Tasks(self.across_nodes(tasks) >> 1);
        }
        let local_avg = local.per_cpu_load();
        if local.kind < Kind::Overloaded
            && (local_avg >= busiest.avg_load || local_avg >= self.avg_load)
        {
            return Amount::Load(0);
        }
        let excess = busiest.avg_load.saturating_sub(self.avg_load) * busiest.weight();
        let lack = self.avg_load.saturating_sub(local_avg) * local.weight();
        Amount::Load(excess.min(lack))
    }

    /// `adjust_numa_imbalance`: nodes with few tasks may differ a little.
    fn across_nodes(&self, tasks: u64) -> u64 {
        const SMALL: u64 = 2;
        let small = if self.careful {
            // `imb_numa_nr` is the number of caches in the domain.
            self.local.nr < self.packages && tasks <= SMALL
        } else {
            self.busiest.nr <= SMALL
        };
        if small && !self.level.shares_cache { 0 } else { tasks }
    }
}

impl<D: Discipline> PerCpu<D> {
    /// `update_sg_lb_stats` without the CPUs that turned out to be pinned; for the `leaver`, who
    /// looks for a CPU, `update_sg_wakeup_stats`, where it counts nowhere.
    pub(super) fn group(
        &mut self,
        level: usize,
        cpus: Range<usize>,
        without: &[usize],
        leaver: Option<usize>,
        now_ns: u64,
    ) -> Group {
        let mut group = Group {
            cpus: cpus.clone(),
            kind: Kind::HasSpare,
            nr: 0,
            takeable: 0,
            idle: 0,
            load: 0,
            util: 0,
            avg_load: 0,
        };
        let mut runnable = 0;
        for cpu in cpus.filter(|cpu| !without.contains(cpu)) {
            self.sync_queue(cpu, now_ns);
            let queue = &self.queues[cpu];
            let mut signal = queue.signal;
            let mut nr = queue.nr;
            let leaver = leaver.map(|task| &self.entities[task]);
            if let Some(leaver) = leaver.filter(|leaver| leaver.queued && leaver.cpu == cpu) {
                signal.detach(&leaver.signal);
                nr -= 1;
            }
            group.nr += nr;
            group.takeable += self.takeable(cpu);
            group.idle += u64::from(nr == 0);
            group.load += signal.load();
            group.util += signal.util();
            runnable += signal.runnable();
        }
        let pinned = level > 0 && {
            let below = self.levels[level - 1].span;
            self.pinned[level - 1][group.cpus.start / below]
        };
        group.kind = group.classify(runnable, self.levels[level].imbalance_pct, pinned);
        if group.kind == Kind::Overloaded {
            group.avg_load = group.per_cpu_load();
        }
        group
    }
}
