//! Loads the scheduler, exchanges data with the BPF program, and reads why the scheduler ended.

use std::cell::RefCell;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::rc::Rc;

use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapHandle, MapMut, Object, ObjectBuilder, OpenObject,
    RingBuffer, RingBufferBuilder,
};
use policy::TaskKind;
use thiserror::Error;

use crate::counters::Counter;
use crate::interface::{self, Config, EVENTS, End, Sensor};
use crate::kernel::Kernel;
use crate::rules::Names;
use crate::sensors::counters::Counters;
use crate::topology::Topology;

/// The BPF object that `build.rs` compiled.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/evenkeel.bpf.o"));

/// Offset of `timeout_ms` in `struct sched_ext_ops` of `bpf/kernel.h`, in bytes.
const TIMEOUT: usize = 20 * 8;
/// Offset of the pointer `cpu_release` in that structure, in bytes.
const CPU_RELEASE: usize = 11 * 8;

/// Why the scheduler does not run.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The process is not root and lacks the capabilities.
    #[error("no right to load a scheduler: run it as root (CAP_SYS_ADMIN)")]
    NoRights(#[source] libbpf_rs::Error),
    /// Another sched_ext scheduler is loaded; a kernel runs one at a time.
    #[error("sched_ext runs another scheduler, {0}: end it first")]
    Busy(String),
    /// The kernel lacks a tracepoint that the observer attaches to.
    #[error("this kernel has no tracepoint {0}; it needs one for x86 with CONFIG_TRACEPOINTS=y")]
    NoTracepoint(&'static str),
    /// Any other refusal.
    #[error("{doing} (-v says more)")]
    Refused {
        /// The step that failed.
        doing: &'static str,
        /// The error of the kernel or libbpf.
        source: libbpf_rs::Error,
    },
}

fn is_root() -> bool {
    // SAFETY: `geteuid` has no arguments and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

pub(crate) fn refused(doing: &'static str) -> impl Fn(libbpf_rs::Error) -> LoadError {
    move |source| match source.kind() {
        // The verifier refuses a program with this error too, so only a user other than root
        // is taken to lack rights.
        ErrorKind::PermissionDenied if !is_root() => LoadError::NoRights(source),
        _ => LoadError::Refused { doing, source },
    }
}

/// BPF programs of tracepoints: names change, and the kernel is called.
const RENAMED: &str = "ek_renamed";
const SYSTEM_CALL: &str = "ek_system_call";

/// Whether the configuration needs a BPF program of a tracepoint.
fn needs(config: &Config, tracepoint: &str) -> bool {
    let Some(on) = &config.compensation else { return false };
    match tracepoint {
        RENAMED => on.specialization.is_some() || on.sensors.contains(&Sensor::Rules),
        _ => on.specialization.is_some_and(|it| it.ends_by_call),
    }
}

/// Room for decisions: half a second of a machine that only switches tasks; our choice. The kernel
/// requires a power of two.
const DECISIONS_BYTES: u32 = 8 << 20;

/// The records that were taken from a ring buffer.
type Records = Rc<RefCell<Vec<Vec<u8>>>>;

/// The loaded scheduler. The kernel unloads the scheduler when this value is dropped or the process
/// ends, even by a signal.
pub struct Running {
    // The order of dropping: the attached programs before the maps that they write to.
    _links: Vec<Link>,
    asked: (RingBuffer<'static>, Records),
    decisions: (RingBuffer<'static>, Records),
    cores_changed: (RingBuffer<'static>, Records),
    /// Handles of the maps that are read at every interval.
    counters: MapHandle,
    end: MapHandle,
    object: Object,
}

impl Running {
    /// Loads the scheduler into the kernel, which then passes all tasks to it.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn start(
        kernel: &Kernel,
        config: &Config,
        topology: &Topology,
        counters: &Counters,
    ) -> Result<Self, LoadError> {
        if let Some(other) = other_scheduler() {
            return Err(LoadError::Busy(other));
        }
        let mut object = ObjectBuilder::default()
            .open_memory(OBJECT)
            .map_err(refused("opening the scheduler"))?;
        configure(&mut object, kernel, config, topology)?;
        let mut object = object.load().map_err(refused("loading the scheduler"))?;
        place(&object, config, topology)?;
        place_counters(&map(&object, "events"), counters)?;
        let asked = ring(&object, "names_asked")?;
        let decisions = ring(&object, "decisions")?;
        let cores_changed = ring(&object, "cores_changed")?;
        let handle = |name: &str| {
            let handle = MapHandle::try_from(&map(&object, name));
            handle.map_err(refused("keeping a map at hand"))
        };
        let (counters, end) = (handle("counters")?, handle(".bss")?);
        let links = attach(&mut object)?;
        Ok(Self { _links: links, asked, decisions, cores_changed, counters, end, object })
    }

    /// A file that is readable when the BPF program has requested the level of a name.
    ///
    /// # Panics
    /// Never: an open ring buffer has a file.
    #[must_use]
    pub fn asks(&self) -> BorrowedFd<'_> {
        file(&self.asked.0)
    }

    /// The names whose level was requested since the last call.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn asked(&self) -> Result<Vec<Names>, LoadError> {
        let records = taken(&self.asked, "reading which names are asked for")?;
        Ok(records.iter().filter_map(|bytes| Names::parse(bytes)).collect())
    }

    /// Passes the level of a name to the BPF program.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn answer(&self, names: &Names, answer: u32) -> Result<(), LoadError> {
        let answered =
            map(&self.object, "names").update(&names.0, &answer.to_ne_bytes(), MapFlags::ANY);
        answered.map_err(refused("answering for a name"))
    }

    /// The decisions since the last call, in the bytes of the BPF program.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn decisions(&self) -> Result<Vec<Vec<u8>>, LoadError> {
        taken(&self.decisions, "reading decisions")
    }

    /// A file that is readable when a core has changed its kind.
    #[must_use]
    pub fn changes(&self) -> BorrowedFd<'_> {
        file(&self.cores_changed.0)
    }

    /// Whether a core has changed its kind since the last call.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn has_changed_cores(&self) -> Result<bool, LoadError> {
        Ok(!taken(&self.cores_changed, "reading which cores changed")?.is_empty())
    }

    /// The CPUs whose cores are wide now.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn wide_cpus(&self, topology: &Topology) -> Result<Vec<u32>, LoadError> {
        let cpus = map(&self.object, "cpus");
        let mut wide = Vec::new();
        for cpu in 0..topology.cpus() as u32 {
            let bytes = cpus.lookup(&cpu.to_ne_bytes(), MapFlags::ANY);
            let bytes = bytes.map_err(refused("reading which cores are wide"))?;
            if bytes.is_some_and(|bytes| interface::is_wide(&bytes)) {
                wide.push(cpu);
            }
        }
        Ok(wide)
    }

    /// Declares the kind of a process: it holds from the next `exec` of the process on, and for its
    /// children.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn declare(&self, process: BorrowedFd<'_>, kind: TaskKind) -> Result<(), LoadError> {
        let (key, value) = (process.as_raw_fd().to_ne_bytes(), (kind as u32 + 1).to_ne_bytes());
        let declared = map(&self.object, "declarations").update(&key, &value, MapFlags::ANY);
        declared.map_err(refused("declaring the kind of a process"))
    }

    /// Passes the counters that are given up to the BPF program, as bits of their numbers.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn give_up(&self, events: u32) -> Result<(), LoadError> {
        self.set_variable(".data.given_up", events, "telling which counters are given up")
    }

    /// Switches core specialization off, or on again.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn switch_specialization(&self, is_on: bool) -> Result<(), LoadError> {
        let is_off = u32::from(!is_on);
        self.set_variable(".data.specialization", is_off, "switching core specialization")
    }

    /// Sets the variable that is alone in a section of the BPF program.
    fn set_variable(&self, section: &str, value: u32, what: &'static str) -> Result<(), LoadError> {
        let (key, value) = (0u32.to_ne_bytes(), value.to_ne_bytes());
        map(&self.object, section).update(&key, &value, MapFlags::ANY).map_err(refused(what))
    }

    /// The values of all counters, summed over the CPUs, in the order of [`Counter`].
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn counts(&self) -> Result<Vec<u64>, LoadError> {
        let count = |counter: Counter| {
            let key = (counter as u32).to_ne_bytes();
            let found = self.counters.lookup_percpu(&key, MapFlags::ANY);
            let found = found.map_err(refused("reading a counter"))?.unwrap_or_default();
            let numbers = found.iter().filter_map(|bytes| bytes.first_chunk());
            Ok(numbers.map(|bytes| u64::from_ne_bytes(*bytes)).sum())
        };
        Counter::ALL.into_iter().map(count).collect()
    }

    /// Why the kernel ended the scheduler; `None` while the scheduler runs.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn end(&self) -> Result<Option<End>, LoadError> {
        let bytes = self.end.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let bytes = bytes.map_err(refused("reading why it ended"))?;
        Ok(bytes.and_then(|bytes| End::parse(&bytes)))
    }
}

/// The name of the scheduler that is loaded, from the kernel's files of sched_ext.
fn other_scheduler() -> Option<String> {
    let folder = Path::new("/sys/kernel/sched_ext");
    let state = fs::read_to_string(folder.join("state")).ok()?;
    let name = || fs::read_to_string(folder.join("root/ops")).unwrap_or_default();
    (state.trim() != "disabled").then(|| name().trim().to_owned())
}

/// Sets the constants, the sizes of maps and the operations, which are fixed once the BPF program
/// is loaded.
fn configure(
    object: &mut OpenObject,
    kernel: &Kernel,
    config: &Config,
    topology: &Topology,
) -> Result<(), LoadError> {
    for mut program in object.progs_mut() {
        for tracepoint in [RENAMED, SYSTEM_CALL] {
            if program.name() == tracepoint && !needs(config, tracepoint) {
                program.set_autoload(false);
            }
        }
    }
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if let Some(entries) = interface::entries(&name, topology) {
            map.set_max_entries(entries).map_err(refused("making room for CPUs"))?;
        }
        if name == "decisions" && config.emits_decisions {
            map.set_max_entries(DECISIONS_BYTES).map_err(refused("making room for decisions"))?;
        }
        if name == "evenkeel_ops" {
            let ops = map.initial_value_mut().expect("operations have values");
            ops[TIMEOUT..][..4].copy_from_slice(&config.watchdog_ms.to_ne_bytes());
            if kernel.reenqueues_anywhere() {
                // Newer kernels warn of this operation; a timer of the BPF program does its work.
                ops[CPU_RELEASE..][..8].fill(0);
            }
        } else if name.ends_with(".rodata") {
            let values = map.initial_value_mut().expect("constants have values");
            let bytes = config.bytes(topology);
            values[..bytes.len()].copy_from_slice(&bytes);
        }
    }
    Ok(())
}

/// Writes the topology of the CPUs into the maps of the BPF program.
fn place(object: &Object, config: &Config, topology: &Topology) -> Result<(), LoadError> {
    let write = |name: &str, index: usize, value: &[u8]| {
        let key = (index as u32).to_ne_bytes();
        let written = map(object, name).update(&key, value, MapFlags::ANY);
        written.map_err(refused("telling the scheduler where CPUs are"))
    };
    for (cpu, value) in interface::cpus(config, topology).iter().enumerate() {
        write("cpus", cpu, value)?;
    }
    for (cache, value) in interface::caches(topology).iter().enumerate() {
        write("caches", cache, value)?;
    }
    Ok(())
}

/// Writes the files of the counters into the map of events.
fn place_counters(events: &impl MapCore, counters: &Counters) -> Result<(), LoadError> {
    for (cpu, event, file) in counters.files() {
        let key = (cpu * EVENTS + event as u32).to_ne_bytes();
        let file = file.as_fd().as_raw_fd().to_ne_bytes();
        let written = events.update(&key, &file, MapFlags::ANY);
        written.map_err(refused("handing over the counters"))?;
    }
    Ok(())
}

fn ring(object: &Object, name: &str) -> Result<(RingBuffer<'static>, Records), LoadError> {
    let refused = refused("opening a ring buffer");
    let records = Records::default();
    let into = Rc::clone(&records);
    let mut builder = RingBufferBuilder::new();
    let take = move |bytes: &[u8]| {
        into.borrow_mut().push(bytes.to_vec());
        0
    };
    let map = map(object, name);
    builder.add(&map, take).map_err(&refused)?;
    Ok((builder.build().map_err(refused)?, records))
}

/// The file that is readable when a ring buffer has records.
fn file<'a>(buffer: &'a RingBuffer<'static>) -> BorrowedFd<'a> {
    // SAFETY: the ring buffer owns the file and lives as long as the borrow of the result.
    unsafe { BorrowedFd::borrow_raw(buffer.epoll_fd()) }
}

/// Takes the records of a ring buffer since the last call.
fn taken(
    ring: &(RingBuffer<'static>, Records),
    doing: &'static str,
) -> Result<Vec<Vec<u8>>, LoadError> {
    let (buffer, records) = ring;
    buffer.consume().map_err(refused(doing))?;
    Ok(records.take())
}

/// Attaches the tracepoints before the operations, so that no task is renamed unnoticed while the
/// scheduler runs.
fn attach(object: &mut Object) -> Result<Vec<Link>, LoadError> {
    let mut links = Vec::new();
    for program in object.progs_mut() {
        let is_tracepoint = [RENAMED, SYSTEM_CALL].iter().any(|name| program.name() == *name);
        if is_tracepoint && program.autoload() {
            links.push(program.attach_trace().map_err(refused("attaching to a tracepoint"))?);
        }
    }
    let mut ops = map_mut(object, "evenkeel_ops");
    links.push(ops.attach_struct_ops().map_err(refused("handing the tasks over"))?);
    Ok(links)
}

pub(crate) fn map<'a>(object: &'a Object, name: &str) -> libbpf_rs::Map<'a> {
    let is_it = |map: &libbpf_rs::Map| {
        let found = map.name().to_string_lossy();
        found == name || (name.starts_with('.') && found.ends_with(name))
    };
    object.maps().find(is_it).unwrap_or_else(|| panic!("the object has the map {name}"))
}

fn map_mut<'a>(object: &'a mut Object, name: &str) -> MapMut<'a> {
    object.maps_mut().find(|map| map.name() == name).expect("the object has this map")
}

#[cfg(test)]
mod tests {
    use libbpf_rs::{MapHandle, MapType};
    use libbpf_sys::bpf_map_create_opts;
    use sensors::pmu::{Code, Refusal};

    use super::*;
    use crate::interface::HardwareEvent;
    use crate::sensors::{Choice, Frequency, Source};

    /// Perf's software clock stands for cycles. The kernel refuses files that are not of perf, and
    /// indices beyond the map's size.
    #[test]
    fn counters_go_where_the_program_reads_them() {
        let clock = Code { device: 1, config: 0 };
        let choice = Choice {
            source: Source::Xinuse,
            frequency: Frequency::Pmu,
            sensors: Vec::new(),
            counters: vec![(HardwareEvent::Cycles, clock), (HardwareEvent::Fp512, clock)],
            passed_over: Vec::new(),
        };
        let counters = match Counters::open(&choice, &[0]) {
            Ok(counters) => counters,
            // An ordinary user, or root of a container.
            Err((_, _, refusal)) => return assert_eq!(refusal, Refusal::NotPermitted),
        };
        let events = |entries: u32| {
            let options = bpf_map_create_opts {
                sz: size_of::<bpf_map_create_opts>() as u64,
                ..bpf_map_create_opts::default()
            };
            let kind = MapType::PerfEventArray;
            MapHandle::create(kind, Some("events"), 4, 4, entries, &options)
        };
        let room = match events(EVENTS) {
            Ok(room) => room,
            Err(error) => return assert_eq!(error.kind(), ErrorKind::PermissionDenied),
        };
        place_counters(&room, &counters).unwrap();
        assert!(place_counters(&events(EVENTS - 1).unwrap(), &counters).is_err());
    }
}
