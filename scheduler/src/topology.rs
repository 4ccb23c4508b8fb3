//! Which CPUs share their core, their last-level cache and their package?

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

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
}

/// Why the topology cannot be read.
#[derive(Debug, Error)]
pub enum TopologyError {
    /// A file of the kernel cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of reading.
        source: io::Error,
    },
    /// A list of CPUs in no known form.
    #[error("{}: `{text}` is no list of CPUs", path.display())]
    List {
        /// The file.
        path: PathBuf,
        /// Its content.
        text: String,
    },
}

/// Where the kernel describes CPUs.
const FOLDER: &str = "/sys/devices/system/cpu";

impl Topology {
    /// The topology of this machine. The kernel does not describe a CPU that is offline: such a CPU
    /// counts as a core of its own, and belongs to the first cache and package.
    ///
    /// # Errors
    /// [`TopologyError`].
    pub fn read() -> Result<Self, TopologyError> {
        Self::of(Path::new(FOLDER))
    }

    fn of(folder: &Path) -> Result<Self, TopologyError> {
        let possible = list(&folder.join("possible"))?;
        let cpus = possible.last().map_or(0, |&last| last as usize + 1);
        let place = |cpu: usize| folder.join(format!("cpu{cpu}"));
        let said = |cpu: usize, name: &str| fs::read_to_string(place(cpu).join(name)).ok();
        Ok(Self {
            cores: Groups::by(cpus, |cpu| {
                said(cpu, "topology/thread_siblings_list").or_else(|| Some(format!("alone {cpu}")))
            }),
            caches: Groups::by(cpus, |cpu| last_level(&place(cpu).join("cache"))),
            packages: Groups::by(cpus, |cpu| said(cpu, "topology/physical_package_id")),
        })
    }

    /// The number of possible CPUs.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cores.of.len()
    }
}

/// CPUs that are online.
///
/// # Errors
/// [`TopologyError`].
pub fn online() -> Result<Vec<u32>, TopologyError> {
    list(&Path::new(FOLDER).join("online"))
}

/// The list of CPUs that share the cache of the highest level; `None` where the kernel describes no
/// cache.
fn last_level(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let caches = entries.filter_map(|entry| {
        let read = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
        let level: u32 = read("level")?.trim().parse().ok()?;
        Some((level, read("shared_cpu_list")?))
    });
    caches.max_by_key(|&(level, _)| level).map(|(_, shared)| shared)
}

/// A list as in `0-3,8`.
fn list(path: &Path) -> Result<Vec<u32>, TopologyError> {
    let text = fs::read_to_string(path)
        .map_err(|source| TopologyError::File { path: path.to_owned(), source })?;
    let ranges = text.trim().split(',').filter(|range| !range.is_empty());
    let mut cpus = Vec::new();
    for range in ranges {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
            return Err(TopologyError::List { path: path.to_owned(), text: text.trim().into() });
        };
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(possible: &str, caches: &[(u32, u32, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("possible"), possible).unwrap();
        for (cpu, level, shared) in caches {
            let index = folder.path().join(format!("cpu{cpu}/cache/index{level}"));
            fs::create_dir_all(&index).unwrap();
            fs::write(index.join("level"), format!("{level}\n")).unwrap();
            fs::write(index.join("shared_cpu_list"), format!("{shared}\n")).unwrap();
        }
        folder
    }

    fn groups(of: &[u32], count: u32) -> Groups {
        Groups { of: of.to_vec(), count }
    }

    #[test]
    fn cpus_with_the_same_last_level_are_together() {
        let caches =
            [(0, 1, "0"), (0, 3, "0,2"), (1, 3, "1,3"), (2, 3, "0,2"), (3, 2, "3"), (3, 3, "1,3")];
        let topology = Topology::of(machine("0-3\n", &caches).path()).unwrap();
        assert_eq!(topology.caches, groups(&[0, 1, 0, 1], 2));
        assert_eq!(topology.caches.ring(), [2, 3, 0, 1]);
        assert_eq!(topology.caches.sizes(), [2, 2]);
    }

    #[test]
    fn siblings_share_a_core_and_cores_a_package() {
        let folder = machine("0-3\n", &[]);
        for (cpu, siblings, package) in [(0, "0,2", 0), (1, "1,3", 1), (2, "0,2", 0)] {
            let place = folder.path().join(format!("cpu{cpu}/topology"));
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("thread_siblings_list"), siblings).unwrap();
            fs::write(place.join("physical_package_id"), package.to_string()).unwrap();
        }
        let topology = Topology::of(folder.path()).unwrap();
        // CPU 3 is offline.
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
        let topology = Topology::of(machine("0-2", &[(1, 2, "1")]).path()).unwrap();
        assert_eq!(topology.caches, groups(&[0; 3], 1));
        assert_eq!(topology.caches.ring(), [1, 2, 0]);
    }

    #[test]
    fn a_list_in_no_known_form_is_refused_by_its_file() {
        let error = Topology::of(machine("0-x", &[]).path()).unwrap_err().to_string();
        assert!(error.ends_with("possible: `0-x` is no list of CPUs"), "{error}");
    }
}
