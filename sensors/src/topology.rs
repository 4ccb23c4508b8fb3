//! Which CPUs share their core, their last-level cache and their package?
//!
//! The kernel's files tell; the command or the loader opens them.

use std::collections::HashMap;

/// Where the kernel describes CPUs.
pub const FOLDER: &str = "/sys/devices/system/cpu";

/// Caches of a CPU whose files are asked for, more than any CPU has.
const CACHES_MAX: u32 = 16;

/// CPUs in groups, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// By CPU number: its group.
    pub of: Vec<u32>,
    /// Number of groups.
    pub count: u32,
}

impl Groups {
    /// CPUs with equal values of `said` form a group; CPUs without a value are in the first group.
    fn by<T: Eq + std::hash::Hash>(cpus: usize, said: impl Fn(usize) -> Option<T>) -> Self {
        let mut numbers = HashMap::new();
        let mut of = vec![0; cpus];
        for (cpu, group) in of.iter_mut().enumerate() {
            let next = numbers.len() as u32;
            if let Some(said) = said(cpu) {
                *group = *numbers.entry(said).or_insert(next);
            }
        }
        Self { of, count: (numbers.len() as u32).max(1) }
    }

    /// By CPU: the next one of its group, in a ring.
    #[must_use]
    pub fn ring(&self) -> Vec<u32> {
        let mut next: Vec<u32> = (0..self.of.len() as u32).collect();
        for group in 0..self.count {
            let of_group = |cpu: &usize| self.of[*cpu] == group;
            let members: Vec<usize> = (0..self.of.len()).filter(of_group).collect();
            for (index, &member) in members.iter().enumerate() {
                next[member] = members[(index + 1) % members.len()] as u32;
            }
        }
        next
    }

    /// CPUs per group, if every group has the same number of consecutive CPUs.
    #[must_use]
    pub fn in_rows(&self) -> Option<u32> {
        let size = self.of.len() as u32 / self.count;
        let is_in_row = |(cpu, &group): (usize, &u32)| group == cpu as u32 / size;
        (size > 0 && self.of.iter().enumerate().all(is_in_row)).then_some(size)
    }

    /// By group: how many CPUs it has.
    #[must_use]
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.count as usize];
        for &group in &self.of {
            sizes[group as usize] += 1;
        }
        sizes
    }
}

/// The CPUs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Physical cores.
    pub cores: Groups,
    /// Last-level caches.
    pub caches: Groups,
    /// Packages.
    pub packages: Groups,
    /// By CPU: whether the clock of its core is capped in favour of others of the cache, as Intel
    /// Speed Select does.
    pub is_slow: Vec<bool>,
}

impl Topology {
    /// The topology of CPUs 0 to `cpus` - 1. `read` returns the text of a file by its path below
    /// [`FOLDER`]. The kernel does not describe a CPU that is offline: such a CPU counts as a core
    /// of its own, and belongs to the first cache and package.
    #[must_use]
    pub fn new(cpus: usize, read: impl Fn(&str) -> Option<String>) -> Self {
        let of_cpu = |cpu: usize, name: &str| read(&format!("cpu{cpu}/{name}"));
        let caches = Groups::by(cpus, |cpu| last_level(|name| of_cpu(cpu, name)));
        Self {
            is_slow: slow_cpus(&caches, |cpu, name| of_cpu(cpu, name)?.trim().parse().ok()),
            cores: Groups::by(cpus, |cpu| {
                of_cpu(cpu, "topology/thread_siblings_list")
                    .or_else(|| Some(format!("alone {cpu}")))
            }),
            caches,
            packages: Groups::by(cpus, |cpu| of_cpu(cpu, "topology/physical_package_id")),
        }
    }

    /// The number of possible CPUs.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cores.of.len()
    }
}

/// Frequencies of a core that Speed Select changes: SST-BF the first, SST-TF the second
/// (drivers/cpufreq/intel_pstate.c, Linux 6.12).
const FREQUENCIES: [&str; 2] = ["cpufreq/base_frequency", "cpufreq/cpuinfo_max_freq"];
/// A core is slow if its frequency is below this share of the highest of its cache. Cores that
/// Turbo Boost Max 3.0 favours are faster by less.
const SLOW_PERMILLE: u64 = 950;

/// By CPU: whether its core is slow. `khz` returns the number in a file of a CPU.
fn slow_cpus(caches: &Groups, khz: impl Fn(usize, &str) -> Option<u64>) -> Vec<bool> {
    let cpus = caches.of.len();
    let mut is_slow = vec![false; cpus];
    for name in FREQUENCIES {
        let of_cpus: Vec<Option<u64>> = (0..cpus).map(|cpu| khz(cpu, name)).collect();
        let mut highest = vec![0; caches.count as usize];
        for (&cache, khz) in caches.of.iter().zip(&of_cpus) {
            highest[cache as usize] = khz.unwrap_or(0).max(highest[cache as usize]);
        }
        for (cpu, khz) in of_cpus.iter().enumerate() {
            let limit = highest[caches.of[cpu] as usize] / 1000 * SLOW_PERMILLE;
            is_slow[cpu] |= khz.is_some_and(|khz| khz < limit);
        }
    }
    is_slow
}

/// The list of CPUs that share the cache of the highest level; `None` where the kernel describes no
/// cache.
fn last_level(read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let caches = (0..CACHES_MAX).filter_map(|index| {
        let of_cache = |name: &str| read(&format!("cache/index{index}/{name}"));
        let level: u32 = of_cache("level")?.trim().parse().ok()?;
        Some((level, of_cache("shared_cpu_list")?))
    });
    caches.max_by_key(|&(level, _)| level).map(|(_, shared)| shared)
}

/// The CPUs of a list as in `0-3,8`, in ascending order; `None` for a text in no known form.
#[must_use]
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let ranges = text.trim().split(',').filter(|range| !range.is_empty());
    let mut cpus = Vec::new();
    for range in ranges {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        cpus.extend(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?);
    }
    cpus.sort_unstable();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of files, each a path and a text.
    fn files(of: Vec<(String, String)>) -> impl Fn(&str) -> Option<String> {
        move |path| of.iter().find(|(name, _)| name == path).map(|(_, text)| text.clone())
    }

    /// Files of caches: the CPU, the level and the CPUs that share the cache.
    fn caches(of: &[(u32, u32, &str)]) -> impl Fn(&str) -> Option<String> + use<> {
        let of_cache = |&(cpu, level, shared): &(u32, u32, &str)| {
            let index = format!("cpu{cpu}/cache/index{level}");
            let shared = format!("{shared}\n");
            [(format!("{index}/level"), level.to_string()), (index + "/shared_cpu_list", shared)]
        };
        files(of.iter().flat_map(of_cache).collect())
    }

    fn groups(of: &[u32], count: u32) -> Groups {
        Groups { of: of.to_vec(), count }
    }

    #[test]
    fn cpus_with_the_same_last_level_are_together() {
        let of =
            [(0, 1, "0"), (0, 3, "0,2"), (1, 3, "1,3"), (2, 3, "0,2"), (3, 2, "3"), (3, 3, "1,3")];
        let topology = Topology::new(4, caches(&of));
        assert_eq!(topology.caches, groups(&[0, 1, 0, 1], 2));
        assert_eq!(topology.caches.ring(), [2, 3, 0, 1]);
        assert_eq!(topology.caches.sizes(), [2, 2]);
    }

    #[test]
    fn siblings_share_a_core_and_cores_a_package() {
        // CPU 3 is offline.
        let of_cpu = |(cpu, siblings, package): (u32, &str, u32)| {
            let folder = format!("cpu{cpu}/topology");
            [
                (format!("{folder}/thread_siblings_list"), siblings.to_owned()),
                (folder + "/physical_package_id", package.to_string()),
            ]
        };
        let of = [(0, "0,2", 0), (1, "1,3", 1), (2, "0,2", 0)];
        let topology = Topology::new(4, files(of.into_iter().flat_map(of_cpu).collect()));
        assert_eq!(topology.cores, groups(&[0, 1, 0, 2], 3));
        assert_eq!(topology.cores.ring(), [2, 1, 0, 3]);
        assert_eq!(topology.packages, groups(&[0, 1, 0, 0], 2));
        assert_eq!(topology.cpus(), 4);
        assert_eq!(topology.cores.in_rows(), None);
        assert_eq!(groups(&[0, 0, 1, 1], 2).in_rows(), Some(2));
        assert_eq!(groups(&[0, 0, 1], 2).in_rows(), None);
    }

    #[test]
    fn without_caches_and_with_cpus_that_are_off_there_is_one() {
        let topology = Topology::new(3, caches(&[(1, 2, "1")]));
        assert_eq!(topology.caches, groups(&[0; 3], 1));
        assert_eq!(topology.caches.ring(), [1, 2, 0]);
    }

    #[test]
    fn cores_whose_clock_is_capped_are_slow_beside_the_others_of_their_cache() {
        let capped = |file: &str, khz: [&str; 4]| {
            let of_cpu = |(cpu, khz): (usize, &&str)| {
                let cache = format!("cpu{cpu}/cache/index3");
                let shared = if cpu < 2 { "0-1" } else { "2-3" };
                [
                    (format!("cpu{cpu}/cpufreq/{file}"), format!("{khz}\n")),
                    (format!("{cache}/level"), "3".to_owned()),
                    (format!("{cache}/shared_cpu_list"), shared.to_owned()),
                ]
            };
            let files_of = khz.iter().enumerate().flat_map(of_cpu).collect();
            Topology::new(4, files(files_of)).is_slow
        };
        // SST-BF raises the base of some cores, SST-TF lowers the highest frequency of the others.
        let bases = ["2700000", "2100000", "2100000", "2100000"];
        assert_eq!(capped("base_frequency", bases), [false, true, false, false]);
        let highest = ["3100000", "3100000", "2600000", "3100000"];
        assert_eq!(capped("cpuinfo_max_freq", highest), [false, false, true, false]);
        // By more than 5 %, and only beside cores of the same cache.
        let at_limit = ["2000000", "1900000", "2000000", "1899999"];
        assert_eq!(capped("cpuinfo_max_freq", at_limit), [false, false, false, true]);
        // Turbo Boost Max 3.0 favours cores by less; a file may be absent or hold anything.
        let favoured = ["4800000", "4600000", "?", "4600000"];
        assert_eq!(capped("cpuinfo_max_freq", favoured), [false; 4]);
    }

    #[test]
    fn lists_have_numbers_and_ranges() {
        assert_eq!(cpu_list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(cpu_list("\n"), Some(Vec::new()));
        assert_eq!(cpu_list("0-x"), None);
    }
}
