//! Which CPUs are a core, share a cache, or are in a socket? The kernel says it below
//! `/sys/devices/system`; it is asked where `OMP_PLACES` names such parts.

use std::fs;
use std::path::Path;

use crate::environment::Unit;

/// These CPUs as parts of the machine, each part with those of its CPUs that are among them. Parts
/// are in the order of their first CPUs; a CPU of which nothing is known is a part by itself.
pub(super) fn parts(unit: Unit, cpus: &[u32]) -> Vec<Vec<u32>> {
    grouped(cpus, |cpu| whole(Path::new("/sys/devices/system"), unit, cpu))
}

fn grouped(cpus: &[u32], part_of: impl Fn(u32) -> Vec<u32>) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for &cpu in cpus {
        if parts.iter().any(|part| part.contains(&cpu)) {
            continue;
        }
        let of_cpu = part_of(cpu);
        let is_free = |other: u32| !parts.iter().any(|part| part.contains(&other));
        let is_in = |other: &&u32| **other == cpu || of_cpu.contains(other) && is_free(**other);
        let part = cpus.iter().filter(is_in).copied().collect();
        parts.push(part);
    }
    parts
}

/// The CPUs of the part that a CPU is in.
fn whole(system: &Path, unit: Unit, cpu: u32) -> Vec<u32> {
    let folder = system.join(format!("cpu/cpu{cpu}"));
    // The first of a pair is the newer name.
    let either = |names: [&str; 2]| {
        let mut lists = names.iter().map(|name| list(&folder.join("topology").join(name)));
        lists.find(|cpus| !cpus.is_empty()).unwrap_or_default()
    };
    match unit {
        Unit::Threads => vec![cpu],
        Unit::Cores => either(["core_cpus_list", "thread_siblings_list"]),
        Unit::Sockets => either(["package_cpus_list", "core_siblings_list"]),
        Unit::LastLevelCaches => last_cache(&folder.join("cache")),
        Unit::NumaDomains => domain(system, cpu),
    }
}

/// The CPUs of the cache with the highest level.
fn last_cache(caches: &Path) -> Vec<u32> {
    let level = |path: &Path| -> Option<u32> {
        fs::read_to_string(path.join("level")).ok()?.trim().parse().ok()
    };
    let caches = fs::read_dir(caches).into_iter().flatten().flatten().map(|entry| entry.path());
    let highest = caches.filter_map(|path| Some((level(&path)?, path))).max();
    highest.map(|(_, path)| list(&path.join("shared_cpu_list"))).unwrap_or_default()
}

fn domain(system: &Path, cpu: u32) -> Vec<u32> {
    let domains = fs::read_dir(system.join("node")).into_iter().flatten().flatten();
    let mut lists = domains.map(|domain| list(&domain.path().join("cpulist")));
    lists.find(|cpus| cpus.contains(&cpu)).unwrap_or_default()
}

/// The kernel's list of CPUs in a file: `0-3,8`; nothing where there is none.
fn list(path: &Path) -> Vec<u32> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let ranges = text.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_cpus_that_may_be_used() {
        // Cores of two threads each: 0 with 4, 1 with 5, and so on.
        let core = |cpu: u32| vec![cpu % 4, cpu % 4 + 4];
        assert_eq!(grouped(&[0, 1, 2, 4, 6], core), [vec![0, 4], vec![1], vec![2, 6]]);
        assert_eq!(grouped(&[5], core), [[5]]);
        assert_eq!(grouped(&[0, 1], |_| Vec::new()), [[0], [1]]);
    }

    #[test]
    fn the_kernels_files_are_read() {
        let folder = std::env::temp_dir().join(format!("evenkeel-places-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("cpu/cpu1/topology/thread_siblings_list", "1,9\n");
        write("cpu/cpu1/topology/package_cpus_list", "0-3,8-9\n");
        write("cpu/cpu1/cache/index0/level", "1\n");
        write("cpu/cpu1/cache/index0/shared_cpu_list", "1\n");
        write("cpu/cpu1/cache/index3/level", "3\n");
        write("cpu/cpu1/cache/index3/shared_cpu_list", "0-1\n");
        write("node/node0/cpulist", "0\n");
        write("node/node1/cpulist", "1-2\n");
        let of = |unit| whole(&folder, unit, 1);
        let found = [Unit::Threads, Unit::Cores, Unit::LastLevelCaches, Unit::NumaDomains].map(of);
        let sockets = of(Unit::Sockets);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, [vec![1], vec![1, 9], vec![0, 1], vec![1, 2]]);
        assert_eq!(sockets, [0, 1, 2, 3, 8, 9]);
    }
}
