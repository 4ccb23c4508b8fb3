//! Reads and writes the files that users name.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tempfile::NamedTempFile;
use trace::History;

/// A text file of at most this size; scenarios and CPU tables are far smaller.
const TEXT_MAX: u64 = 16 << 20;

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String> {
    let reading = || format!("reading {}", path.display());
    let mut bytes = Vec::new();
    // A device has no size to ask for, and may have no end.
    open(path)?.take(TEXT_MAX + 1).read_to_end(&mut bytes).with_context(reading)?;
    let is_small = bytes.len() as u64 <= TEXT_MAX;
    ensure!(is_small, "{}: larger than {} MiB", path.display(), TEXT_MAX >> 20);
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytecount(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        anyhow::anyhow!("{}:{line}: not UTF-8", path.display())
    })
}

fn bytecount(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<File> {
    let reading = || format!("reading {}", path.display());
    let file = File::open(path).with_context(reading)?;
    if file.metadata().with_context(reading)?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(reading);
    }
    Ok(file)
}

/// The first bytes of every file packed by zstd, histories among them (RFC 8878).
pub const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a file is packed by zstd, as histories are and no text is.
pub fn is_packed(path: &Path) -> bool {
    let mut start = [0; ZSTD.len()];
    let read =
        path.is_file() && File::open(path).is_ok_and(|mut it| it.read_exact(&mut start).is_ok());
    read && start == ZSTD
}

/// Reads a history.
pub fn history(path: &Path) -> Result<History> {
    let file = open(path)?;
    let advice = "no history; `evenkeel trace import` makes one of a recording by other tools";
    ensure!(!path.is_file() || is_packed(path), "{}: {advice}", path.display());
    History::read(file).with_context(|| path.display().to_string())
}

/// Writes a file whole or not at all; `-` is standard output.
pub fn write(path: &Path, contents: &[u8]) -> Result<()> {
    write_with(path, |output| output.write_all(contents).map_err(Into::into))
}

/// Writes a value as JSON, and returns whether that took standard output.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<bool> {
    write(path, (serde_json::to_string_pretty(value)? + "\n").as_bytes())?;
    Ok(path == Path::new("-"))
}

/// Lets `fill` write a file that appears only once complete; `-` is standard output.
pub fn write_with<T>(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    if path == Path::new("-") {
        return fill_whole(path, io::stdout().lock(), fill);
    }
    if is_special(path) {
        let file = File::options().write(true).open(path).with_context(|| writing(path))?;
        return fill_whole(path, file, fill);
    }
    let file = temporary_beside(path).with_context(|| writing(path))?;
    // Not through `NamedTempFile`, whose errors name the temporary file.
    let value = fill_whole(path, file.as_file(), fill)?;
    keep_permissions(path, file.as_file()).with_context(|| writing(path))?;
    file.persist(path).map_err(|error| error.error).with_context(|| writing(path))?;
    Ok(value)
}

/// The operation that failed, for an error.
fn writing(path: &Path) -> String {
    if path == Path::new("-") {
        return "writing to standard output".to_owned();
    }
    format!("writing {}", path.display())
}

/// Lets `fill` write all of `output`. Where a write fails, the error names `path`: that of `fill`
/// may name no file, or the one that it reads.
fn fill_whole<T>(
    path: &Path,
    output: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let mut output = KeepsError { output: io::BufWriter::new(output), error: None };
    let filled = fill(&mut output).and_then(|value| {
        output.flush()?;
        Ok(value)
    });
    match output.error {
        Some(error) => Err(error).with_context(|| writing(path)),
        None => filled,
    }
}

/// Keeps the error of the last write, if that failed, and gives the writer one of its kind.
struct KeepsError<W> {
    output: W,
    error: Option<io::Error>,
}

impl<W> KeepsError<W> {
    fn keep<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        // A recording continues after an error: the recorder frees its reserve and writes again.
        self.error = None;
        done.map_err(|error| self.error.insert(error).kind().into())
    }
}

impl<W: Write> Write for KeepsError<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.output.write(bytes);
        self.keep(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.output.flush();
        self.keep(done)
    }
}

/// Whether the path is a folder, a device or a pipe, which only its owner may replace.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    // Not `tempfile_in`, whose errors name the temporary file and whose files only the owner reads.
    tempfile::Builder::new().make_in(folder, |path| File::create_new(path))
}

/// Says early that a file cannot be written.
pub fn refuse_unwritable(path: &Path) -> Result<()> {
    if path == Path::new("-") || (is_special(path) && !path.is_dir()) {
        return Ok(());
    }
    if path.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(|| writing(path));
    }
    temporary_beside(path).map(drop).with_context(|| writing(path))
}

/// A file that replaces another is as readable as that one was.
fn keep_permissions(path: &Path, file: &File) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(replaced) => file.set_permissions(replaced.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_whose_writing_fails_does_not_appear() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        let failed: Result<()> = write_with(&path, |output| {
            output.write_all(b"half")?;
            anyhow::bail!("no more")
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&path, b"whole").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    fn a_file_that_replaces_another_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        std::fs::write(&path, b"old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(&path, b"new").unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!((std::fs::read(&path).unwrap(), mode & 0o777), (b"new".to_vec(), 0o640));
    }
}
