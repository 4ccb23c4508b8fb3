//! The machine at hand, as `/sys` tells it, less the CPUs that this process may not use.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;

use super::Topology;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

impl Topology {
    /// The CPUs that this thread may use (affinity and cpuset) as the kernel groups them.
    ///
    /// What `/sys` does not tell is one group.
    pub fn of_machine() -> Self {
        read(Path::new(CPUS), Path::new(NODES), &allowed())
    }
}

/// CPUs of the calling thread's affinity mask; a cpuset has already been applied to it.
fn allowed() -> BTreeSet<usize> {
    // Large machines need a larger mask than `cpu_set_t`; the kernel refuses one that is too small.
    let mut mask = vec![0_u64; 1024];
    // SAFETY: the kernel writes at most as many bytes as it is told the mask has.
    let bytes =
        unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, mask.len() * 8, mask.as_mut_ptr()) };
    let words = usize::try_from(bytes).unwrap_or(0) / 8;
    let set = |cpu: &usize| mask[cpu / 64] >> (cpu % 64) & 1 == 1;
    let cpus: BTreeSet<usize> = (0..words * 64).filter(set).collect();
    if cpus.is_empty() { BTreeSet::from([0]) } else { cpus }
}

/// Groups `allowed` by NUMA domain and, in it, by last-level cache.
fn read(cpus: &Path, nodes: &Path, allowed: &BTreeSet<usize>) -> Topology {
    let domains = domains(nodes);
    let keyed = |&cpu: &usize| {
        let domain = domains.iter().position(|domain| domain.contains(&cpu)).unwrap_or(0);
        (domain, first_beside(cpus, cpu), cpu)
    };
    let mut order: Vec<(usize, usize, usize)> = allowed.iter().map(keyed).collect();
    order.sort_unstable();
    Topology::from_groups(
        order.iter().map(|&(_, _, cpu)| cpu).collect(),
        runs(&order, |&(domain, cache, _)| (domain, cache)),
        runs(&order, |&(domain, _, _)| domain),
    )
}

/// The CPUs of each NUMA domain; empty where the kernel has none.
fn domains(nodes: &Path) -> Vec<BTreeSet<usize>> {
    let numbered = |entry: fs::DirEntry| {
        let number: usize = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((number, list(&fs::read_to_string(entry.path().join("cpulist")).ok()?)))
    };
    let entries = fs::read_dir(nodes).into_iter().flatten();
    let mut found: Vec<_> = entries.filter_map(|entry| numbered(entry.ok()?)).collect();
    found.sort();
    found.into_iter().map(|(_, cpus)| cpus).filter(|cpus| !cpus.is_empty()).collect()
}

/// The first CPU that shares the largest cache with this one.
fn first_beside(cpus: &Path, cpu: usize) -> usize {
    let caches = cpus.join(format!("cpu{cpu}/cache"));
    let read = |index: usize, file: &str| {
        fs::read_to_string(caches.join(format!("index{index}/{file}"))).ok()
    };
    (0..8)
        .filter_map(|index| {
            let level: u32 = read(index, "level")?.trim().parse().ok()?;
            Some((level, *list(&read(index, "shared_cpu_list")?).first()?))
        })
        .max_by_key(|&(level, _)| level)
        .map_or(0, |(_, first)| first)
}

/// Reads the kernel's lists of CPUs: `0-3,8`. What is no number is left out.
fn list(text: &str) -> BTreeSet<usize> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(part).flatten().collect()
}

/// Positions where the key stays the same.
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
    fn lists_of_the_kernel_are_read() {
        assert_eq!(list("0-2,8\n"), BTreeSet::from([0, 1, 2, 8]));
        assert!(list("\n").is_empty());
    }

    #[test]
    fn cpus_beyond_the_mask_are_no_leaves() {
        let nowhere = Path::new("/nowhere");
        let machine = read(nowhere, nowhere, &BTreeSet::from([3, 5]));
        assert_eq!(machine.cpus, vec![3, 5]);
        assert_eq!((machine.domains(), machine.domain_of(1)), (1, 0));
    }
}
