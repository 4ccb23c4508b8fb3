//! Which hierarchies of control groups are mounted, and which group has a process?

use serde::{Deserialize, Serialize};

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// Whether it is the one of cgroup v2. Its ids are those of `bpf_get_current_cgroup_id`.
    pub is_v2: bool,
    /// Folder at which it is mounted.
    pub folder: String,
}

/// How a machine mounts control groups (`man systemd`, "Control group hierarchy").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Version {
    /// No hierarchy is mounted.
    #[default]
    None,
    /// Only hierarchies of cgroup v1, one or more controllers each.
    V1,
    /// The one hierarchy of cgroup v2.
    V2,
    /// Cgroup v2, and controllers in hierarchies of v1.
    Hybrid,
}

impl Version {
    /// As a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::Hybrid => "hybrid",
        }
    }
}

/// The hierarchies of a list of mounts, `/proc/self/mounts` (`man proc_pid_mounts`), in its order.
#[must_use]
pub fn hierarchies(mounts: &str) -> Vec<Hierarchy> {
    let of_line = |line: &str| {
        let mut words = line.split(' ');
        let (folder, kind) = (words.nth(1)?, words.next()?);
        let is_v2 = match kind {
            "cgroup2" => true,
            "cgroup" => false,
            _ => return None,
        };
        Some(Hierarchy { is_v2, folder: without_octal(folder) })
    };
    mounts.lines().filter_map(of_line).collect()
}

/// The version of a machine with these hierarchies.
#[must_use]
pub fn version(hierarchies: &[Hierarchy]) -> Version {
    let has = |is_v2| hierarchies.iter().any(|hierarchy| hierarchy.is_v2 == is_v2);
    match (has(true), has(false)) {
        (true, true) => Version::Hybrid,
        (true, false) => Version::V2,
        (false, true) => Version::V1,
        (false, false) => Version::None,
    }
}

/// Blanks of a folder's name are `\040` (fs/proc_namespace.c, `mangle`, Linux 6.18).
fn without_octal(folder: &str) -> String {
    let mut folder = folder.to_owned();
    for (escape, character) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        folder = folder.replace(escape, character);
    }
    folder
}

/// Hierarchies of v1 in the order in which the groups of a process are looked for: by systemd, then
/// by the controllers that container runtimes set first.
const V1_ORDER: [&str; 5] = ["name=systemd", "cpu", "cpuacct", "memory", "pids"];

/// The group of a process, from `/proc/PID/cgroup` with lines `ID:CONTROLLERS:PATH`
/// (`proc_cgroup_show` of kernel/cgroup/cgroup.c, Linux 6.18), and whether the group is of cgroup
/// v2. That is the group of v2, or where this is the root and v1 has a smaller group, that one. A
/// group that was removed has ` (deleted)` after its path, which is left out.
#[must_use]
pub fn path_of_process(lines: &str) -> Option<(&str, bool)> {
    let groups: Vec<(&str, &str)> = lines
        .lines()
        .filter_map(|line| {
            let mut words = line.splitn(3, ':');
            let (_, controllers, path) = (words.next()?, words.next()?, words.next()?);
            Some((controllers, path.strip_suffix(" (deleted)").unwrap_or(path)))
        })
        .collect();
    let of = |wanted: &str| {
        let is = |controllers: &str| controllers.split(',').any(|name| name == wanted);
        groups.iter().find(|(controllers, _)| is(controllers)).map(|&(_, path)| path)
    };
    let unified = groups.iter().find(|(controllers, _)| controllers.is_empty());
    let unified = unified.map(|&(_, path)| path);
    let smaller = || V1_ORDER.into_iter().filter_map(of).find(|&path| path != "/");
    match unified {
        Some(path) if path != "/" => Some((path, true)),
        root => match smaller() {
            Some(path) => Some((path, false)),
            None => {
                root.map(|path| (path, true)).or(groups.first().map(|&(_, path)| (path, false)))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HYBRID: &str = "\
tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0
cgroup2 /sys/fs/cgroup/uni\\040fied cgroup2 rw 0 0
";

    #[test]
    fn mounts_tell_the_version() {
        let found = hierarchies(HYBRID);
        assert_eq!(version(&found), Version::Hybrid);
        assert_eq!(found[1], Hierarchy { is_v2: true, folder: "/sys/fs/cgroup/uni fied".into() });
        let of = |lines: &str| version(&hierarchies(lines));
        assert_eq!(of("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"), Version::V2);
        assert_eq!(of("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"), Version::V1);
        assert_eq!(of("proc /proc proc rw 0 0\n"), Version::None);
    }

    #[test]
    fn a_process_has_the_group_of_v2_unless_only_v1_tells_it_apart() {
        let of = |lines| path_of_process(lines).unwrap();
        assert_eq!(of("0::/system.slice/a.service\n"), ("/system.slice/a.service", true));
        assert_eq!(of("0::/\n"), ("/", true));
        assert_eq!(of("1:name=systemd:/a\n0::/b:c\n"), ("/b:c", true));
        assert_eq!(of("3:cpu,cpuacct:/docker/x\n1:name=systemd:/\n0::/\n"), ("/docker/x", false));
        assert_eq!(of("3:pids:/p\n2:memory:/m\n"), ("/m", false));
        assert_eq!(of("2:devices:/d\n"), ("/d", false));
        assert_eq!(of("0::/a/b (deleted)\n"), ("/a/b", true));
        assert_eq!(path_of_process("nonsense"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(
            text in "([0-9]{0,2}:?[a-z=,]{0,8}:?/?[a-z\\\\0-9 ]{0,9}\n?){0,9}\\PC{0,20}"
        ) {
            if let Some((path, _)) = path_of_process(&text) {
                prop_assert!(text.contains(path));
            }
            prop_assert!(hierarchies(&text).len() <= text.lines().count());
        }
    }
}
