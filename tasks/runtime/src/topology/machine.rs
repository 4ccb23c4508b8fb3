//! The machine at hand, less the CPUs that this process may not use.

use std::ops::Range;

use super::{CpuList, Part, Sysfs, Topology};

impl Topology {
    /// The CPUs that this thread may use (affinity and cpuset) as the kernel groups them.
    ///
    /// CPUs that `/sys` does not describe are one group.
    pub fn of_machine() -> Self {
        grouped(&Sysfs::of_machine(), &CpuList::allowed())
    }
}

/// Groups `allowed` by NUMA domain and, within a domain, by last-level cache.
fn grouped(sysfs: &Sysfs, allowed: &CpuList) -> Topology {
    let domains = sysfs.domains();
    let keyed = |cpu: usize| {
        let domain = domains.iter().position(|domain| domain.contains(cpu)).unwrap_or(0);
        let cache = sysfs.beside(cpu, Part::LastLevelCache).first().unwrap_or(0);
        (domain, cache, cpu)
    };
    let mut order: Vec<(usize, usize, usize)> = allowed.iter().map(keyed).collect();
    order.sort_unstable();
    Topology::from_groups(
        order.iter().map(|&(_, _, cpu)| cpu).collect(),
        runs(&order, |&(domain, cache, _)| (domain, cache)),
        runs(&order, |&(domain, _, _)| domain),
    )
}

/// Ranges of positions with equal keys.
fn runs<T, K: PartialEq>(sorted: &[T], key: impl Fn(&T) -> K) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (position, one) in sorted.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if key(&sorted[run.start]) == key(one) => run.end = position + 1,
            _ => runs.push(position..position + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_the_cpus_that_may_be_used() {
        let machine = Topology::of_machine();
        let parallel = std::thread::available_parallelism().unwrap().get();
        assert!(machine.cpus() >= parallel);
        assert_eq!(machine.levels.last().unwrap()[0], 0..machine.cpus());
    }

    #[test]
    fn cpus_beyond_the_mask_are_no_leaves() {
        let machine = grouped(&Sysfs::in_folder("/nowhere"), &CpuList::from_iter([3, 5]));
        assert_eq!(machine.cpus, vec![3, 5]);
        assert_eq!((machine.domains(), machine.domain_of(1)), (1, 0));
    }
}
