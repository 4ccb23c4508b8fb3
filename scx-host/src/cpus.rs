//! Sets of CPUs, laid out as the kernel's `struct cpumask`.

use crate::memory::Block;

/// CPUs that a mask has room for, as a kernel with `CONFIG_NR_CPUS=8192`.
pub(crate) const CPUS_MAX: usize = 8192;

/// A set of CPUs at an address of its own.
pub(crate) struct CpuMask(Block);

impl CpuMask {
    pub(crate) fn empty() -> Self {
        Self(Block::zeroed(CPUS_MAX / 8))
    }

    pub(crate) fn of(cpus: impl IntoIterator<Item = usize>) -> Self {
        let mut mask = Self::empty();
        for cpu in cpus {
            mask.insert(cpu);
        }
        mask
    }

    pub(crate) fn address(&self) -> *const u64 {
        self.0.address()
    }

    pub(crate) fn insert(&mut self, cpu: usize) {
        self.0.words_mut()[cpu / 64] |= 1 << (cpu % 64);
    }

    pub(crate) fn remove(&mut self, cpu: usize) {
        self.0.words_mut()[cpu / 64] &= !(1 << (cpu % 64));
    }

    pub(crate) fn contains(&self, cpu: usize) -> bool {
        self.0.words()[cpu / 64] >> (cpu % 64) & 1 == 1
    }

    /// The first member of both from `start` on, else from 0 on.
    pub(crate) fn first_common(&self, other: &[u64], start: usize, cpus: usize) -> Option<usize> {
        let at = |cpu: usize| self.contains(cpu) && other[cpu / 64] >> (cpu % 64) & 1 == 1;
        let words = cpus.div_ceil(64);
        if self.0.words()[..words].iter().zip(other).all(|(&a, &b)| a & b == 0) {
            return None;
        }
        (start..cpus).chain(0..start.min(cpus)).find(|&cpu| at(cpu))
    }

    pub(crate) fn words(&self) -> &[u64] {
        self.0.words()
    }

    pub(crate) fn set_words(&mut self, words: &[u64]) {
        self.0.words_mut().copy_from_slice(words);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn iter(&self, cpus: usize) -> impl Iterator<Item = usize> + '_ {
        (0..cpus).filter(|&cpu| self.contains(cpu))
    }
}
