//! Usage of each task and of each CPU in a window.

use std::collections::BTreeMap;

use super::{Stretch, Window};

/// Time on CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Time that a task ran.
    pub(crate) busy_ns: u64,
    /// Busy time by license level of the core.
    pub(crate) levels_ns: BTreeMap<u8, u64>,
    /// Times a task came to a CPU, or was there when the window began.
    pub(crate) slices: u64,
    /// Longest time at a stretch.
    pub(crate) longest_ns: u64,
}

impl Usage {
    fn add(&mut self, stretch: &Stretch) {
        self.busy_ns += stretch.length_ns();
        *self.levels_ns.entry(stretch.level).or_default() += stretch.length_ns();
    }

    fn end_slice(&mut self, length_ns: u64) {
        self.slices += 1;
        self.longest_ns = self.longest_ns.max(length_ns);
    }

    /// Adds another usage.
    pub(crate) fn join(&mut self, other: &Self) {
        self.busy_ns += other.busy_ns;
        for (level, ns) in &other.levels_ns {
            *self.levels_ns.entry(*level).or_default() += ns;
        }
        self.slices += other.slices;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    /// Share of its time below full frequency, in percent.
    pub(crate) fn slow_pct(&self) -> f64 {
        let slow: u64 = self.levels_ns.iter().filter(|(level, _)| **level > 0).map(|l| l.1).sum();
        100.0 * slow as f64 / self.busy_ns.max(1) as f64
    }
}

/// Stretches of the same task that follow each other.
fn slices(stretches: &[Stretch]) -> impl Iterator<Item = &[Stretch]> {
    stretches.chunk_by(|a, b| a.task == b.task).filter(|slice| slice[0].task != 0)
}

fn length_ns(slice: &[Stretch]) -> u64 {
    slice.iter().map(Stretch::length_ns).sum()
}

impl Window {
    /// Usage of each task by its id.
    pub(crate) fn by_task(&self) -> BTreeMap<u32, Usage> {
        let mut usage: BTreeMap<u32, Usage> = BTreeMap::new();
        for slice in self.cpus.iter().flat_map(|stretches| slices(stretches)) {
            let one = usage.entry(slice[0].task).or_default();
            slice.iter().for_each(|stretch| one.add(stretch));
            one.end_slice(length_ns(slice));
        }
        usage
    }

    /// Usage of each CPU.
    pub(crate) fn by_cpu(&self) -> Vec<Usage> {
        let of = |stretches: &Vec<Stretch>| {
            let mut usage = Usage::default();
            for slice in slices(stretches) {
                slice.iter().for_each(|stretch| usage.add(stretch));
                usage.end_slice(length_ns(slice));
            }
            usage
        };
        self.cpus.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_level_ends_no_slice() {
        let stretch = |from_ns, to_ns, task, level| Stretch { from_ns, to_ns, task, level };
        let window = Window {
            from_ns: 0,
            to_ns: 100,
            cpus: vec![vec![
                stretch(0, 10, 1, 0),
                stretch(10, 30, 1, 2),
                stretch(30, 60, 0, 2),
                stretch(60, 100, 1, 0),
            ]],
            cores_khz: vec![Vec::new()],
            threads_per_core: 1,
        };
        let expected = Usage {
            busy_ns: 70,
            levels_ns: BTreeMap::from([(0, 50), (2, 20)]),
            slices: 2,
            longest_ns: 40,
        };
        assert_eq!(window.by_task(), BTreeMap::from([(1, expected.clone())]));
        assert_eq!(window.by_cpu(), std::slice::from_ref(&expected));
        let mut twice = expected.clone();
        twice.join(&expected);
        assert_eq!((twice.busy_ns, twice.slices, twice.longest_ns), (140, 4, 40));
        assert_eq!(twice.levels_ns[&2], 40);
        assert!((twice.slow_pct() - 100.0 * 2.0 / 7.0).abs() < 1e-9);
    }
}
