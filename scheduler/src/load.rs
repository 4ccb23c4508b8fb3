//! Loads the scheduler, and tells what became of it.

use std::fs;
use std::path::Path;

use libbpf_rs::{ErrorKind, Link, MapCore, MapFlags, MapMut, Object, ObjectBuilder, OpenObject};
use thiserror::Error;

use crate::interface::{self, Config, Counter, End};
use crate::topology::Topology;

/// The program that `build.rs` compiled.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/evenkeel.bpf.o"));

/// Where `update_idle` is in `struct sched_ext_ops` of `bpf/kernel.h`.
const UPDATE_IDLE: usize = 7 * 8;
/// Where `timeout_ms` is, after 14 operations and the flags.
const TIMEOUT: usize = 15 * 8;

/// Why the scheduler does not run.
#[derive(Debug, Error)]
pub enum LoadError {
    /// Neither root nor the capabilities.
    #[error("no right to load a scheduler: run it as root (CAP_SYS_ADMIN)")]
    NoRights(#[source] libbpf_rs::Error),
    /// Only one at a time.
    #[error("sched_ext runs another scheduler, {0}: end it first")]
    Busy(String),
    /// Any other refusal.
    #[error("{doing}")]
    Refused {
        /// What was tried.
        doing: &'static str,
        /// What the kernel or libbpf said.
        source: libbpf_rs::Error,
    },
}

fn refused(doing: &'static str) -> impl Fn(libbpf_rs::Error) -> LoadError {
    move |source| match source.kind() {
        ErrorKind::PermissionDenied => LoadError::NoRights(source),
        _ => LoadError::Refused { doing, source },
    }
}

/// The loaded scheduler. It goes with this value, and with the process, however that ends.
pub struct Running {
    // Before the object that it belongs to.
    _link: Link,
    object: Object,
}

impl Running {
    /// Loads it and hands all tasks over.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn start(config: &Config, topology: &Topology) -> Result<Self, LoadError> {
        if let Some(other) = other_scheduler() {
            return Err(LoadError::Busy(other));
        }
        let mut object = ObjectBuilder::default()
            .open_memory(OBJECT)
            .map_err(refused("opening the scheduler"))?;
        configure(&mut object, config, topology)?;
        let mut object = object.load().map_err(refused("loading the scheduler"))?;
        place(&object, topology)?;
        let link = map_mut(&mut object, "evenkeel_ops")
            .attach_struct_ops()
            .map_err(refused("handing the tasks over"))?;
        Ok(Self { _link: link, object })
    }

    /// How often each thing happened so far.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn counts(&self) -> Result<Vec<(Counter, u64)>, LoadError> {
        let counters = map(&self.object, "counters");
        let count = |counter: Counter| {
            let key = (counter as u32).to_ne_bytes();
            let found = counters.lookup_percpu(&key, MapFlags::ANY);
            let found = found.map_err(refused("reading a counter"))?.unwrap_or_default();
            let numbers = found.iter().filter_map(|bytes| bytes.first_chunk());
            Ok((counter, numbers.map(|bytes| u64::from_ne_bytes(*bytes)).sum()))
        };
        Counter::ALL.into_iter().map(count).collect()
    }

    /// Why the kernel ended it; nothing while it runs.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn end(&self) -> Result<Option<End>, LoadError> {
        let bytes = map(&self.object, ".bss").lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let bytes = bytes.map_err(refused("reading why it ended"))?;
        Ok(bytes.and_then(|bytes| End::parse(&bytes)))
    }
}

/// The name of the scheduler that is loaded, from what the kernel shows of sched_ext.
fn other_scheduler() -> Option<String> {
    let folder = Path::new("/sys/kernel/sched_ext");
    let state = fs::read_to_string(folder.join("state")).ok()?;
    let name = || fs::read_to_string(folder.join("root/ops")).unwrap_or_default();
    (state.trim() != "disabled").then(|| name().trim().to_owned())
}

/// What must be known before the program is loaded.
fn configure(
    object: &mut OpenObject,
    config: &Config,
    topology: &Topology,
) -> Result<(), LoadError> {
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if let Some(entries) = interface::entries(&name, topology) {
            map.set_max_entries(entries).map_err(refused("making room for CPUs"))?;
        }
        if name == "evenkeel_ops" {
            let ops = map.initial_value_mut().expect("operations have values");
            ops[TIMEOUT..][..4].copy_from_slice(&config.watchdog_ms.to_ne_bytes());
            if config.compensation.is_none() {
                ops[UPDATE_IDLE..][..8].fill(0);
            }
        } else if name.ends_with(".rodata") {
            let values = map.initial_value_mut().expect("constants have values");
            let bytes = config.bytes(topology);
            values[..bytes.len()].copy_from_slice(&bytes);
        }
    }
    Ok(())
}

/// Tells the program where CPUs are.
fn place(object: &Object, topology: &Topology) -> Result<(), LoadError> {
    let write = |name: &str, index: usize, value: &[u8]| {
        let key = (index as u32).to_ne_bytes();
        let written = map(object, name).update(&key, value, MapFlags::ANY);
        written.map_err(refused("telling the scheduler where CPUs are"))
    };
    for (cpu, value) in interface::cpus(topology).iter().enumerate() {
        write("cpus", cpu, value)?;
    }
    for (cache, value) in interface::caches(topology).iter().enumerate() {
        write("caches", cache, value)?;
    }
    Ok(())
}

fn map<'a>(object: &'a Object, name: &str) -> impl MapCore + 'a {
    let is_it = |map: &libbpf_rs::Map| {
        let found = map.name().to_string_lossy();
        found == name || (name.starts_with('.') && found.ends_with(name))
    };
    object.maps().find(is_it).expect("the object has this map")
}

fn map_mut<'a>(object: &'a mut Object, name: &str) -> MapMut<'a> {
    object.maps_mut().find(|map| map.name() == name).expect("the object has this map")
}
