//! What lies in the program's maps: `interface.bpf.h` has the same.

use cpu_model::LEVELS_MAX;

use super::costs::Slower;
use super::{By, Costs, CpuSum, Group, GroupSum, PairSum};

/// Bytes of `struct core` before its threads, and of each thread.
const CORE_HEAD: usize = 24 + 8 + 20 * LEVELS_MAX;
const THREAD: usize = 56;

/// The numbers of a value; bytes that fill no number are left out.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|&number| u64::from_ne_bytes(number))
}

/// The first numbers of a value; `None` for a value that is too short.
fn first<const COUNT: usize>(bytes: &[u8]) -> Option<[u64; COUNT]> {
    let mut found = numbers(bytes);
    let mut of = [0; COUNT];
    for number in &mut of {
        *number = found.next()?;
    }
    Some(of)
}

/// The program's own numbers, `struct state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub without_room: u64,
    pub booked_ns: u64,
}

impl State {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [without_room, _, booked_ns] = first(bytes)?;
        Some(Self { without_room, booked_ns })
    }
}

/// The key of a table by group.
pub(super) fn group(key: &[u8]) -> Option<Group> {
    first(key).map(|[group]| group)
}

/// The key of the table of pairs.
pub(super) fn pair(key: &[u8]) -> Option<(Group, Group)> {
    first(key).map(|[victim, culprit]| (victim, culprit))
}

/// The bytes of a key of the table of pairs.
pub(super) fn pair_key((victim, culprit): (Group, Group)) -> Vec<u8> {
    [victim.to_ne_bytes(), culprit.to_ne_bytes()].concat()
}

/// A group as the kernel has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupValue {
    pub sum: GroupSum,
    pub comm: Option<String>,
}

impl GroupValue {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [cpu_time_ns, waited_ns, lost_ns, leaves, low, high] = first(bytes)?;
        let comm = [low.to_ne_bytes(), high.to_ne_bytes()].concat();
        let end = comm.iter().position(|&byte| byte == 0).unwrap_or(comm.len());
        let comm = String::from_utf8_lossy(&comm[..end]).into_owned();
        Some(Self {
            sum: GroupSum { cpu_time_ns, waited_ns, lost_ns, leaves, wide_leaves: 0 },
            comm: Some(comm).filter(|comm| !comm.is_empty()),
        })
    }
}

/// How often a group left with wide registers, `struct wide_leaves`.
pub(super) fn wide_leaves(bytes: &[u8]) -> Option<u64> {
    first(bytes).map(|[all]| all)
}

/// `struct pair_sum`.
pub(super) fn pair_sum(bytes: &[u8]) -> Option<PairSum> {
    first(bytes).map(|[waited_ns, beside_ns, lost_ns]| PairSum { waited_ns, beside_ns, lost_ns })
}

/// A CPU of a core, `struct core`.
pub(super) fn cpu_sum(core: &[u8], thread: usize) -> Option<CpuSum> {
    let [lock_and_level, holder] = first(core)?;
    let of_thread = core.get(CORE_HEAD..)?.chunks_exact(THREAD).nth(thread)?;
    let [group, _, busy_ns, switches, held_ns] = first(of_thread)?;
    let level = (lock_and_level >> 32) as u8;
    Some(CpuSum {
        busy_ns,
        switches,
        held_ns,
        running: Some(group).filter(|&group| group != 0),
        holder: Some(holder).filter(|_| level > 0),
        level,
    })
}

/// `struct setup`.
pub(super) fn setup(by: By, costs: Option<&Costs>) -> Vec<u8> {
    let holds = costs.map_or([0; LEVELS_MAX], |costs| costs.hold_ns);
    let (wide, tiles) = costs.map_or(Costs::REGISTERS, |costs| costs.features);
    let levels = costs.map_or((0, 0), |costs| (costs.wide_level, costs.tile_level));
    let by_control_group = u32::from(by == By::ControlGroup);
    let numbers = holds.into_iter().chain([wide, tiles]);
    let halves = [levels.0.into(), levels.1.into(), by_control_group, 0];
    numbers
        .flat_map(u64::to_ne_bytes)
        .chain(halves.into_iter().flat_map(u32::to_ne_bytes))
        .collect()
}

/// `struct clock`.
pub(super) fn clock(slower: &Slower) -> Vec<u8> {
    slower.iter().flatten().flat_map(|share| share.to_ne_bytes()).collect()
}

/// `struct place`.
pub(super) fn place(core: u32, thread: u32) -> Vec<u8> {
    [core.to_ne_bytes(), thread.to_ne_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
    }

    #[test]
    fn a_group_has_sums_and_a_name() {
        let name = u64::from_ne_bytes(*b"x265\0abc");
        let group = GroupValue::parse(&bytes(&[1, 2, 3, 4, name, 0])).unwrap();
        let sum = GroupSum { cpu_time_ns: 1, waited_ns: 2, lost_ns: 3, leaves: 4, wide_leaves: 0 };
        let comm = Some("x265".to_owned());
        assert_eq!(group, GroupValue { sum, comm });
        assert_eq!(GroupValue::parse(&bytes(&[1, 2, 3, 4, 0, 0])).unwrap().comm, None);
    }

    #[test]
    fn a_core_has_two_cpus_and_a_holder_while_a_level_is_held() {
        let threads = [[7, 90, 10, 11, 12, 0, 0], [0, 91, 20, 21, 22, 0, 0]].concat();
        let core = |level: u64| {
            let head = [vec![level << 32 | 1, 7, 99], vec![5; 16]].concat();
            bytes(&[head, threads.clone()].concat())
        };
        let first = CpuSum {
            busy_ns: 10,
            switches: 11,
            held_ns: 12,
            running: Some(7),
            holder: Some(7),
            level: 2,
        };
        assert_eq!(cpu_sum(&core(2), 0), Some(first));
        let second = CpuSum {
            busy_ns: 20,
            switches: 21,
            held_ns: 22,
            running: None,
            holder: None,
            level: 0,
        };
        assert_eq!(cpu_sum(&core(0), 1), Some(second));
        assert_eq!(cpu_sum(&core(0), 2), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_value_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let words = bytes.len() / 8;
            prop_assert_eq!(State::parse(&bytes).is_some(), words >= 3);
            prop_assert_eq!(GroupValue::parse(&bytes).is_some(), words >= 6);
            prop_assert_eq!(pair(&bytes).is_some(), words >= 2);
            prop_assert_eq!(pair_sum(&bytes).is_some(), words >= 3);
            prop_assert_eq!(group(&bytes).is_some() && wide_leaves(&bytes).is_some(), words >= 1);
            prop_assert_eq!(cpu_sum(&bytes, 1).is_some(), bytes.len() >= CORE_HEAD + 2 * THREAD);
        }
    }
}
