//! The first file system of a machine: busybox, modules, the jobs, and the script that runs them.

use std::io::{self, Write};

/// The script of the machine from first to last command.
const INIT: &[u8] = include_bytes!("init.sh");

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;
const CONSOLE: u32 = 0o020_600;
/// Numbers of `/dev/console` (Documentation/admin-guide/devices.txt).
const CONSOLE_DEVICE: (u32, u32) = (5, 1);

/// Writes a cpio archive in the form "newc", the one that kernels read
/// (Documentation/driver-api/early-userspace/buffer-format.rst).
struct Archive<W> {
    output: W,
    files: u32,
}

impl<W: Write> Archive<W> {
    fn add(&mut self, name: &str, mode: u32, data: &[u8], device: (u32, u32)) -> io::Result<()> {
        self.files += 1;
        let size = u32::try_from(data.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let name_size = name.len() as u32 + 1;
        let fields = [self.files, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name_size, 0];
        let mut head = b"070701".to_vec();
        for field in fields {
            write!(head, "{field:08X}")?;
        }
        head.extend_from_slice(name.as_bytes());
        head.push(0);
        head.resize(head.len().next_multiple_of(4), 0);
        self.output.write_all(&head)?;
        self.output.write_all(data)?;
        self.output.write_all(&[0; 3][..data.len().next_multiple_of(4) - data.len()])
    }
}

/// Writes the archive: `jobs` are shell scripts, started in their order.
pub(crate) fn write(
    output: impl Write,
    busybox: &[u8],
    modules: &[(String, Vec<u8>)],
    jobs: &[(String, String)],
) -> io::Result<()> {
    let mut archive = Archive { output, files: 0 };
    for folder in ["bin", "dev", "proc", "sys", "host", "over", "new", "modules", "jobs"] {
        archive.add(folder, DIRECTORY, &[], (0, 0))?;
    }
    archive.add("dev/console", CONSOLE, &[], CONSOLE_DEVICE)?;
    archive.add("bin/busybox", PROGRAM, busybox, (0, 0))?;
    archive.add("init", PROGRAM, INIT, (0, 0))?;
    for (index, (name, bytes)) in modules.iter().enumerate() {
        archive.add(&format!("modules/{index:02}-{name}.ko"), PROGRAM, bytes, (0, 0))?;
    }
    let order: String = jobs.iter().map(|(name, _)| format!("{name}\n")).collect();
    archive.add("order", FILE, order.as_bytes(), (0, 0))?;
    for (name, script) in jobs {
        archive.add(&format!("jobs/{name}"), PROGRAM, script.as_bytes(), (0, 0))?;
    }
    archive.add("TRAILER!!!", 0, &[], (0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_begins_at_a_multiple_of_four_and_says_its_size() {
        let mut bytes = Vec::new();
        let modules = [("9p".to_owned(), vec![7; 5])];
        let jobs = [("00-a".to_owned(), "#!/bin/sh\n".to_owned())];
        write(&mut bytes, b"busybox", &modules, &jobs).unwrap();
        let field = |at: usize, index: usize| {
            let text = std::str::from_utf8(&bytes[at + 6 + 8 * index..][..8]).unwrap();
            usize::from_str_radix(text, 16).unwrap()
        };
        let (mut at, mut found) = (0, Vec::new());
        while at < bytes.len() {
            assert_eq!(&bytes[at..at + 6], b"070701");
            let (size, name_size) = (field(at, 6), field(at, 11));
            let name = &bytes[at + 110..at + 109 + name_size];
            let data = (at + 110 + name_size).next_multiple_of(4);
            found.push((String::from_utf8_lossy(name).into_owned(), size));
            at = (data + size).next_multiple_of(4);
        }
        assert!(found.contains(&("modules/00-9p.ko".into(), 5)));
        assert!(found.contains(&("order".into(), 5)));
        assert!(found.contains(&("jobs/00-a".into(), 10)));
        assert_eq!(found.last(), Some(&("TRAILER!!!".into(), 0)));
    }
}
