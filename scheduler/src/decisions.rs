//! `--decisions`: writes a file with a record of each slice, and the names of the tasks.

use std::collections::HashMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use scheduler::topology::Topology;
use tempfile::{Builder, TempPath};
use trace::decisions::{self, Head, NAME_BYTES, SCHEMA, Task};

/// How often the loader empties the ring buffer of decisions; our choice.
pub const EVERY: Duration = Duration::from_millis(100);
/// The folder in which the kernel names tasks.
const PROC: &str = "/proc";

/// A file that gets its name when it is complete. Until then the temporary file is beside that
/// path, where the part that a killed loader wrote can be found.
pub struct File {
    path: PathBuf,
    /// Apart from its path: the errors of a `NamedTempFile` name the temporary file.
    file: BufWriter<fs::File>,
    part: TempPath,
    /// By thread id: the last record of the task's names, and the number of its slices.
    known: HashMap<u32, (Task, u64)>,
    slices: u64,
}

impl File {
    /// Creates the temporary file and writes the head.
    pub fn create(path: &Path, head: &Head) -> Result<Self> {
        let writing = || format!("writing {}", path.display());
        // The complete file replaces the one at `path`, which would delete a device or pipe.
        let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file());
        ensure!(!is_special, "{}: it is a folder or a device, expected a file", path.display());
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (file, part) = Builder::new()
            .prefix(&format!("{name}."))
            .suffix(".part")
            .make_in(folder.unwrap_or(Path::new(".")), |path| fs::File::create_new(path))
            .with_context(writing)?
            .into_parts();
        let mut file = BufWriter::new(file);
        file.write_all(&decisions::head(head)).with_context(writing)?;
        Ok(Self { path: path.to_owned(), file, part, known: HashMap::new(), slices: 0 })
    }

    /// Writes the records of slices from the BPF program, each after the names of its task.
    pub fn take(&mut self, records: &[Vec<u8>]) -> Result<()> {
        for bytes in records {
            let Some(record) = decisions::slice(bytes) else { continue };
            let (tid, weight) = decisions::task_and_weight(&record);
            self.name(tid, weight)?;
            self.write(&record)?;
            self.slices += 1;
        }
        let path = self.path.display();
        self.file.flush().with_context(|| format!("writing {path}"))
    }

    /// Writes the names of a task, if they are new. They are read at the task's first, second,
    /// fourth, eighth slice and so on, since an exec changes the name, and mostly comes early.
    fn name(&mut self, tid: u32, weight: u32) -> Result<()> {
        let (known, slices) = self.known.entry(tid).or_default();
        *slices += 1;
        if !slices.is_power_of_two() {
            return Ok(());
        }
        let now = task(Path::new(PROC), tid, weight);
        if *slices > 1 && (now.pid == 0 || now == *known) {
            return Ok(());
        }
        *known = now.clone();
        self.write(&decisions::task(&now))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let path = self.path.display();
        self.file.write_all(bytes).with_context(|| format!("writing {path}"))
    }

    /// Ends the file, with the number of slices that the ring buffer had no room for, and gives the
    /// file its name.
    pub fn finish(mut self, lost: u64) -> Result<u64> {
        self.write(&decisions::end(self.slices, lost))?;
        let writing = || format!("writing {}", self.path.display());
        self.file.flush().with_context(writing)?;
        self.part.persist(&self.path).map_err(|error| error.error).with_context(writing)?;
        Ok(self.slices)
    }
}

/// The facts that hold for all slices.
pub fn head(topology: &Topology, mode: &str, cpu: Option<&str>, sensors: &str) -> Head {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Head {
        schema: SCHEMA,
        cpus: topology.cpus() as u32,
        caches: topology.caches.count,
        threads_per_core: topology.cores.in_rows(),
        mode: mode.to_owned(),
        cpu: cpu.map(str::to_owned),
        sensors: sensors.to_owned(),
        kernel: kernel.trim().to_owned(),
    }
}

/// Process, nice value and names of a task that ran up to [`EVERY`] ago, as far as the kernel still
/// has the task.
fn task(proc: &Path, tid: u32, weight: u32) -> Task {
    // The status contains the name, which may be any bytes.
    let status = fs::read(proc.join(format!("{tid}/status"))).unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let pid = value(&status, "Tgid").unwrap_or(0);
    let nice = (-20..=19).find(|&nice| policy::weight(nice) == weight).unwrap_or(0);
    // Kernels have this field since 6.8 (commit 0ee44885fe9c).
    let is_kernel = value(&status, "Kthread") == Some(1);
    let (name, process) = (name(proc, tid), name(proc, pid));
    Task { tid, pid, nice: nice.into(), is_kernel, name, process }
}

fn value(status: &str, field: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().parse().ok()
}

/// The name of a task, which may be any bytes; empty if the task has ended.
fn name(proc: &Path, tid: u32) -> [u8; NAME_BYTES] {
    let mut name = [0; NAME_BYTES];
    let said = fs::read(proc.join(format!("{tid}/comm"))).unwrap_or_default();
    let said = said.strip_suffix(b"\n").unwrap_or(&said);
    // The last byte stays 0, as in the kernel.
    let length = said.len().min(NAME_BYTES - 1);
    name[..length].copy_from_slice(&said[..length]);
    name
}

#[cfg(test)]
mod tests {
    use trace::decisions::{Reader, Record, SLICE_BYTES};

    use super::*;

    fn a_head() -> Head {
        Head {
            schema: SCHEMA,
            cpus: 2,
            caches: 1,
            threads_per_core: None,
            mode: "fair".to_owned(),
            cpu: None,
            sensors: String::new(),
            kernel: "7.0".to_owned(),
        }
    }

    fn slice(task: u32) -> Vec<u8> {
        let mut bytes = vec![0; SLICE_BYTES];
        // `struct ek_decision` of the scheduler's `interface.h`.
        bytes[148..152].copy_from_slice(&task.to_ne_bytes());
        bytes[156..160].copy_from_slice(&526u32.to_ne_bytes());
        bytes
    }

    fn records(path: &Path) -> (Vec<Record>, bool) {
        let file = fs::read(path).unwrap();
        let mut reader = Reader::new(&file[..]).unwrap();
        let records = std::iter::from_fn(|| reader.next_record().unwrap()).collect();
        (records, reader.is_ended())
    }

    #[test]
    fn a_file_is_there_when_it_is_whole_and_names_each_task_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.ekdec");
        let mut file = File::create(&path, &a_head()).unwrap();
        let own = std::process::id();
        file.take(&[slice(own), slice(own), vec![1, 2, 3]]).unwrap();
        assert!(!path.exists());
        // The file that a loader leaves which is killed now.
        let entries: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        let (found, is_ended) = records(&entries[0].as_ref().unwrap().path());
        assert_eq!((found.len(), is_ended), (3, false));
        assert_eq!(file.finish(4).unwrap(), 2);
        let (found, is_ended) = records(&path);
        assert!(is_ended);
        let Record::Task(task) = &found[0] else { panic!("no task") };
        let Record::Slice(slice) = &found[1] else { panic!("no slice") };
        assert_eq!((slice.victim, slice.weight), (own, 526));
        assert_eq!((task.tid, task.pid, task.nice, task.is_kernel), (own, own, 3, false));
        assert_eq!(found[3], Record::End { slices: 2, lost: 4 });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_error_names_the_file_that_was_asked_for_and_the_reason() {
        let refused = File::create(Path::new("/proc/run.ekdec"), &a_head()).err().unwrap();
        let sentence = "writing /proc/run.ekdec: No such file or directory (os error 2)";
        assert_eq!(format!("{refused:#}"), sentence);
    }

    #[test]
    fn on_a_full_disk_an_error_names_the_file_and_no_part_of_it_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.ekdec");
        let mut file = File::create(&path, &a_head()).unwrap();
        file.file = BufWriter::new(fs::File::options().write(true).open("/dev/full").unwrap());
        let full = file.take(&[slice(1)]).unwrap_err();
        let sentence = format!("writing {}: No space left on device (os error 28)", path.display());
        assert_eq!(format!("{full:#}"), sentence);
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_task_is_what_the_kernel_says_of_it() {
        let proc = tempfile::tempdir().unwrap();
        for (tid, comm, status) in [
            (9, &b"wpp-\xff\n"[..], &b"Name:\twpp-\xff\nTgid:\t8\nKthread:\t1\n"[..]),
            (8, b"x265\n", b"Name:\tx265\nTgid:\t8\n"),
        ] {
            let folder = proc.path().join(tid.to_string());
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("comm"), comm).unwrap();
            fs::write(folder.join("status"), status).unwrap();
        }
        let found = task(proc.path(), 9, 1024);
        assert_eq!((found.pid, found.nice, found.is_kernel), (8, 0, true));
        assert_eq!((&found.name[..6], &found.process[..5]), (&b"wpp-\xff\0"[..], &b"x265\0"[..]));
        let gone = task(proc.path(), 7, 1024);
        assert_eq!((gone.pid, gone.name), (0, [0; NAME_BYTES]));
    }
}
