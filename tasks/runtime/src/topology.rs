//! The machine as a scheduler sees its parts: CPUs, and the caches and domains that they share.

mod cpus;
mod declared;
mod machine;
mod sysfs;

use std::ops::Range;

pub use cpus::{CpuList, CpuListError};
pub use declared::TopologyError;
pub use sysfs::{Part, Sysfs};

/// A machine as a tree: CPUs, caches where they divide a NUMA domain, NUMA domains, all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The kernel's number of each CPU, in the order of the leaves.
    pub(crate) cpus: Vec<usize>,
    /// From the narrowest to the widest, each a division of all CPUs; the last is one group.
    pub(crate) levels: Vec<Vec<Range<usize>>>,
    /// NUMA domains, as groups of leaves.
    pub(crate) domains: Vec<Range<usize>>,
}

impl Topology {
    /// CPUs that workers may use.
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// NUMA domains.
    pub fn domains(&self) -> usize {
        self.domains.len()
    }

    /// The NUMA domain of a leaf.
    pub(crate) fn domain_of(&self, leaf: usize) -> usize {
        self.domains.iter().position(|domain| domain.contains(&leaf)).unwrap_or(0)
    }

    /// The first `workers` leaves, or as many more as are needed, the last CPUs twice.
    pub(crate) fn resized(&self, workers: usize) -> Self {
        let mut cpus: Vec<usize> = self.cpus.iter().copied().cycle().take(workers).collect();
        if workers <= self.cpus.len() {
            let cut = |groups: &Vec<Range<usize>>| -> Vec<Range<usize>> {
                groups
                    .iter()
                    .map(|group| group.start.min(workers)..group.end.min(workers))
                    .filter(|group| !group.is_empty())
                    .collect()
            };
            let levels = self.levels.iter().map(&cut).collect();
            return Self { cpus, levels, domains: cut(&self.domains) };
        }
        // More workers than CPUs share nothing that a tree could keep near.
        cpus.shrink_to_fit();
        Self::from_groups(cpus, Vec::new(), one_group(workers))
    }

    /// A machine with more leaves, which have no CPU of their own and lie in the last groups.
    pub(crate) fn with_more(&self, leaves: usize) -> Self {
        let mut more = self.clone();
        more.cpus.extend(self.cpus.iter().cycle().take(leaves));
        for groups in more.levels.iter_mut().chain([&mut more.domains]) {
            if let Some(last) = groups.last_mut() {
                last.end += leaves;
            }
        }
        more
    }

    /// Orders the levels, and leaves out those that divide nothing.
    fn from_groups(
        cpus: Vec<usize>,
        caches: Vec<Range<usize>>,
        domains: Vec<Range<usize>>,
    ) -> Self {
        let mut levels: Vec<Vec<Range<usize>>> = Vec::new();
        for groups in [caches, domains.clone(), one_group(cpus.len())] {
            let divides = groups.iter().any(|group| group.len() > 1);
            if divides && levels.last().is_none_or(|narrower| narrower.len() > groups.len()) {
                levels.push(groups);
            }
        }
        if levels.is_empty() {
            levels.push(one_group(cpus.len()));
        }
        Self { cpus, levels, domains }
    }
}

/// All leaves together.
fn one_group(leaves: usize) -> Vec<Range<usize>> {
    std::iter::once(0..leaves).collect()
}
