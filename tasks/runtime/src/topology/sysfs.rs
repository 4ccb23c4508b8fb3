//! The parts that CPUs share, as the kernel lists them below `/sys/devices/system`.

use std::fs;
use std::path::{Path, PathBuf};

use super::CpuList;

/// A part of the machine that several CPUs may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A core: its hardware threads.
    Core,
    /// The cache with the highest level.
    LastLevelCache,
    /// A NUMA domain.
    NumaDomain,
    /// A socket.
    Socket,
}

/// The kernel's folder. A missing file, or one without a list of CPUs, counts as empty: older
/// kernels have fewer files.
#[derive(Debug)]
pub struct Sysfs {
    folder: PathBuf,
}

impl Sysfs {
    /// Of the machine at hand.
    #[must_use]
    pub fn of_machine() -> Self {
        Self::in_folder("/sys/devices/system")
    }

    /// The files of another folder of that form.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The CPUs that share a part with a CPU, including this CPU; none where the files do not list
    /// them.
    #[must_use]
    pub fn beside(&self, cpu: usize, part: Part) -> CpuList {
        let folder = self.folder.join(format!("cpu/cpu{cpu}"));
        // The first of a pair is the newer name.
        let either = |names: [&str; 2]| {
            let lists = names.map(|name| list(&folder.join("topology").join(name)));
            lists.into_iter().find(|cpus| !cpus.is_empty()).unwrap_or_default()
        };
        match part {
            Part::Core => either(["core_cpus_list", "thread_siblings_list"]),
            Part::Socket => either(["package_cpus_list", "core_siblings_list"]),
            Part::LastLevelCache => last_cache(&folder.join("cache")),
            Part::NumaDomain => {
                self.domains().into_iter().find(|domain| domain.contains(cpu)).unwrap_or_default()
            }
        }
    }

    /// The NUMA domains that have CPUs, by number; none where the kernel has none.
    pub(super) fn domains(&self) -> Vec<CpuList> {
        let nodes = self.folder.join("node");
        // A list of nodes has the form of a list of CPUs.
        let numbers = list(&nodes.join("has_cpu"));
        let cpus_of = |node| list(&nodes.join(format!("node{node}/cpulist")));
        numbers.iter().map(cpus_of).filter(|cpus| !cpus.is_empty()).collect()
    }
}

/// The CPUs of the cache with the highest level.
fn last_cache(caches: &Path) -> CpuList {
    let level = |path: &Path| -> Option<u32> {
        fs::read_to_string(path.join("level")).ok()?.trim().parse().ok()
    };
    let caches = fs::read_dir(caches).into_iter().flatten().flatten().map(|entry| entry.path());
    let highest = caches.filter_map(|path| Some((level(&path)?, path))).max();
    highest.map(|(_, path)| list(&path.join("shared_cpu_list"))).unwrap_or_default()
}

/// The list in a file.
fn list(path: &Path) -> CpuList {
    fs::read_to_string(path).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read_and_what_is_not_there_tells_nothing() {
        let folder = std::env::temp_dir().join(format!("evenkeel-sysfs-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("cpu/cpu1/topology/thread_siblings_list", "1,9\n");
        write("cpu/cpu1/topology/package_cpus_list", "0-3,8-9\n");
        write("cpu/cpu1/cache/index0/level", "1\n");
        write("cpu/cpu1/cache/index0/shared_cpu_list", "1\n");
        write("cpu/cpu1/cache/index3/level", "3\n");
        write("cpu/cpu1/cache/index3/shared_cpu_list", "0-1\n");
        write("cpu/cpu2/topology/core_cpus_list", "what?\n");
        write("node/node0/cpulist", "0\n");
        write("node/node10/cpulist", "8\n");
        write("node/node2/cpulist", "1-2\n");
        write("node/node3/cpulist", "\n");
        write("node/has_cpu", "0,2-3,10\n");
        let sysfs = Sysfs::in_folder(&folder);
        let parts = [Part::Core, Part::LastLevelCache, Part::NumaDomain, Part::Socket];
        let found = parts.map(|part| sysfs.beside(1, part));
        let (wrong, domains) = (sysfs.beside(2, Part::Core), sysfs.domains());
        fs::remove_dir_all(&folder).unwrap();
        let lists = |texts: &[&str]| -> Vec<CpuList> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        assert_eq!(found.to_vec(), lists(&["1,9", "0-1", "1-2", "0-3,8-9"]));
        assert_eq!(domains, lists(&["0", "1-2", "8"]));
        assert!(wrong.is_empty());
        assert!(parts.iter().all(|&part| sysfs.beside(1, part).is_empty()));
    }
}
