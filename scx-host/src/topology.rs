//! Which CPUs share a core, and which a last-level cache.

/// The CPUs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// By CPU: its core.
    pub core_of: Vec<usize>,
    /// By CPU: its last-level cache, counted from 0.
    pub cache_of: Vec<usize>,
    /// By CPU: its package, counted from 0.
    pub package_of: Vec<usize>,
    /// By CPU: whether the clock of its core is capped in favour of others.
    pub is_slow: Vec<bool>,
}

impl Topology {
    /// `caches` packages of one cache each, with `cores` cores of `threads` hardware threads each;
    /// siblings have consecutive numbers, and all cores are alike.
    #[must_use]
    pub fn regular(caches: usize, cores: usize, threads: usize) -> Self {
        let cpus = caches * cores * threads;
        Self {
            core_of: (0..cpus).map(|cpu| cpu / threads).collect(),
            cache_of: (0..cpus).map(|cpu| cpu / threads / cores).collect(),
            package_of: (0..cpus).map(|cpu| cpu / threads / cores).collect(),
            is_slow: vec![false; cpus],
        }
    }

    /// Number of CPUs.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.core_of.len()
    }

    pub(crate) fn siblings(&self, cpu: usize) -> impl Iterator<Item = usize> + '_ {
        let core = self.core_of[cpu];
        (0..self.cpus()).filter(move |&other| self.core_of[other] == core)
    }

    pub(crate) fn has_siblings(&self) -> bool {
        self.core_of.windows(2).any(|pair| pair[0] == pair[1])
    }
}
