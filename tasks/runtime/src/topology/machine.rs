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

/// The least CPUs of a domain that caches can divide: two CPUs share one cache, which is all of the
/// domain, or have one each, which groups nothing.
const DIVISIBLE: usize = 3;

/// Groups `allowed` by NUMA domain and, within a domain, by last-level cache.
///
/// The kernel takes 5 to 15 us for each file, and the first parallel region of a program waits for
/// them: of each cache the files of one CPU are read.
fn grouped(sysfs: &Sysfs, allowed: &CpuList) -> Topology {
    let domains = sysfs.domains();
    let domain_of = |cpu| domains.iter().position(|domain| domain.contains(cpu)).unwrap_or(0);
    let mut cpus_of = vec![0; domains.len().max(1)];
    allowed.iter().for_each(|cpu| cpus_of[domain_of(cpu)] += 1);
    let mut caches: Vec<CpuList> = Vec::new();
    let mut keyed = |cpu: usize| {
        let domain = domain_of(cpu);
        if cpus_of[domain] < DIVISIBLE {
            return (domain, 0, cpu);
        }
        let known = caches.iter().find(|cache| cache.contains(cpu)).and_then(CpuList::first);
        let cache = known.unwrap_or_else(|| {
            caches.push(sysfs.beside(cpu, Part::LastLevelCache));
            caches.last().and_then(CpuList::first).unwrap_or(0)
        });
        (domain, cache, cpu)
    };
    let mut order: Vec<(usize, usize, usize)> = allowed.iter().map(&mut keyed).collect();
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

    /// Writes files of a folder like the kernel's, and groups these CPUs by the files.
    fn grouped_by(name: &str, files: &[(&str, &str)], allowed: &[usize]) -> Topology {
        let folder = std::env::temp_dir().join(format!("evenkeel-{name}-{}", std::process::id()));
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let machine = grouped(&Sysfs::in_folder(&folder), &CpuList::from_iter(allowed.to_vec()));
        std::fs::remove_dir_all(&folder).unwrap();
        machine
    }

    #[test]
    fn the_files_of_one_cpu_say_which_cpus_share_its_cache() {
        let machine = grouped_by(
            "caches",
            &[
                ("cpu/cpu0/cache/index0/level", "3\n"),
                ("cpu/cpu0/cache/index0/shared_cpu_list", "0,2\n"),
                ("cpu/cpu1/cache/index0/level", "3\n"),
                ("cpu/cpu1/cache/index0/shared_cpu_list", "1,3\n"),
            ],
            &[0, 1, 2, 3],
        );
        assert_eq!(machine.cpus, vec![0, 2, 1, 3]);
        assert_eq!(machine.levels, vec![vec![0..2, 2..4], vec![0..4]]);
    }

    #[test]
    fn caches_are_not_asked_for_in_a_domain_of_two_cpus() {
        let machine = grouped_by(
            "domains",
            &[
                ("node/has_cpu", "0-1\n"),
                ("node/node0/cpulist", "0-1\n"),
                ("node/node1/cpulist", "2-4\n"),
                ("cpu/cpu0/cache/index0/level", "3\n"),
                ("cpu/cpu0/cache/index0/shared_cpu_list", "0\n"),
                ("cpu/cpu1/cache/index0/level", "3\n"),
                ("cpu/cpu1/cache/index0/shared_cpu_list", "1\n"),
                ("cpu/cpu2/cache/index0/level", "3\n"),
                ("cpu/cpu2/cache/index0/shared_cpu_list", "2-3\n"),
                ("cpu/cpu4/cache/index0/level", "3\n"),
                ("cpu/cpu4/cache/index0/shared_cpu_list", "4\n"),
            ],
            &[0, 1, 2, 3, 4],
        );
        assert_eq!(
            machine.levels,
            vec![vec![0..2, 2..4, 4..5], vec![0..2, 2..5], vec![0..5]],
            "CPUs 0 and 1 stay together, and the caches divide the larger domain"
        );
    }

    #[test]
    fn cpus_beyond_the_mask_are_no_leaves() {
        let machine = grouped(&Sysfs::in_folder("/nowhere"), &CpuList::from_iter([3, 5]));
        assert_eq!(machine.cpus, vec![3, 5]);
        assert_eq!((machine.domains(), machine.domain_of(1)), (1, 0));
    }
}
