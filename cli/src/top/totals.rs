//! The totals since the start, by a bounded number of labels. A total never falls.
//!
//! Processes of one name are one label, so labels do not grow with the number of processes. What
//! has no label of its own is counted under [`OTHER`]; so the sum of all labels grows by exactly as
//! much as the machine's sums.

use std::collections::{BTreeMap, BTreeSet};

use sensors::sums::Group;

use super::labels::Labels;
use super::names::{self, Names};
use super::steps::Steps;

/// Groups with a label of their own, and pairs; our choice: a scrape stays below 400 KB.
const GROUPS_MAX: usize = 200;
const PAIRS_MAX: usize = 1000;
/// The label of all groups without one of their own.
pub const OTHER: &str = "other";
/// A group or pair gets a label if CPU time, waiting and losses of an interval are at least this
/// share of one CPU: most processes of a machine do next to nothing.
const SHARE_MIN_PERMILLE: u64 = 1;

/// The totals of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTotal {
    /// CPU time.
    pub cpu_time_ns: u64,
    /// Times that its tasks left a CPU with 512-bit registers or tiles in use.
    pub wide_leaves: u64,
}

/// The totals of a victim and a culprit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairTotal {
    /// Waiting of the victim for the culprit.
    pub waited_ns: u64,
    /// CPU time of the victim beside the culprit.
    pub beside_ns: u64,
    /// CPU time that the victim lost to the culprit's level.
    pub lost_ns: u64,
}

/// The totals of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTotal {
    /// Time with a task.
    pub busy_ns: u64,
    /// Of it, while its core was believed to hold a level.
    pub held_ns: u64,
    /// Switches.
    pub switches: u64,
}

/// All totals.
#[derive(Clone, Debug)]
pub struct Totals {
    /// By number of the CPU.
    pub cpus: Vec<CpuTotal>,
    /// By label of the group.
    pub groups: BTreeMap<String, GroupTotal>,
    /// By labels of victim and culprit.
    pub pairs: BTreeMap<(String, String), PairTotal>,
    /// Times that found no room in the kernel's tables.
    pub without_room: u64,
    /// Readings.
    pub readings: u64,
    group_labels: Labels<String>,
    pair_labels: Labels<(String, String)>,
}

impl Default for Totals {
    fn default() -> Self {
        Self::with_most(GROUPS_MAX, PAIRS_MAX)
    }
}

impl Totals {
    fn with_most(groups: usize, pairs: usize) -> Self {
        Self {
            cpus: Vec::new(),
            groups: BTreeMap::new(),
            pairs: BTreeMap::new(),
            without_room: 0,
            readings: 0,
            group_labels: Labels::new(groups),
            pair_labels: Labels::new(pairs),
        }
    }

    /// Adds an interval.
    pub fn add(&mut self, steps: &Steps, names: &Names) {
        self.readings += 1;
        self.without_room += steps.without_room;
        self.cpus.resize(self.cpus.len().max(steps.cpus.len()), CpuTotal::default());
        for (total, step) in self.cpus.iter_mut().zip(&steps.cpus) {
            total.busy_ns += step.busy_ns;
            total.held_ns += step.held_ns;
            total.switches += step.switches;
        }
        let all = steps.groups.keys().chain(steps.pairs.keys().flat_map(|(a, b)| [a, b]));
        let all: BTreeSet<Group> = all.copied().collect();
        let label = |group: Group| (group, names::label(&names.of(group)).to_owned());
        let by_number: BTreeMap<Group, String> = all.into_iter().map(label).collect();
        let size_min = (steps.length_ns / 1000 * SHARE_MIN_PERMILLE).max(1);
        self.add_groups(steps, &by_number, size_min);
        self.add_pairs(steps, &by_number, size_min);
    }

    fn add_groups(&mut self, steps: &Steps, by_number: &BTreeMap<Group, String>, size_min: u64) {
        let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
        for (group, step) in &steps.groups {
            let size = step.cpu_time_ns + step.waited_ns + step.lost_ns;
            *sizes.entry(by_number[group].clone()).or_default() += size;
        }
        for ((victim, culprit), step) in &steps.pairs {
            let size = step.waited_ns + step.lost_ns;
            for group in
                [victim, culprit].into_iter().filter(|group| !steps.groups.contains_key(*group))
            {
                *sizes.entry(by_number[group].clone()).or_default() += size;
            }
        }
        sizes.retain(|label, size| *size >= size_min && label != OTHER);
        let out: BTreeSet<String> =
            self.group_labels.settle(&sizes, steps.end_ns).into_iter().collect();
        self.groups.retain(|label, _| !out.contains(label));
        self.pairs.retain(|(a, b), _| !out.contains(a) && !out.contains(b));
        let of_gone = |(a, b): &&(String, String)| out.contains(a) || out.contains(b);
        let pairs: Vec<_> = self.pair_labels.all().filter(of_gone).cloned().collect();
        pairs.iter().for_each(|pair| self.pair_labels.remove(pair));
        for (group, step) in &steps.groups {
            let total =
                self.groups.entry(self.group_label(&by_number[group]).to_owned()).or_default();
            total.cpu_time_ns += step.cpu_time_ns;
            total.wide_leaves += step.wide_leaves;
        }
    }

    fn group_label<'l>(&self, label: &'l String) -> &'l str {
        if self.group_labels.has(label) { label } else { OTHER }
    }

    fn add_pairs(&mut self, steps: &Steps, by_number: &BTreeMap<Group, String>, size_min: u64) {
        let label = |group: &Group| self.group_label(&by_number[group]);
        let mut added: BTreeMap<(&str, &str), PairTotal> = BTreeMap::new();
        for ((victim, culprit), step) in &steps.pairs {
            let total = added.entry((label(victim), label(culprit))).or_default();
            total.waited_ns += step.waited_ns;
            total.beside_ns += step.beside_ns;
            total.lost_ns += step.lost_ns;
        }
        let size = |total: &PairTotal| total.waited_ns + total.beside_ns + total.lost_ns;
        let sizes = added.iter().filter(|&(&(_, culprit), _)| culprit != OTHER);
        let sizes = sizes.filter(|(_, total)| size(total) >= size_min);
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let sizes = sizes.map(|(pair, total)| (owned(pair), size(total))).collect();
        for pair in self.pair_labels.settle(&sizes, steps.end_ns) {
            self.pairs.remove(&pair);
        }
        for (pair, step) in added {
            let pair = owned(&pair);
            let pair = if self.pair_labels.has(&pair) { pair } else { (pair.0, OTHER.to_owned()) };
            let total = self.pairs.entry(pair).or_default();
            total.waited_ns += step.waited_ns;
            total.beside_ns += step.beside_ns;
            total.lost_ns += step.lost_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sensors::sums::{CpuSum, GroupSum, PairSum};

    use super::*;

    const GROUPS: u64 = 9;
    /// Two processes of one name, a kernel thread, and a name that is the label of the rest.
    const NAMES: [&str; GROUPS as usize] =
        ["", "x265", "x265", "xz", "kworker/0:1", "kworker/1:1", "other", "nginx", "unknown"];

    fn learnt() -> Names {
        let mut names = Names::default();
        (0..).zip(NAMES).for_each(|(group, name)| names.learn(group, Some(name)));
        names
    }

    fn interval() -> impl Strategy<Value = Steps> {
        let groups = prop::collection::btree_map(0..GROUPS, 0..3_000_000u64, 0..6);
        let pairs = prop::collection::btree_map((0..GROUPS, 0..GROUPS), 0..3_000_000u64, 0..6);
        // From a second to more than an hour.
        let pause_ns =
            prop_oneof![Just(1_000_000_000), Just(400_000_000_000), Just(4_000_000_000_000)];
        (groups, pairs, pause_ns).prop_map(|(groups, pairs, pause_ns)| {
            let group =
                |ns| GroupSum { cpu_time_ns: ns, wide_leaves: ns % 3, ..GroupSum::default() };
            let pair = |ns| PairSum { waited_ns: ns, beside_ns: ns / 2, lost_ns: ns / 3 };
            Steps {
                end_ns: pause_ns,
                length_ns: 1_000_000_000,
                groups: groups.into_iter().map(|(key, ns)| (key, group(ns))).collect(),
                pairs: pairs.into_iter().map(|(key, ns)| (key, pair(ns))).collect(),
                ..Steps::default()
            }
        })
    }

    /// What Prometheus finds that a counter grew by: from 0 where it is new.
    fn growth<K: Ord>(before: &BTreeMap<K, u64>, now: &BTreeMap<K, u64>) -> u64 {
        now.iter()
            .map(|(key, &value)| {
                let old = before.get(key).copied().unwrap_or(0);
                value.checked_sub(old).expect("no counter falls")
            })
            .sum()
    }

    proptest! {
        #[test]
        fn no_counter_falls_and_all_grow_by_as_much_as_the_sums(
            intervals in prop::collection::vec(interval(), 1..60)
        ) {
            let names = learnt();
            let mut totals = Totals::with_most(3, 4);
            let mut end_ns = 0;
            for mut steps in intervals {
                end_ns += steps.end_ns;
                steps.end_ns = end_ns;
                let before = totals.clone();
                totals.add(&steps, &names);
                let cpu = |totals: &Totals| {
                    totals.groups.iter().map(|(key, it)| (key.clone(), it.cpu_time_ns)).collect()
                };
                let added: u64 = steps.groups.values().map(|step| step.cpu_time_ns).sum();
                prop_assert_eq!(growth(&cpu(&before), &cpu(&totals)), added);
                for field in [
                    |it: &PairTotal| it.waited_ns,
                    |it: &PairTotal| it.beside_ns,
                    |it: &PairTotal| it.lost_ns,
                ] {
                    let of = |totals: &Totals| {
                        totals.pairs.iter().map(|(key, it)| (key.clone(), field(it))).collect()
                    };
                    let step = |step: &PairSum| {
                        field(&PairTotal {
                            waited_ns: step.waited_ns,
                            beside_ns: step.beside_ns,
                            lost_ns: step.lost_ns,
                        })
                    };
                    let added: u64 = steps.pairs.values().map(step).sum();
                    prop_assert_eq!(growth(&of(&before), &of(&totals)), added);
                }
                // Named ones, and the rest: by victim for pairs.
                prop_assert!(totals.groups.len() <= 3 + 1);
                prop_assert!(totals.pairs.len() <= 4 + 3 + 1);
            }
        }
    }

    #[test]
    fn processes_of_one_name_are_one_label_and_small_ones_are_the_rest() {
        let mut totals = Totals::default();
        let cpu_time = |cpu_time_ns| GroupSum { cpu_time_ns, ..GroupSum::default() };
        let groups = [(1, cpu_time(5_000_000)), (2, cpu_time(6_000_000)), (3, cpu_time(900_000))];
        let steps = Steps {
            length_ns: 1_000_000_000,
            cpus: vec![CpuSum { busy_ns: 7, held_ns: 3, switches: 2, ..CpuSum::default() }],
            groups: groups.into_iter().collect(),
            ..Steps::default()
        };
        totals.add(&steps, &learnt());
        totals.add(&steps, &learnt());
        let found: Vec<_> =
            totals.groups.iter().map(|(label, it)| (label.as_str(), it.cpu_time_ns)).collect();
        assert_eq!(found, [(OTHER, 1_800_000), ("x265", 22_000_000)]);
        assert_eq!(totals.cpus, [CpuTotal { busy_ns: 14, held_ns: 6, switches: 4 }]);
    }
}
