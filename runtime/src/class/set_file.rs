//! A file with a set of CPUs that somebody else writes, and may change while we run.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::topology::CpuList;

/// The file, and how it was when it was read last.
pub(super) struct SetFile {
    path: PathBuf,
    read: Option<(SystemTime, u64)>,
    /// Whether its mistake was told.
    is_told: bool,
}

impl SetFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, read: None, is_told: false }
    }

    /// What is in it, if that is new. Where it cannot be read, or is no list, what was read before
    /// stays, and that is told once.
    pub(super) fn changed(&mut self) -> Option<CpuList> {
        match self.look() {
            Ok(found) => {
                self.is_told &= found.is_none();
                found
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_told, true) {
                    let path = self.path.display();
                    let line =
                        format!("evenkeel: {path}: {error}; wide tasks stay where they were\n");
                    // There is nobody to tell that standard error is closed.
                    let _ = io::stderr().write_all(line.as_bytes());
                }
                None
            }
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
