//! Where a pair runs, in the model's numbers of CPUs.

use std::fs;

use scenarios::Machine;

/// The part of the machine that the pair uses. CPUs of the model are numbered core by core,
/// whatever the numbers of this machine are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// One or two CPUs.
    pub machine: Machine,
    /// CPU of the victim.
    pub victim_cpu: u32,
    /// CPU of the culprit.
    pub culprit_cpu: u32,
}

/// Where two CPUs of this machine are to each other.
#[must_use]
pub fn place(victim_cpu: usize, culprit_cpu: usize) -> Place {
    let siblings = fs::read_to_string(format!(
        "/sys/devices/system/cpu/cpu{victim_cpu}/topology/thread_siblings_list"
    ));
    place_among(victim_cpu, culprit_cpu, &siblings.unwrap_or_default())
}

fn place_among(victim_cpu: usize, culprit_cpu: usize, siblings: &str) -> Place {
    let is_shared = victim_cpu == culprit_cpu;
    let is_sibling = !is_shared && cpus(siblings).contains(&culprit_cpu);
    Place {
        machine: Machine {
            packages: 1,
            cores_per_package: if is_shared || is_sibling { 1 } else { 2 },
            threads_per_core: if is_sibling { 2 } else { 1 },
            turbo_cores: None,
            turbo: true,
        },
        victim_cpu: 0,
        culprit_cpu: u32::from(!is_shared),
    }
}

/// A list of the kernel's, such as `0,32` or `2-3`.
fn cpus(list: &str) -> Vec<usize> {
    list.trim()
        .split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.parse().ok()?..=last.parse().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_need_not_have_neighbouring_numbers() {
        let beside = place_among(2, 34, "2,34\n");
        assert_eq!((beside.machine.threads_per_core, beside.machine.cpus()), (2, 2));
        let apart = place_among(2, 3, "2,34\n");
        assert_eq!((apart.machine.threads_per_core, apart.machine.cores_per_package), (1, 2));
        let shared = place_among(2, 2, "2-3\n");
        assert_eq!((shared.machine.cpus(), shared.culprit_cpu), (1, 0));
    }
}
