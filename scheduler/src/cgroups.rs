//! Which control groups have settings of CPU time? This scheduler does not honour them: tasks
//! share by nice values alone.
//!
//! Files and their defaults are those of the kernel's `Documentation/admin-guide/cgroup-v2.rst` and
//! `Documentation/scheduler/sched-bwc.rst` (Linux 6.18).

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

/// The kernel's list of mounts.
const MOUNTS: &str = "/proc/self/mounts";
/// Most settings in one message.
const LISTED_MAX: usize = 5;

/// Whether a value of a file differs from the default of a group.
type Differs = fn(&str) -> bool;

/// Files of version 2.
const FILES_V2: [(&str, Differs); 3] = [
    ("cpu.weight", |value| value != "100"),
    ("cpu.max", |value| !value.starts_with("max")),
    ("cpu.idle", |value| value != "0"),
];

/// Files of version 1.
const FILES_V1: [(&str, Differs); 3] = [
    ("cpu.shares", |value| value != "1024"),
    ("cpu.cfs_quota_us", |value| !value.starts_with('-')),
    ("cpu.idle", |value| value != "0"),
];

/// A setting of one group that is not the default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// The file of the group.
    pub file: PathBuf,
    /// Its content.
    pub value: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is `{}`", self.file.display(), self.value)
    }
}

/// Settings as text of a message: one a line, at most the first five.
pub struct Listed<'a>(pub &'a [Setting]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for setting in self.0.iter().take(LISTED_MAX) {
            write!(f, "\n  {setting}")?;
        }
        match self.0.len().saturating_sub(LISTED_MAX) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// All settings of this machine that are not the default, in order of their paths. A container
/// sees those of its own groups only.
///
/// # Errors
/// If a group exists and cannot be read.
pub fn settings() -> Result<Vec<Setting>, Unreadable> {
    let mounts = fs::read(MOUNTS).map_err(|error| Unreadable { path: MOUNTS.into(), error })?;
    settings_below(&hierarchies(&mounts))
}

/// A file or folder that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("reading {}: {error}", path.display())]
pub struct Unreadable {
    path: PathBuf,
    error: io::Error,
}

/// A hierarchy of groups, which may have a controller of CPU time.
#[derive(Debug, PartialEq, Eq)]
struct Hierarchy {
    root: PathBuf,
    is_v2: bool,
}

/// The hierarchies of a list of mounts, as in fstab(5).
fn hierarchies(mounts: &[u8]) -> Vec<Hierarchy> {
    let of_line = |line: &[u8]| {
        let mut fields = line.split(|&byte| byte == b' ').skip(1);
        let (root, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
        let has_cpu = options.split(|&byte| byte == b',').any(|option| option == b"cpu");
        let is_v2 = kind == b"cgroup2";
        let is_hierarchy = is_v2 || kind == b"cgroup" && has_cpu;
        is_hierarchy.then(|| Hierarchy { root: unescaped(root), is_v2 })
    };
    mounts.split(|&byte| byte == b'\n').filter_map(of_line).collect()
}

/// A path in which `\040` stands for a space, and so on.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                rest = &after[3..];
            }
            None => {
                path.push(*first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(path).into()
}

fn settings_below(hierarchies: &[Hierarchy]) -> Result<Vec<Setting>, Unreadable> {
    let mut found = Vec::new();
    // A hierarchy, or a part of it, may be mounted at several places.
    let mut seen = HashSet::new();
    for Hierarchy { root, is_v2 } in hierarchies {
        let files = if *is_v2 { &FILES_V2 } else { &FILES_V1 };
        let mut groups = vec![root.clone()];
        while let Some(group) = groups.pop() {
            let unreadable = |error| Unreadable { path: group.clone(), error };
            let about = unless_gone(fs::symlink_metadata(&group)).map_err(unreadable)?;
            if !about.is_some_and(|about| seen.insert((about.dev(), about.ino()))) {
                continue;
            }
            for &(name, differs) in files {
                let file = group.join(name);
                let value = read(&file)?;
                found.extend(
                    value.filter(|value| differs(value)).map(|value| Setting { file, value }),
                );
            }
            let Some(entries) = unless_gone(fs::read_dir(&group)).map_err(unreadable)? else {
                continue;
            };
            for entry in entries {
                // A group may be removed while its parent is listed.
                let Some(entry) = unless_gone(entry).map_err(unreadable)? else { continue };
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    groups.push(entry.path());
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The content of a file, without the end of the line; `None` where the group has no such file.
fn read(file: &Path) -> Result<Option<String>, Unreadable> {
    let text = unless_gone(fs::read_to_string(file))
        .map_err(|error| Unreadable { path: file.to_owned(), error })?;
    Ok(text.map(|text| text.trim_end().to_owned()))
}

/// `Ok(None)` if the error is that a group was removed, or never had such a file.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    let is_gone = |error: &io::Error| {
        error.kind() == io::ErrorKind::NotFound
            || error.raw_os_error() == Some(Errno::ENODEV as i32)
    };
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(root: &Path, path: &str, files: &[(&str, &str)]) {
        let folder = root.join(path);
        fs::create_dir_all(&folder).unwrap();
        for (name, value) in files {
            fs::write(folder.join(name), format!("{value}\n")).unwrap();
        }
    }

    fn found(root: &Path, is_v2: bool) -> Vec<String> {
        let hierarchy = Hierarchy { root: root.to_owned(), is_v2 };
        let settings = settings_below(&[hierarchy]).unwrap();
        let below = |setting: &Setting| {
            let file = setting.file.strip_prefix(root).unwrap().display().to_string();
            format!("{file} {}", setting.value)
        };
        settings.iter().map(below).collect()
    }

    #[test]
    fn settings_that_are_not_the_default_are_found_at_any_depth() {
        let root = tempfile::tempdir().unwrap();
        let defaults = [("cpu.weight", "100"), ("cpu.max", "max 100000"), ("cpu.idle", "0")];
        group(root.path(), "system", &defaults);
        group(root.path(), "system/inner", &defaults);
        group(root.path(), "no-controller", &[("cgroup.procs", "")]);
        assert_eq!(found(root.path(), true), [""; 0]);
        group(root.path(), "system/inner/pod", &[("cpu.max", "50000 100000")]);
        group(root.path(), "light", &[("cpu.weight", "400"), ("cpu.max", "max 100000")]);
        group(root.path(), "idle", &[("cpu.weight", "0"), ("cpu.idle", "1")]);
        let expected = [
            "idle/cpu.idle 1",
            "idle/cpu.weight 0",
            "light/cpu.weight 400",
            "system/inner/pod/cpu.max 50000 100000",
        ];
        assert_eq!(found(root.path(), true), expected);
    }

    #[test]
    fn files_of_version_1_have_other_names_and_defaults() {
        let root = tempfile::tempdir().unwrap();
        let defaults = [("cpu.shares", "1024"), ("cpu.cfs_quota_us", "-1"), ("cpu.idle", "0")];
        group(root.path(), "", &defaults);
        group(root.path(), "docker", &defaults);
        assert_eq!(found(root.path(), false), [""; 0]);
        group(root.path(), "docker/a", &[("cpu.shares", "512"), ("cpu.cfs_quota_us", "20000")]);
        group(root.path(), "docker/b", &[("cpu.shares", "3"), ("cpu.idle", "1")]);
        let expected = [
            "docker/a/cpu.cfs_quota_us 20000",
            "docker/a/cpu.shares 512",
            "docker/b/cpu.idle 1",
            "docker/b/cpu.shares 3",
        ];
        assert_eq!(found(root.path(), false), expected);
    }

    #[test]
    fn a_group_that_is_mounted_twice_is_listed_once() {
        let root = tempfile::tempdir().unwrap();
        group(root.path(), "a/b", &[("cpu.max", "1000 100000")]);
        let all = Hierarchy { root: root.path().to_owned(), is_v2: true };
        let part = Hierarchy { root: root.path().join("a"), is_v2: true };
        let gone = Hierarchy { root: root.path().join("gone"), is_v2: true };
        assert_eq!(settings_below(&[all, part, gone]).unwrap().len(), 1);
    }

    #[test]
    fn hierarchies_with_a_controller_of_time_are_found_among_mounts() {
        let mounts = b"proc /proc proc rw 0 0\n\
            cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,memory_recursiveprot 0 0\n\
            cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
            cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n\
            none /mnt/two\\040words\\x cgroup2 rw 0 0\n\
            cut";
        let hierarchy = |root: &str, is_v2| Hierarchy { root: root.into(), is_v2 };
        let expected = [
            hierarchy("/sys/fs/cgroup", true),
            hierarchy("/sys/fs/cgroup/cpu,cpuacct", false),
            hierarchy("/mnt/two words\\x", true),
        ];
        assert_eq!(hierarchies(mounts), expected);
    }

    #[test]
    fn a_long_list_is_cut() {
        let setting =
            |number| Setting { file: format!("/g/{number}/cpu.idle").into(), value: "1".into() };
        let settings: Vec<_> = (0..7).map(setting).collect();
        let said = Listed(&settings).to_string();
        assert!(said.starts_with("\n  /g/0/cpu.idle is `1`\n  /g/1"), "{said}");
        assert!(said.ends_with("\n  and 2 more"), "{said}");
        assert!(!Listed(&settings[..5]).to_string().contains("more"));
    }
}
