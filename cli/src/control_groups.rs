//! The control groups of this machine: which container, pod or unit has the group with this id?

mod engines;
mod folders;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sensors::control_groups::{Census, Hierarchy, Labels, hierarchies, path_of_process, version};

use engines::Engines;

/// Most folders that a walk reads, our choice: half a second, at the 5 us a folder that a walk of
/// 5,000 took. Linux 6.18 refuses more than 65,535 groups below the controller of memory
/// (`MEM_CGROUP_ID_MAX` of mm/memcontrol.c).
const FOLDERS_MAX: usize = 100_000;

/// The groups of cgroup v2 by their ids. Names stay when a group goes, so that a profile can name
/// containers that have ended.
pub struct Names {
    /// Root of the machine: `/`, or a folder in tests.
    root: PathBuf,
    hierarchies: Vec<Hierarchy>,
    /// By id, all groups that a walk has found.
    known: HashMap<u64, Labels>,
    /// The groups of the last walk.
    present: HashSet<u64>,
    /// Ids that a walk looked for in vain. The kernel gives no id twice
    /// (`__kernfs_new_node` of fs/kernfs/dir.c, Linux 6.18), so no later walk finds one.
    lost: HashSet<u64>,
    /// Whether the last walk ended at [`FOLDERS_MAX`].
    is_cut: bool,
}

impl Names {
    /// The groups that this machine has now.
    pub fn of_this_machine() -> Self {
        Self::of_machine(PathBuf::from("/"))
    }

    fn of_machine(root: PathBuf) -> Self {
        let mounts = fs::read(root.join("proc/self/mounts")).unwrap_or_default();
        let mut names = Self {
            root,
            hierarchies: hierarchies(&String::from_utf8_lossy(&mounts)),
            known: HashMap::new(),
            present: HashSet::new(),
            lost: HashSet::new(),
            is_cut: false,
        };
        names.refresh();
        names
    }

    /// Adds the groups that came since the last walk, and looks again for names of those present
    /// that have none: a container's group is older than the files that name the container.
    pub fn refresh(&mut self) {
        let Some(v2) = self.hierarchies.iter().find(|hierarchy| hierarchy.is_v2) else { return };
        let (folders, is_cut) = folders::walk(&self.place(&v2.folder), FOLDERS_MAX);
        self.is_cut = is_cut;
        self.present = folders.iter().map(|folder| folder.id).collect();
        let engines = Engines::new(&self.root);
        for folder in folders {
            let labels =
                self.known.entry(folder.id).or_insert_with(|| Labels::of_path(&folder.path));
            engines.name(labels);
        }
    }

    /// The labels of the group with this id of the kernel, as `bpf_get_current_cgroup_id` returns
    /// it. An id that is new costs a walk, once.
    pub fn labels(&mut self, id: u64) -> Option<&Labels> {
        if !self.known.contains_key(&id) && !self.lost.contains(&id) {
            self.refresh();
            if !self.known.contains_key(&id) {
                self.lost.insert(id);
            }
        }
        self.known.get(&id)
    }

    /// The labels of the group of a process. None where the process has ended.
    pub fn of_process(&mut self, pid: u32) -> Option<Labels> {
        let lines = fs::read(self.root.join(format!("proc/{pid}/cgroup"))).ok()?;
        let lines = String::from_utf8_lossy(&lines).into_owned();
        let (path, is_v2) = path_of_process(&lines)?;
        let v2 = self.hierarchies.iter().find(|hierarchy| hierarchy.is_v2).filter(|_| is_v2);
        // A path with `..` leads out of what this process's cgroup namespace shows.
        let place = v2.filter(|_| !path.contains("/..")).map(|v2| self.place(&v2.folder));
        let folder = place.map(|place| place.join(path.trim_start_matches('/')));
        let id = folder.and_then(|folder| folder.metadata().ok()).map(|folder| folder.ino());
        if let Some(labels) = id.and_then(|id| self.labels(id)) {
            return Some(labels.clone());
        }
        let mut labels = Labels::of_path(path);
        Engines::new(&self.root).name(&mut labels);
        Some(labels)
    }

    /// Numbers of the groups that exist now, those of cgroup v1 included.
    pub fn census(&self) -> Census {
        let mut left = FOLDERS_MAX.saturating_sub(self.present.len());
        let mut is_cut = self.is_cut;
        let mut of_v1 = Vec::new();
        for hierarchy in self.hierarchies.iter().filter(|hierarchy| !hierarchy.is_v2) {
            let (folders, is_at_end) = folders::walk(&self.place(&hierarchy.folder), left);
            left -= folders.len();
            is_cut |= is_at_end;
            of_v1.extend(folders.iter().map(|folder| Labels::of_path(&folder.path)));
        }
        let of_v2 = self.present.iter().filter_map(|id| self.known.get(id));
        Census::of(version(&self.hierarchies), is_cut, of_v2.chain(&of_v1))
    }

    fn place(&self, folder: &str) -> PathBuf {
        self.root.join(Path::new(folder).strip_prefix("/").unwrap_or(Path::new(folder)))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// A machine with the hierarchies of `mounts`.
    fn machine(mounts: &str) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("proc/self")).unwrap();
        fs::write(root.path().join("proc/self/mounts"), mounts).unwrap();
        root
    }

    fn add(root: &TempDir, folder: &str) -> u64 {
        let folder = root.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        folder.metadata().unwrap().ino()
    }

    #[test]
    fn groups_that_come_are_found_and_names_of_those_that_go_stay() {
        let root = machine("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
        let first = add(&root, "sys/fs/cgroup/system.slice/a.service");
        let mut names = Names::of_machine(root.path().to_owned());
        let second = add(&root, &format!("sys/fs/cgroup/docker/{ID}"));
        assert_eq!(names.labels(second).unwrap().container_id.as_deref(), Some(ID));
        fs::remove_dir(root.path().join("sys/fs/cgroup/system.slice/a.service")).unwrap();
        names.refresh();
        assert_eq!(names.labels(first).unwrap().short_name(), "a.service");
        assert_eq!(names.census().sentence(), "v2, 4 groups; containers: 1 docker");
        assert_eq!(names.labels(u64::MAX), None);
        assert!(names.lost.contains(&u64::MAX));
    }

    #[test]
    fn a_name_that_comes_after_its_group_is_found() {
        let root = machine("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
        let id = add(&root, &format!("sys/fs/cgroup/docker/{ID}"));
        let mut names = Names::of_machine(root.path().to_owned());
        assert_eq!(names.labels(id).unwrap().short_name(), ID[..12]);
        let folder = format!("var/lib/docker/containers/{ID}");
        add(&root, &folder);
        fs::write(root.path().join(folder).join("config.v2.json"), r#"{"Name":"/db"}"#).unwrap();
        names.refresh();
        assert_eq!(names.labels(id).unwrap().short_name(), "db");
    }

    #[test]
    fn a_process_has_the_labels_of_its_group_in_v2_or_v1() {
        let root = machine(
            "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n\
             cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n",
        );
        add(&root, "sys/fs/cgroup/unified/system.slice/a.service");
        add(&root, &format!("sys/fs/cgroup/cpu/docker/{ID}"));
        for (pid, lines) in [(7, "0::/system.slice/a.service\n"), (8, "0::/\n"), (9, "0::/../x\n")]
        {
            add(&root, &format!("proc/{pid}"));
            let cpu = if pid == 8 { format!("1:cpu:/docker/{ID}\n") } else { String::new() };
            fs::write(root.path().join(format!("proc/{pid}/cgroup")), cpu + lines).unwrap();
        }
        let mut names = Names::of_machine(root.path().to_owned());
        let mut short = |pid| names.of_process(pid).map(|labels| labels.short_name());
        assert_eq!(short(7).as_deref(), Some("a.service"));
        assert_eq!(short(8).as_deref(), Some(&ID[..12]));
        assert_eq!(short(9).as_deref(), Some("x"));
        assert_eq!(short(10), None);
        // `/`, `/system.slice`, `/system.slice/a.service`, `/docker` and the container.
        assert_eq!(names.census().sentence(), "hybrid, 5 groups; containers: 1 docker");
    }

    #[test]
    fn this_machine_is_read() {
        let mut names = Names::of_this_machine();
        let own = names.of_process(std::process::id()).unwrap();
        assert!(own.path.starts_with('/'));
        assert!(names.census().groups >= usize::from(!names.hierarchies.is_empty()));
    }
}
