//! Loads our own scheduler, as its loader does (`scheduler/src/load.rs`).

use scheduler::interface::{self, Config};
use scheduler::topology::{Groups, Topology as Placed};

use crate::faults::Faults;
use crate::host::{Host, LoadError};
use crate::object::Object;
use crate::topology::Topology;

const NATIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/evenkeel.so"));
const BPF: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/evenkeel.bpf.o"));

/// Maps whose size depends on the topology.
const SIZED: [&str; 7] =
    ["cpus", "caches", "cores", "packages", "events", "idle_timers", "release_timers"];

/// The scheduler for a machine, with its constants set and room for its CPUs.
///
/// # Panics
/// If the source lacks a constant or map that its loader sets, which is a mistake of ours.
#[must_use]
pub fn evenkeel(config: &Config, topology: &Topology) -> Object {
    let placed = placed(topology);
    let mut object = Object::parse(NATIVE, BPF).expect("build.rs made it");
    let set = object.set_constant("config", &config.bytes(&placed));
    set.and_then(|()| object.set_number("ops.timeout_ms", config.watchdog_ms.into()))
        .expect("the source has what its loader sets");
    for map in SIZED {
        let entries = interface::entries(map, &placed);
        object.set_max_entries(map, entries.expect("the topology decides it") as usize);
    }
    object
}

/// Loads and attaches a copy.
///
/// # Errors
/// [`LoadError`].
pub fn load_evenkeel(
    object: &Object,
    config: &Config,
    topology: Topology,
    faults: Faults,
) -> Result<Host, LoadError> {
    let placed = placed(&topology);
    let mut host = Host::load(object, topology, faults)?;
    for (cpu, value) in interface::cpus(config, &placed).iter().enumerate() {
        host.update("cpus", cpu as u32, value)?;
    }
    for (cache, value) in interface::caches(&placed).iter().enumerate() {
        host.update("caches", cache as u32, value)?;
    }
    host.attach()?;
    Ok(host)
}

fn placed(topology: &Topology) -> Placed {
    let groups = |of: &[usize]| Groups {
        of: of.iter().map(|&group| group as u32).collect(),
        count: of.iter().max().map_or(1, |&last| last as u32 + 1),
    };
    Placed {
        cores: groups(&topology.core_of),
        caches: groups(&topology.cache_of),
        packages: groups(&topology.package_of),
        is_slow: topology.is_slow.clone(),
    }
}
