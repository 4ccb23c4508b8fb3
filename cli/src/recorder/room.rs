//! Reserved room for the end of the file, written when the disk is full.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::rc::Rc;

use nix::fcntl::posix_fallocate;

/// Bytes for the end after the last record: 4,096 records that were held back, and the tasks.
pub const KEPT: i64 = 2 << 20;

/// Writes to `output`; once the disk is full, gives back the reserved room, and [`Self::full`]
/// tells the recorder to end.
pub struct Room<W, K> {
    output: W,
    kept: Option<K>,
    full: Rc<Cell<bool>>,
}

impl<W: Write, K> Room<W, K> {
    /// Writes to `output`, where dropping `kept` frees some room.
    pub fn new(output: W, kept: K) -> Self {
        Self { output, kept: Some(kept), full: Rc::default() }
    }

    /// Whether the disk is full, now and later.
    pub fn full(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.full)
    }

    fn retrying<T>(&mut self, mut act: impl FnMut(&mut W) -> io::Result<T>) -> io::Result<T> {
        match act(&mut self.output) {
            Err(error) if error.kind() == ErrorKind::StorageFull && self.kept.take().is_some() => {
                self.full.set(true);
                act(&mut self.output)
            }
            done => done,
        }
    }
}

impl<W: Write, K> Write for Room<W, K> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retrying(|output| output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.retrying(Write::flush)
    }
}

/// A file without a name, which goes with the process, on the disk of `path`; none where the file
/// system has no such files, as 9p.
///
/// # Errors
/// When the disk is full already.
pub fn keep_beside(path: &Path) -> io::Result<Option<File>> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let kept = tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).and_then(|file| {
        posix_fallocate(&file, 0, KEPT)?;
        Ok(file)
    });
    match kept {
        Err(error) if error.kind() == ErrorKind::StorageFull => Err(error),
        kept => Ok(kept.ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk of some bytes, with a file.
    struct Disk {
        free: Rc<Cell<usize>>,
        file: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.free.get());
            if fits == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.free.set(self.free.get() - fits);
            self.file.extend_from_slice(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Kept(Rc<Cell<usize>>);

    impl Drop for Kept {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 10);
        }
    }

    #[test]
    fn the_room_that_was_kept_takes_the_end_of_the_file_once() {
        let free = Rc::new(Cell::new(4));
        let disk = Disk { free: Rc::clone(&free), file: Vec::new() };
        let mut room = Room::new(disk, Kept(free));
        let full = room.full();
        room.write_all(b"1234").unwrap();
        assert!(!full.get());
        room.write_all(b"56").unwrap();
        assert!(full.get());
        room.write_all(b"789").unwrap();
        let error = room.write_all(b"0123456").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(room.output.file.starts_with(b"123456789"));
    }
}
