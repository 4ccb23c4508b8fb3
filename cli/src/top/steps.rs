//! How much did each sum grow between two readings?

use std::collections::BTreeMap;

use sensors::sums::{CpuSum, Group, GroupSum, PairSum, Sums};

/// The growth of a machine's sums in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// When the interval ended, by CLOCK_MONOTONIC.
    pub end_ns: u64,
    /// Length of the interval.
    pub length_ns: u64,
    /// By number of the CPU; what a CPU runs and holds is that of the end.
    pub cpus: Vec<CpuSum>,
    /// By group, those that grew.
    pub groups: BTreeMap<Group, GroupSum>,
    /// By victim and culprit, those that grew.
    pub pairs: BTreeMap<(Group, Group), PairSum>,
    /// Times that found no room in the kernel's tables.
    pub without_room: u64,
}

/// The growth from one reading to a later one.
///
/// A sum that fell is of a new group with the number of an ended one, and counts from 0.
pub fn between(before: &Sums, now: &Sums) -> Steps {
    let zero_cpu = CpuSum::default();
    let cpus = now.cpus.iter().enumerate();
    Steps {
        end_ns: now.time_ns,
        length_ns: now.time_ns.saturating_sub(before.time_ns),
        cpus: cpus
            .map(|(cpu, sum)| of_cpu(before.cpus.get(cpu).unwrap_or(&zero_cpu), sum))
            .collect(),
        groups: grown(&before.groups, &now.groups, of_group),
        pairs: grown(&before.pairs, &now.pairs, of_pair),
        without_room: since(before.without_room, now.without_room),
    }
}

/// The growth of each sum that grew.
fn grown<K: Ord + Copy, S: Default + Copy + PartialEq>(
    before: &BTreeMap<K, S>,
    now: &BTreeMap<K, S>,
    growth: impl Fn(&S, &S) -> Option<S>,
) -> BTreeMap<K, S> {
    let zero = S::default();
    let steps = now.iter().map(|(&key, sum)| {
        let step = before.get(&key).map_or(Some(*sum), |old| growth(old, sum));
        (key, step.unwrap_or(*sum))
    });
    steps.filter(|(_, step)| *step != zero).collect()
}

fn of_cpu(before: &CpuSum, now: &CpuSum) -> CpuSum {
    CpuSum {
        busy_ns: since(before.busy_ns, now.busy_ns),
        switches: since(before.switches, now.switches),
        held_ns: since(before.held_ns, now.held_ns),
        ..*now
    }
}

/// The growth of a sum that never falls, except that it begins again at 0.
fn since(before: u64, now: u64) -> u64 {
    now.checked_sub(before).unwrap_or(now)
}

/// `None`: a sum fell.
fn of_group(before: &GroupSum, now: &GroupSum) -> Option<GroupSum> {
    Some(GroupSum {
        cpu_time_ns: now.cpu_time_ns.checked_sub(before.cpu_time_ns)?,
        waited_ns: now.waited_ns.checked_sub(before.waited_ns)?,
        lost_ns: now.lost_ns.checked_sub(before.lost_ns)?,
        leaves: now.leaves.checked_sub(before.leaves)?,
        wide_leaves: now.wide_leaves.checked_sub(before.wide_leaves)?,
    })
}

/// `None`: a sum fell.
fn of_pair(before: &PairSum, now: &PairSum) -> Option<PairSum> {
    Some(PairSum {
        waited_ns: now.waited_ns.checked_sub(before.waited_ns)?,
        beside_ns: now.beside_ns.checked_sub(before.beside_ns)?,
        lost_ns: now.lost_ns.checked_sub(before.lost_ns)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(cpu_time_ns: u64, waited_ns: u64) -> GroupSum {
        GroupSum { cpu_time_ns, waited_ns, ..GroupSum::default() }
    }

    fn sums(time_ns: u64, groups: &[(Group, GroupSum)]) -> Sums {
        Sums { time_ns, groups: groups.iter().copied().collect(), ..Sums::default() }
    }

    #[test]
    fn only_what_grew_has_a_step() {
        let before = sums(100, &[(1, group(10, 1)), (2, group(5, 0))]);
        let now = sums(350, &[(1, group(30, 4)), (2, group(5, 0)), (3, group(7, 0))]);
        let steps = between(&before, &now);
        assert_eq!((steps.end_ns, steps.length_ns), (350, 250));
        assert_eq!(steps.groups, BTreeMap::from([(1, group(20, 3)), (3, group(7, 0))]));
    }

    #[test]
    fn a_group_with_the_number_of_an_ended_one_counts_from_0() {
        let steps = between(&sums(0, &[(1, group(10, 9))]), &sums(9, &[(1, group(12, 2))]));
        assert_eq!(steps.groups, BTreeMap::from([(1, group(12, 2))]));
    }

    #[test]
    fn a_cpu_that_came_online_counts_from_0() {
        let cpu = |busy_ns| CpuSum { busy_ns, level: 2, ..CpuSum::default() };
        let before = Sums { cpus: vec![cpu(5)], ..Sums::default() };
        let now = Sums { cpus: vec![cpu(7), cpu(3)], ..Sums::default() };
        assert_eq!(between(&before, &now).cpus, [cpu(2), cpu(3)]);
    }
}
