//! Which CPUs are a core, share a cache, or are in a socket? For `OMP_PLACES` with such names.

use evenkeel_runtime::CpuList;
use evenkeel_runtime::internal::{Part, Sysfs};

use crate::environment::Unit;

/// These CPUs as parts of the machine, each part with those of its CPUs that are among them. Parts
/// are in the order of their first CPUs; a CPU of which nothing is known is a part by itself.
pub(super) fn parts(unit: Unit, cpus: &[u32]) -> Vec<Vec<u32>> {
    let sysfs = Sysfs::of_machine();
    let beside = |part: Part| grouped(cpus, |cpu| sysfs.beside(cpu as usize, part));
    match unit {
        Unit::Threads => cpus.iter().map(|&cpu| vec![cpu]).collect(),
        Unit::Cores => beside(Part::Core),
        Unit::LastLevelCaches => beside(Part::LastLevelCache),
        Unit::NumaDomains => beside(Part::NumaDomain),
        Unit::Sockets => beside(Part::Socket),
    }
}

fn grouped(cpus: &[u32], part_of: impl Fn(u32) -> CpuList) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for &cpu in cpus {
        if parts.iter().any(|part| part.contains(&cpu)) {
            continue;
        }
        let of_cpu = part_of(cpu);
        let is_free = |other: u32| !parts.iter().any(|part| part.contains(&other));
        let is_in =
            |other: &&u32| **other == cpu || of_cpu.contains(**other as usize) && is_free(**other);
        let part = cpus.iter().filter(is_in).copied().collect();
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_cpus_that_may_be_used() {
        // Cores of two threads each: 0 with 4, 1 with 5, and so on.
        let core = |cpu: u32| CpuList::from_iter([cpu as usize % 4, cpu as usize % 4 + 4]);
        assert_eq!(grouped(&[0, 1, 2, 4, 6], core), [vec![0, 4], vec![1], vec![2, 6]]);
        assert_eq!(grouped(&[5], core), [[5]]);
        assert_eq!(grouped(&[0, 1], |_| CpuList::default()), [[0], [1]]);
    }
}
