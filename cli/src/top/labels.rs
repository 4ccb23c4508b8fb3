//! Which labels have a counter of their own, if the number of counters is bounded?
//!
//! A counter that Prometheus reads must not fall. So a label keeps its place while it is used, and
//! what has no place is counted under a label for all others. A label that lost its place and gets
//! one again begins at 0, which Prometheus takes for a restart and counts right, as long as it did
//! not see the old and the new counter as one: between them lies the time for which it looks back.

use std::collections::BTreeMap;

/// A label keeps its place for this long after its last use.
const KEPT_NS: u64 = 3600 * NS;
/// And for this long where another label needs the place: as far as Prometheus looks back for the
/// last value of a counter (`--query.lookback-delta`, 5 minutes).
const KEPT_FULL_NS: u64 = 300 * NS;
const NS: u64 = 1_000_000_000;

/// The labels with a place, and when each was used last.
#[derive(Clone, Debug)]
pub struct Labels<K> {
    most: usize,
    used_ns: BTreeMap<K, u64>,
}

impl<K: Ord + Clone> Labels<K> {
    /// At most that many labels.
    pub fn new(most: usize) -> Self {
        Self { most, used_ns: BTreeMap::new() }
    }

    /// Whether the label has a place.
    pub fn has(&self, label: &K) -> bool {
        self.used_ns.contains_key(label)
    }

    /// Takes the place of a label away.
    pub fn remove(&mut self, label: &K) {
        self.used_ns.remove(label);
    }

    /// The labels with a place.
    pub fn all(&self) -> impl Iterator<Item = &K> {
        self.used_ns.keys()
    }

    /// Gives places to the largest new labels of an interval that ends at `now_ns`, and returns the
    /// labels that lost theirs. `sizes` has the labels that are used enough to deserve a place.
    pub fn settle(&mut self, sizes: &BTreeMap<K, u64>, now_ns: u64) -> Vec<K> {
        let mut new = Vec::new();
        for (label, &size) in sizes {
            match self.used_ns.get_mut(label) {
                Some(used_ns) => *used_ns = now_ns,
                None => new.push((size, label)),
            }
        }
        new.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let wanted = (self.used_ns.len() + new.len()).saturating_sub(self.most);
        let mut unused: Vec<(u64, K)> = self
            .used_ns
            .iter()
            .map(|(label, &used_ns)| (now_ns.saturating_sub(used_ns), label.clone()))
            .filter(|&(unused_ns, _)| unused_ns >= KEPT_FULL_NS)
            .collect();
        unused.sort_by(|a, b| b.cmp(a));
        let is_out =
            |(index, (unused_ns, _)): &(usize, (u64, K))| *index < wanted || *unused_ns >= KEPT_NS;
        let out = unused.into_iter().enumerate().take_while(is_out);
        let out: Vec<K> = out.map(|(_, (_, label))| label).collect();
        for label in &out {
            self.used_ns.remove(label);
        }
        let room = self.most.saturating_sub(self.used_ns.len());
        self.used_ns.extend(new.into_iter().take(room).map(|(_, label)| (label.clone(), now_ns)));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(
        labels: &mut Labels<&'static str>,
        sizes: &[(&'static str, u64)],
        second: u64,
    ) -> String {
        labels.settle(&sizes.iter().copied().collect(), second * NS).join(" ")
    }

    fn names(labels: &Labels<&'static str>) -> String {
        labels.all().copied().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_largest_get_a_place_and_keep_it_while_they_are_used() {
        let mut labels = Labels::new(2);
        assert_eq!(settle(&mut labels, &[("a", 1), ("b", 3), ("c", 2)], 0), "");
        assert_eq!(names(&labels), "b c");
        for second in 1..10_000 {
            assert_eq!(settle(&mut labels, &[("a", 99), ("b", 1), ("c", 1)], second), "");
        }
        assert_eq!(names(&labels), "b c");
    }

    #[test]
    fn a_place_is_free_an_hour_after_its_last_use() {
        let mut labels = Labels::new(2);
        settle(&mut labels, &[("a", 1)], 0);
        assert_eq!(settle(&mut labels, &[], 3599), "");
        assert_eq!(settle(&mut labels, &[], 3600), "a");
    }

    #[test]
    fn a_newcomer_takes_the_place_of_the_label_that_is_unused_for_longest() {
        let mut labels = Labels::new(2);
        settle(&mut labels, &[("a", 1), ("b", 1)], 0);
        settle(&mut labels, &[("a", 1)], 100);
        assert_eq!(settle(&mut labels, &[("c", 1)], 299), "");
        assert_eq!(settle(&mut labels, &[("c", 1), ("d", 2)], 300), "b");
        assert_eq!(names(&labels), "a d");
    }
}
