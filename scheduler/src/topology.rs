//! Which CPUs share their last-level cache?

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The CPUs of a machine, and the cache of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// By CPU number: the number of its cache, counted from 0.
    pub cache_of: Vec<u32>,
    /// How many caches there are.
    pub caches: u32,
}

/// Why the CPUs are not known.
#[derive(Debug, Error)]
pub enum TopologyError {
    /// A file of the kernel.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: io::Error,
    },
    /// A list of CPUs in no known form.
    #[error("{}: `{text}` is no list of CPUs", path.display())]
    List {
        /// The file.
        path: PathBuf,
        /// What it holds.
        text: String,
    },
}

/// Where the kernel describes CPUs.
const FOLDER: &str = "/sys/devices/system/cpu";

impl Topology {
    /// Of this machine. A CPU that is off says nothing of its cache and counts to the first.
    ///
    /// # Errors
    /// [`TopologyError`].
    pub fn read() -> Result<Self, TopologyError> {
        Self::of(Path::new(FOLDER))
    }

    fn of(folder: &Path) -> Result<Self, TopologyError> {
        let possible = list(&folder.join("possible"))?;
        let cpus = possible.last().map_or(0, |&last| last as usize + 1);
        let mut numbers = HashMap::new();
        let mut cache_of = vec![0; cpus];
        for &cpu in &possible {
            let Some(shared) = last_level(&folder.join(format!("cpu{cpu}/cache"))) else {
                continue;
            };
            // CPUs with the same list share the cache.
            let next = numbers.len() as u32;
            cache_of[cpu as usize] = *numbers.entry(shared).or_insert(next);
        }
        Ok(Self { cache_of, caches: (numbers.len() as u32).max(1) })
    }

    /// By CPU: the next one of its cache, in a ring.
    #[must_use]
    pub fn next_of_cache(&self) -> Vec<u32> {
        let mut next: Vec<u32> = (0..self.cache_of.len() as u32).collect();
        for cache in 0..self.caches {
            let of_cache = |cpu: &usize| self.cache_of[*cpu] == cache;
            let members: Vec<usize> = (0..self.cache_of.len()).filter(of_cache).collect();
            for (index, &member) in members.iter().enumerate() {
                next[member] = members[(index + 1) % members.len()] as u32;
            }
        }
        next
    }

    /// By cache: how many CPUs share it.
    #[must_use]
    pub fn cpus_of_cache(&self) -> Vec<u32> {
        let mut cpus = vec![0; self.caches as usize];
        for &cache in &self.cache_of {
            cpus[cache as usize] += 1;
        }
        cpus
    }
}

/// The list of CPUs that share the cache of the highest level; nothing where none is told.
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

    #[test]
    fn cpus_with_the_same_last_level_are_together() {
        let caches =
            [(0, 1, "0"), (0, 3, "0,2"), (1, 3, "1,3"), (2, 3, "0,2"), (3, 2, "3"), (3, 3, "1,3")];
        let topology = Topology::of(machine("0-3\n", &caches).path()).unwrap();
        assert_eq!(topology, Topology { cache_of: vec![0, 1, 0, 1], caches: 2 });
        assert_eq!(topology.next_of_cache(), [2, 3, 0, 1]);
        assert_eq!(topology.cpus_of_cache(), [2, 2]);
    }

    #[test]
    fn without_caches_and_with_cpus_that_are_off_there_is_one() {
        let topology = Topology::of(machine("0-2", &[(1, 2, "1")]).path()).unwrap();
        assert_eq!(topology, Topology { cache_of: vec![0; 3], caches: 1 });
        assert_eq!(topology.next_of_cache(), [1, 2, 0]);
    }

    #[test]
    fn a_list_in_no_known_form_is_refused_by_its_file() {
        let error = Topology::of(machine("0-x", &[]).path()).unwrap_err().to_string();
        assert!(error.ends_with("possible: `0-x` is no list of CPUs"), "{error}");
    }
}
