//! A file with a set of CPUs, which another program writes and may change at any time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use crate::notice::tell;
use crate::sync::lock_std;
use crate::topology::CpuList;

/// Files whose mistakes were reported: several runtimes of a process may read the same file.
static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The file, and its time and length at the last reading.
pub(super) struct SetFile {
    path: PathBuf,
    read: Option<(SystemTime, u64)>,
}

impl SetFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, read: None }
    }

    /// The set in the file, if new. A file that cannot be read, or has no list, leaves the set
    /// unchanged; one message says so, until the file is right again.
    pub(super) fn changed(&mut self) -> Option<CpuList> {
        match self.look() {
            Ok(None) => None,
            Ok(Some(found)) => {
                told().remove(&self.path);
                Some(found)
            }
            Err(error) => {
                if told().insert(self.path.clone()) {
                    let mistake = self.mistake(&error);
                    tell(&format!("{mistake}; wide tasks stay where they were"));
                }
                None
            }
        }
    }

    fn mistake(&self, error: &io::Error) -> String {
        let path = self.path.display();
        match error.kind() {
            io::ErrorKind::InvalidData => format!("{path}: {error}"),
            _ => format!("`{path}` is no list of CPUs such as `0-3,8`, and as a file: {error}"),
        }
    }

    fn look(&mut self) -> io::Result<Option<CpuList>> {
        let about = fs::metadata(&self.path)?;
        let stamp = (about.modified()?, about.len());
        if self.read == Some(stamp) {
            return Ok(None);
        }
        let text = fs::read_to_string(&self.path)?;
        let list =
            text.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.read = Some(stamp);
        Ok(Some(list))
    }
}

fn told() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    lock_std(&TOLD)
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_when_it_changes_and_a_wrong_one_changes_nothing() {
        let path = std::env::temp_dir().join(format!("evenkeel-wide-{}", std::process::id()));
        let mut file = SetFile::new(path.clone());
        assert_eq!(file.changed(), None);
        fs::write(&path, "0-1\n").unwrap();
        assert_eq!(file.changed(), Some("0-1".parse().unwrap()));
        assert_eq!(file.changed(), None);
        fs::write(&path, "what?").unwrap();
        assert_eq!(file.changed(), None);
        fs::write(&path, "2,3,4\n").unwrap();
        assert_eq!(file.changed(), Some("2-4".parse().unwrap()));
        fs::remove_file(&path).unwrap();
    }
}
