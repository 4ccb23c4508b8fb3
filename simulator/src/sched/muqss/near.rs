//! Places by distance, as MuQSS visits them: the own, its core, its package, the rest.

use std::ops::Range;

use crate::config::RqSharing;
use crate::timers::WinnerTree;
use crate::topology::Topology;

/// Packages of cores of threads, and an index into them. Without siblings (run queues that
/// cores share) a core has one thread, and so on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    threads: usize,
    cores: usize,
    packages: usize,
}

impl Shape {
    /// CPUs, or the run queues that they share.
    pub(super) fn of_queues(topology: &Topology, sharing: RqSharing) -> Self {
        let cpus = Self {
            threads: topology.threads_per_core,
            cores: topology.cores_per_package,
            packages: topology.packages,
        };
        match sharing {
            RqSharing::None => cpus,
            RqSharing::Smt => Self { threads: 1, ..cpus },
            RqSharing::Mc => Self { threads: 1, cores: 1, ..cpus },
            RqSharing::All => Self { threads: 1, cores: 1, packages: 1 },
        }
    }

    pub(super) fn places(&self) -> usize {
        self.packages * self.package()
    }

    pub(super) fn is_same_package(&self, one: usize, other: usize) -> bool {
        one / self.package() == other / self.package()
    }

    fn package(&self) -> usize {
        self.threads * self.cores
    }

    /// All places from the nearest; at equal distance upwards and around.
    pub(super) fn nearest(self, own: usize) -> impl Iterator<Item = usize> + use<> {
        self.stretches(own).flat_map(move |stretch| {
            stretch.step_by(self.threads).flat_map(move |core| self.core(core, own))
        })
    }

    /// The first place by [`Self::nearest`] whose key is below a limit and that is accepted.
    pub(super) fn nearest_below(
        self,
        own: usize,
        keys: &WinnerTree,
        limit: u64,
        accept: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if keys.first().0 >= limit {
            return None;
        }
        self.stretches(own).find_map(|stretch| {
            let mut start = stretch.start;
            while let Some(found) = keys.first_below(start..stretch.end, limit) {
                let core = found - found % self.threads;
                let fits = |&place: &usize| keys.get(place) < limit && accept(place);
                if let Some(place) = self.core(core, own).find(fits) {
                    return Some(place);
                }
                start = core + self.threads;
            }
            None
        })
    }

    /// Whole cores: the rest of the own package, its earlier cores, then other packages alike.
    fn stretches(self, own: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let package = self.package();
        let before = own % package - own % self.threads;
        (0..self.packages).flat_map(move |step| {
            let start = (own / package + step) % self.packages * package;
            [start + before..start + package, start..start + before]
        })
    }

    /// The threads of a core, beginning with that of the own number.
    fn core(self, core: usize, own: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.threads).map(move |thread| core + (own + thread) % self.threads)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::timers::NEVER;

    #[test]
    fn the_own_core_then_the_package_then_the_rest() {
        let shape = Shape { threads: 2, cores: 3, packages: 2 };
        let order: Vec<usize> = shape.nearest(9).collect();
        assert_eq!(order, [9, 8, 11, 10, 7, 6, 3, 2, 5, 4, 1, 0]);
    }

    proptest! {
        #[test]
        fn the_nearest_below_is_the_first_of_all_in_order(
            threads in 1_usize..4,
            cores in 1_usize..6,
            packages in 1_usize..4,
            own in any::<prop::sample::Index>(),
            keys in prop::collection::vec(0_u64..6, 72),
            refused in 0_usize..3,
        ) {
            let shape = Shape { threads, cores, packages };
            let own = own.index(shape.places());
            let mut tree = WinnerTree::new(shape.places());
            for (place, &key) in keys.iter().enumerate().take(shape.places()) {
                tree.set(place, if key == 0 { NEVER } else { key });
            }
            let accept = |place: usize| refused == 0 || !place.is_multiple_of(refused);
            for limit in 1..7 {
                let found = shape.nearest_below(own, &tree, limit, accept);
                let expected = shape.nearest(own).find(|&p| tree.get(p) < limit && accept(p));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
