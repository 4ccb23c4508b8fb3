//! The CPUs of this machine, from the kernel's files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sensors::topology::{FOLDER, cpu_list};
pub use sensors::topology::{Groups, Topology};
use thiserror::Error;

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

/// The topology of this machine.
///
/// # Errors
/// [`TopologyError`].
pub fn read() -> Result<Topology, TopologyError> {
    of(Path::new(FOLDER))
}

fn of(folder: &Path) -> Result<Topology, TopologyError> {
    let possible = list(&folder.join("possible"))?;
    let cpus = possible.last().map_or(0, |&last| last as usize + 1);
    Ok(Topology::new(cpus, |name| fs::read_to_string(folder.join(name)).ok()))
}

/// CPUs that are online.
///
/// # Errors
/// [`TopologyError`].
pub fn online() -> Result<Vec<u32>, TopologyError> {
    list(&Path::new(FOLDER).join("online"))
}

/// The CPUs that a file of the kernel lists.
fn list(path: &Path) -> Result<Vec<u32>, TopologyError> {
    let text = fs::read_to_string(path)
        .map_err(|source| TopologyError::File { path: path.to_owned(), source })?;
    cpu_list(&text)
        .ok_or_else(|| TopologyError::List { path: path.to_owned(), text: text.trim().into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn possible_cpus_and_the_files_of_each_make_the_topology() {
        let siblings = "cpu1/topology/thread_siblings_list";
        let folder = machine(&[("possible", "0-1\n"), (siblings, "1\n")]);
        let topology = of(folder.path()).unwrap();
        assert_eq!((topology.cpus(), topology.cores.count), (2, 2));
    }

    #[test]
    fn a_list_in_no_known_form_is_refused_by_its_file() {
        let error = of(machine(&[("possible", "0-x")]).path()).unwrap_err().to_string();
        assert!(error.ends_with("possible: `0-x` is no list of CPUs"), "{error}");
    }
}
