//! Scheduling domains: at which levels CPUs are balanced, and how often.
//!
//! A machine has up to three levels: the threads of a core (SMT), the cores that share a
//! cache (MC, here a package) and the packages (NUMA); one whose span equals that of the
//! level below is left out. Values are `sd_init`'s in `kernel/sched/topology.c`.

use std::ops::Range;

use crate::topology::Topology;

/// Differences in balancing between the modelled kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Era {
    /// How much less often a busy CPU balances: 32 in 5.9, 16 since 5.10.
    pub busy_factor: u64,
    /// 5.9 has 125, 117 since 5.10.
    pub numa_imbalance_pct: u64,
    /// A busy CPU's interval is a tick shorter, so that levels drift apart (since 5.10).
    pub shortened_interval: bool,
    /// Newly idle CPUs look for work only if they expect to idle this long.
    pub newidle_after_ns: u64,
    /// Newly idle CPUs look for work in proportion to earlier success (`NI_RANDOM`,
    /// "Proportional newidle balance": 6.19, and stable 6.12.69 and 6.18).
    pub newidle_by_success: bool,
    /// Number of CPUs to search for an idle one: from their utilisation (`SIS_UTIL`,
    /// since 6.0) instead of from the expected idle time (`SIS_PROP`).
    pub scan_by_util: bool,
    /// A task's load is halved for each failure before comparing with the load to move
    /// (since 5.12).
    pub halves_by_failure: bool,
    /// A running task is pushed only when tasks, not load, are to be moved, and cores
    /// with an idle thread do not pull before idle cores (6.12).
    pub careful: bool,
    /// A delayed task, asleep in its queue, does not count as movable work, and moves with load
    /// only (since 6.14; earlier kernels count and move delayed tasks like runnable ones).
    pub sleepers_apart: bool,
    /// An ineligible task moves to a CPU with other tasks only after a failure
    /// (`task_is_ineligible_on_dst_cpu`, in 6.18 and not in 6.12).
    pub eligible_first: bool,
}

/// One level of domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// CPUs of a domain, and of each of the groups that the domain balances.
    pub span: usize,
    pub group: usize,
    /// How much busier, in percent, another group must be.
    pub imbalance_pct: u64,
    /// Failures after which tasks with hot caches may move.
    pub cache_nice_tries: u32,
    /// Threads of a core.
    pub shares_core: bool,
    pub shares_cache: bool,
    /// Groups are filled evenly (`SD_PREFER_SIBLING` of the level below).
    pub prefers_siblings: bool,
}

impl Level {
    pub(crate) fn span_of(&self, cpu: usize) -> Range<usize> {
        let start = cpu / self.span * self.span;
        start..start + self.span
    }

    pub(crate) fn group_of(&self, cpu: usize) -> Range<usize> {
        let start = cpu / self.group * self.group;
        start..start + self.group
    }

    /// The groups of the domain that the CPU is in; the kernel's list begins with its own.
    pub(crate) fn groups(&self, cpu: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let span = self.span_of(cpu);
        let (size, count) = (self.group, self.span / self.group);
        let own = (cpu - span.start) / size;
        (0..count).map(move |i| {
            let start = span.start + (own + i) % count * size;
            start..start + size
        })
    }
}

/// The levels of a machine, from the smallest.
pub(crate) fn levels(topology: &Topology, era: &Era) -> Vec<Level> {
    let core = topology.threads_per_core;
    let package = core * topology.cores_per_package;
    let mut levels: Vec<Level> = Vec::with_capacity(3);
    let mut push = |span: usize, level: Level| {
        let group = levels.last().map_or(1, |below| below.span);
        if span > group {
            levels.push(Level { span, group, prefers_siblings: group > 1, ..level });
        }
    };
    let level = Level {
        span: 0,
        group: 0,
        imbalance_pct: 117,
        cache_nice_tries: 1,
        shares_core: false,
        shares_cache: true,
        prefers_siblings: false,
    };
    push(core, Level { imbalance_pct: 110, cache_nice_tries: 0, shares_core: true, ..level });
    push(package, level);
    let numa_pct = era.numa_imbalance_pct;
    push(
        topology.cpus,
        Level { imbalance_pct: numa_pct, cache_nice_tries: 2, shares_cache: false, ..level },
    );
    levels
}

/// Time and success of a CPU's balancing at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    interval_ms: u64,
    min_ms: u64,
    max_ms: u64,
    /// Jiffy of the last attempt.
    pub last: u64,
    /// Attempts in a row that moved nothing despite an imbalance.
    pub failed: u32,
    newidle_calls: u32,
    newidle_successes: u32,
    newidle_ratio: u32,
}

impl Pace {
    /// Starts at the shortest interval: as many ms as the domain has CPUs.
    pub(crate) fn new(level: &Level) -> Self {
        let min_ms = level.span as u64;
        Self {
            interval_ms: min_ms,
            min_ms,
            max_ms: 2 * min_ms,
            last: 0,
            failed: 0,
            newidle_calls: 512,
            newidle_successes: 256,
            newidle_ratio: 512,
        }
    }

    /// `get_sd_balance_interval`, in jiffies; at most a tenth of a second a CPU.
    pub(crate) fn interval(&self, busy: bool, era: &Era, hz: u64, cpus: u64) -> u64 {
        let ms = self.interval_ms * if busy { era.busy_factor } else { 1 };
        let mut jiffies = (ms * hz).div_ceil(1000);
        if busy && era.shortened_interval {
            jiffies = jiffies.saturating_sub(1);
        }
        jiffies.clamp(1, (hz * cpus / 10).max(1))
    }

    /// Nothing to do, or nothing that may be moved.
    pub(crate) fn slow_down(&mut self, pinned: bool) {
        /// `MAX_PINNED_INTERVAL`.
        const PINNED_MAX_MS: u64 = 512;
        if (pinned && self.interval_ms < PINNED_MAX_MS) || self.interval_ms < self.max_ms {
            self.interval_ms *= 2;
        }
    }

    pub(crate) fn reset(&mut self) {
        self.interval_ms = self.min_ms;
    }

    /// Throws the dice of `NI_RANDOM`: the weight of a success, or `None` to skip.
    pub(crate) fn try_newidle(&mut self, draw: u32) -> Option<u32> {
        let weight = 1 + self.newidle_ratio;
        if draw % 1024 > weight {
            self.note_newidle(0);
            return None;
        }
        Some((1024 + weight / 2) / weight)
    }

    /// `update_newidle_stats`: successes of the last 1024 attempts.
    pub(crate) fn note_newidle(&mut self, success: u32) {
        self.newidle_calls += 1;
        self.newidle_successes += success;
        if self.newidle_calls >= 1024 {
            self.newidle_ratio = self.newidle_successes;
            self.newidle_calls /= 2;
            self.newidle_successes /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenarios::Machine;

    const CFS: Era = super::super::cfs::ERA_5_9;

    fn machine(packages: u32, cores_per_package: u32, threads_per_core: u32) -> Topology {
        Topology::new(&Machine {
            packages,
            cores_per_package,
            threads_per_core,
            turbo_cores: None,
            turbo: true,
        })
    }

    #[test]
    fn sixteen_cores_have_an_smt_and_a_cache_level() {
        let levels = levels(&machine(1, 16, 2), &CFS);
        let spans: Vec<_> = levels.iter().map(|level| (level.span, level.group)).collect();
        assert_eq!(spans, [(2, 1), (32, 2)]);
        assert_eq!(levels[0].imbalance_pct, 110);
        assert!(levels[1].prefers_siblings && !levels[0].prefers_siblings);
    }

    #[test]
    fn levels_of_equal_span_are_left_out() {
        assert_eq!(levels(&machine(1, 1, 1), &CFS), []);
        assert_eq!(levels(&machine(2, 1, 2), &CFS).len(), 2);
        assert_eq!(levels(&machine(2, 4, 2), &CFS).len(), 3);
    }

    #[test]
    fn groups_begin_with_the_own_one() {
        let levels = levels(&machine(2, 2, 2), &CFS);
        let groups: Vec<_> = levels[1].groups(6).collect();
        assert_eq!(groups, [6..8, 4..6]);
    }

    #[test]
    fn busy_cpus_of_5_9_balance_after_64_ms_in_a_core_and_1024_ms_in_a_package() {
        let levels = levels(&machine(1, 16, 2), &CFS);
        let interval = |level: &Level, busy| Pace::new(level).interval(busy, &CFS, 1000, 32);
        assert_eq!((interval(&levels[0], true), interval(&levels[1], true)), (64, 1024));
        assert_eq!((interval(&levels[0], false), interval(&levels[1], false)), (2, 32));
    }

    #[test]
    fn intervals_double_until_twice_the_span() {
        let levels = levels(&machine(1, 16, 2), &CFS);
        let mut pace = Pace::new(&levels[1]);
        pace.slow_down(false);
        pace.slow_down(false);
        assert_eq!(pace.interval(false, &CFS, 1000, 32), 64);
        pace.reset();
        assert_eq!(pace.interval(false, &CFS, 1000, 32), 32);
    }
}
