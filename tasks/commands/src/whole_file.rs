//! Writes a file as a whole, or leaves the file of that name as before.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

/// Creates or replaces the file `name` of a folder.
///
/// # Errors
///
/// The file cannot be written; the error names the file and the reason.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let write = || -> Result<()> {
        // Neither `tempfile_in` nor writing through `NamedTempFile`: their errors name that file.
        let file =
            tempfile::Builder::new().prefix(name).make_in(folder, |path| File::create_new(path))?;
        file.as_file().write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    write().with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.txt", "long").unwrap();
        write(folder.path(), "a.txt", "b").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "b");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_error_names_the_file_that_was_asked_for_and_the_reason() {
        let refused = write(Path::new("/proc"), "a.txt", "b").unwrap_err();
        let sentence = "writing /proc/a.txt: No such file or directory (os error 2)";
        assert_eq!(format!("{refused:#}"), sentence);
    }
}
