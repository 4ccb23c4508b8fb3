//! Where CPUs, cores and packages are, and sets of them.

use scenarios::{CpuSet, Machine};

/// Numbers of places; CPUs of a core and cores of a package are neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Topology {
    pub cpus: usize,
    pub cores: usize,
    pub packages: usize,
    pub threads_per_core: usize,
    pub cores_per_package: usize,
    by_threads: Reciprocal,
    by_cores: Reciprocal,
}

/// Whether a place is one of a share of them all, spread evenly; `permille` is at most 1000.
pub(crate) fn is_in_share(place: usize, permille: u32) -> bool {
    let until = |places: usize| places * permille as usize / 1000;
    until(place + 1) > until(place)
}

/// Divides small numbers by a number that stays the same, without a division.
#[derive(Clone, Copy, Debug)]
struct Reciprocal(u64);

impl Reciprocal {
    const SHIFT: u32 = 40;

    fn new(divisor: usize) -> Self {
        Self((1 << Self::SHIFT) / divisor.max(1) as u64 + 1)
    }

    /// Exact for numbers and divisors below 2^20.
    fn divide(self, number: usize) -> usize {
        ((number as u64 * self.0) >> Self::SHIFT) as usize
    }
}

impl Topology {
    pub(crate) fn new(machine: &Machine) -> Self {
        let threads_per_core = machine.threads_per_core as usize;
        let cores_per_package = machine.cores_per_package as usize;
        let packages = machine.packages as usize;
        Self {
            cpus: packages * cores_per_package * threads_per_core,
            cores: packages * cores_per_package,
            packages,
            threads_per_core,
            cores_per_package,
            by_threads: Reciprocal::new(threads_per_core),
            by_cores: Reciprocal::new(cores_per_package),
        }
    }

    pub(crate) fn core_of(&self, cpu: usize) -> usize {
        self.by_threads.divide(cpu)
    }

    pub(crate) fn package_of(&self, cpu: usize) -> usize {
        self.package_of_core(self.core_of(cpu))
    }

    pub(crate) fn package_of_core(&self, core: usize) -> usize {
        self.by_cores.divide(core)
    }

    pub(crate) fn cpus_of_core(&self, core: usize) -> std::ops::Range<usize> {
        core * self.threads_per_core..(core + 1) * self.threads_per_core
    }

    pub(crate) fn cores_of_package(&self, package: usize) -> std::ops::Range<usize> {
        package * self.cores_per_package..(package + 1) * self.cores_per_package
    }

    pub(crate) fn cpus_of_package(&self, package: usize) -> std::ops::Range<usize> {
        let cores = self.cores_of_package(package);
        cores.start * self.threads_per_core..cores.end * self.threads_per_core
    }
}

/// A set of small numbers as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    words: Vec<u64>,
}

impl Mask {
    pub(crate) fn empty(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)] }
    }

    pub(crate) fn full(size: usize) -> Self {
        let mut mask = Self::empty(size);
        for member in 0..size {
            mask.insert(member);
        }
        mask
    }

    pub(crate) fn insert(&mut self, member: usize) {
        self.words[member / 64] |= 1 << (member % 64);
    }

    pub(crate) fn remove(&mut self, member: usize) {
        self.words[member / 64] &= !(1 << (member % 64));
    }

    pub(crate) fn contains(&self, member: usize) -> bool {
        self.words[member / 64] >> (member % 64) & 1 == 1
    }

    /// Takes out the lowest member.
    pub(crate) fn take_first(&mut self) -> Option<usize> {
        let (index, word) = self.words.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(index * 64 + bit)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| Bits(word).map(move |b| index * 64 + b))
    }

    /// The lowest member of both sets within a range.
    pub(crate) fn first_common(
        &self,
        other: &Self,
        range: std::ops::Range<usize>,
    ) -> Option<usize> {
        if range.is_empty() {
            return None;
        }
        for index in range.start / 64..=(range.end - 1) / 64 {
            let word = self.words[index] & other.words[index] & within(&range, index * 64);
            if word != 0 {
                return Some(index * 64 + word.trailing_zeros() as usize);
            }
        }
        None
    }

    /// The highest member of both sets within a range.
    pub(crate) fn last_common(&self, other: &Self, range: std::ops::Range<usize>) -> Option<usize> {
        if range.is_empty() {
            return None;
        }
        for index in (range.start / 64..=(range.end - 1) / 64).rev() {
            let word = self.words[index] & other.words[index] & within(&range, index * 64);
            if word != 0 {
                return Some(index * 64 + 63 - word.leading_zeros() as usize);
            }
        }
        None
    }
}

/// The bits of the word that begins at `base` whose members are in a range.
fn within(range: &std::ops::Range<usize>, base: usize) -> u64 {
    let from = range.start.saturating_sub(base);
    let above = (base + 64).saturating_sub(range.end);
    u64::MAX << from & u64::MAX >> above
}

struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// The different sets of CPUs that tasks are bound to; usually one, of all CPUs.
#[derive(Clone, Debug)]
pub(crate) struct Affinities {
    pub masks: Vec<Mask>,
    /// By CPU: the masks that contain the CPU.
    pub of_cpu: Vec<Vec<usize>>,
}

impl Affinities {
    /// The masks, and for each set the index of its mask; `None` where no CPU is left.
    pub(crate) fn new<'a>(
        topology: &Topology,
        sets: impl Iterator<Item = &'a CpuSet>,
    ) -> (Self, Vec<Option<usize>>) {
        let mut known = std::collections::BTreeMap::new();
        let mut masks: Vec<Mask> = Vec::new();
        let indices = sets
            .map(|set| {
                *known.entry(set.clone()).or_insert_with(|| {
                    let mut mask = Mask::empty(topology.cpus);
                    for &cpu in &set.cpus {
                        if (cpu as usize) < topology.cpus {
                            mask.insert(cpu as usize);
                        }
                    }
                    if set.cpus.is_empty() {
                        mask = Mask::full(topology.cpus);
                    }
                    if mask.is_empty() {
                        return None;
                    }
                    let index = masks.iter().position(|m| *m == mask).unwrap_or(masks.len());
                    if index == masks.len() {
                        masks.push(mask);
                    }
                    Some(index)
                })
            })
            .collect();
        let mut of_cpu = vec![Vec::new(); topology.cpus];
        for (index, mask) in masks.iter().enumerate() {
            for cpu in mask.iter() {
                of_cpu[cpu].push(index);
            }
        }
        (Self { masks, of_cpu }, indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_common_respect_range_and_both_sets() {
        let mut a = Mask::empty(130);
        let mut b = Mask::empty(130);
        for member in [3, 64, 70, 129] {
            a.insert(member);
        }
        for member in [3, 70, 129] {
            b.insert(member);
        }
        assert_eq!(a.first_common(&b, 0..130), Some(3));
        assert_eq!(a.first_common(&b, 4..130), Some(70));
        assert_eq!(a.first_common(&b, 71..129), None);
        assert_eq!(a.first_common(&b, 71..130), Some(129));
        assert_eq!(a.first_common(&b, 5..5), None);
        assert_eq!(a.last_common(&b, 0..130), Some(129));
        assert_eq!(a.last_common(&b, 0..129), Some(70));
        assert_eq!(a.last_common(&b, 4..70), None);
        assert_eq!(a.last_common(&b, 0..64), Some(3));
        assert_eq!(a.last_common(&b, 5..5), None);
    }

    #[test]
    fn a_reciprocal_divides_every_cpu_number_exactly() {
        for divisor in 1..=1024 {
            let reciprocal = Reciprocal::new(divisor);
            for number in 0..=1024 {
                assert_eq!(reciprocal.divide(number), number / divisor, "{number} / {divisor}");
            }
        }
    }

    #[test]
    fn equal_sets_share_a_mask() {
        let machine = Machine {
            packages: 1,
            cores_per_package: 2,
            threads_per_core: 2,
            turbo_cores: None,
            turbo: true,
        };
        let topology = Topology::new(&machine);
        let all = CpuSet::default();
        let named = CpuSet { cpus: vec![0, 1, 2, 3] };
        let nowhere = CpuSet { cpus: vec![9] };
        let (affinities, indices) =
            Affinities::new(&topology, [&all, &named, &nowhere].into_iter());
        assert_eq!(indices, [Some(0), Some(0), None]);
        assert_eq!(affinities.masks.len(), 1);
        assert_eq!(affinities.of_cpu[3], [0]);
    }
}
