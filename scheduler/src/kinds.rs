//! Core specialization as other programs see it.
//!
//! | Question | Where |
//! |---|---|
//! | Which CPUs are wide, and how do other programs know? | here |
//! | Which process may declare which kind, for whom? | `declarations.rs` |

pub mod declarations;

use std::fmt::Write;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The folder of the files that a scheduler with core specialization keeps.
pub const FOLDER: &str = "/run/evenkeel";
/// The file in that folder with the CPUs of wide cores, in one line.
pub const WIDE_CPUS: &str = "wide-cpus";

/// CPUs in the kernel's list format, such as `0-3,8`.
#[must_use]
pub fn cpu_list(cpus: &[u32]) -> String {
    let mut list = String::new();
    let mut rest = cpus;
    while let Some(&first) = rest.first() {
        let run = rest.iter().zip(first..).take_while(|&(&cpu, next)| cpu == next).count();
        let comma = if list.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = match run {
            1 => write!(list, "{comma}{first}"),
            _ => write!(list, "{comma}{first}-{}", rest[run - 1]),
        };
        rest = &rest[run..];
    }
    list
}

/// The published file. It is removed when this value is dropped; one that a killed scheduler left
/// is replaced by the next.
pub struct Published {
    path: PathBuf,
    written: Option<String>,
}

impl Published {
    /// Nothing is written yet.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { path: folder.join(WIDE_CPUS), written: None })
    }

    /// Replaces the file unless it has this list already. A reader finds the old line or the new
    /// one, and never a part of one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, cpus: &[u32]) -> io::Result<()> {
        let list = cpu_list(cpus);
        if self.written.as_ref() == Some(&list) {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder)?;
        writeln!(file, "{list}")?;
        readable_by_all(file.as_file())?;
        file.persist(&self.path)?;
        self.written = Some(list);
        Ok(())
    }
}

fn readable_by_all(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

impl Drop for Published {
    fn drop(&mut self) {
        if self.written.is_some() {
            // An error means that another process has removed the file already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_the_kernel_lists_them() {
        assert_eq!(cpu_list(&[]), "");
        assert_eq!(cpu_list(&[3]), "3");
        assert_eq!(cpu_list(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }

    #[test]
    fn a_published_list_is_read_by_the_parser_of_lists_and_goes_with_the_scheduler() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join(WIDE_CPUS);
        let mut published = Published::in_folder(path.parent().unwrap()).unwrap();
        for cpus in [vec![6, 7], vec![4, 5, 6, 7], vec![]] {
            published.write(&cpus).unwrap();
            let line = fs::read_to_string(&path).unwrap();
            assert!(line.ends_with('\n'));
            assert_eq!(sensors::topology::cpu_list(line.trim()).unwrap_or_default(), cpus);
        }
        drop(published);
        assert!(!path.exists());
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 0);
    }
}
