//! The folders of a hierarchy of control groups.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A control group.
#[derive(Debug, PartialEq, Eq)]
pub struct Folder {
    /// The kernel's id of the group. It is the inode number of the folder since Linux 5.5
    /// (`kernfs_ino` and `kernfs_id` of include/linux/kernfs.h, on machines of 64 bits), and what
    /// `bpf_get_current_cgroup_id` returns.
    pub id: u64,
    /// Path below the root of the hierarchy, beginning with `/`.
    pub path: String,
}

/// The folders of a hierarchy, parents before their children, and whether it has more than `most`.
///
/// Folders that come or go meanwhile may be missing. A folder without subfolders is not opened:
/// it has 2 links, those with subfolders one more for each (`kernfs_refresh_inode` of
/// fs/kernfs/inode.c, Linux 6.18). Most groups are such, and each has some 60 files.
pub fn walk(root: &Path, most: usize) -> (Vec<Folder>, bool) {
    let mut found = Vec::new();
    let Ok(mount) = root.metadata() else { return (found, false) };
    let mut open: Vec<(PathBuf, String)> = vec![(root.to_owned(), String::new())];
    if most == 0 {
        return (found, true);
    }
    found.push(Folder { id: mount.ino(), path: "/".to_owned() });
    while let Some((folder, path)) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.dev() != mount.dev() {
                continue;
            }
            if found.len() == most {
                return (found, true);
            }
            let path = format!("{path}/{}", entry.file_name().to_string_lossy());
            found.push(Folder { id: metadata.ino(), path: path.clone() });
            if metadata.nlink() != 2 {
                open.push((entry.path(), path));
            }
        }
    }
    (found, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_has_its_inode_number_and_files_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a.slice/b.service/c")).unwrap();
        fs::create_dir(root.path().join("d")).unwrap();
        fs::write(root.path().join("d/cgroup.procs"), "1\n").unwrap();
        let (mut found, is_cut) = walk(root.path(), 5);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        let paths: Vec<&str> = found.iter().map(|folder| &folder.path[..]).collect();
        assert_eq!(paths, ["/", "/a.slice", "/a.slice/b.service", "/a.slice/b.service/c", "/d"]);
        assert!(!is_cut);
        for folder in found {
            let path = root.path().join(&folder.path[1..]);
            assert_eq!(path.metadata().unwrap().ino(), folder.id, "{}", folder.path);
        }
    }

    #[test]
    fn a_walk_ends_at_its_bound_and_says_so() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let (found, is_cut) = walk(root.path(), 3);
        assert_eq!((found.len(), is_cut), (3, true));
        assert_eq!(walk(&root.path().join("absent"), 3), (Vec::new(), false));
    }
}
