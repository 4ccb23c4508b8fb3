//! How core specialization worked in the kernel scheduler's source.

use policy::TaskKind;
use scx_host::{Counter, Host, is_wide};

use crate::outcome::SpecializationCounts;
use crate::topology::Topology;

/// Wide cores over time, and the counters of the source.
pub(super) struct Kinds {
    topology: Topology,
    wide_cores: u64,
    booked_ns: u64,
    wide_core_ns: u64,
}

impl Kinds {
    pub(super) fn new(host: &Host, topology: Topology) -> Self {
        let wide_cores = wide_cores(host, &topology);
        Self { topology, wide_cores, booked_ns: 0, wide_core_ns: 0 }
    }

    /// Notes changes of cores since the last call.
    pub(super) fn note(&mut self, host: &mut Host, now_ns: u64) {
        let mut changed = false;
        while let Ok(Some(_)) = host.take_record("cores_changed") {
            changed = true;
        }
        if changed {
            self.wide_core_ns += (now_ns - self.booked_ns) * self.wide_cores;
            self.booked_ns = now_ns;
            self.wide_cores = wide_cores(host, &self.topology);
        }
    }

    pub(super) fn counts(&self, host: &Host, now_ns: u64) -> SpecializationCounts {
        let count = |counter: Counter| {
            let of_cpu = |cpu| {
                let read = host.read("counters", counter as u32, cpu).ok();
                let bytes = read.as_ref().and_then(|bytes| bytes.first_chunk());
                bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
            };
            (0..self.topology.cpus).map(of_cpu).sum()
        };
        SpecializationCounts {
            faults: 0,
            ended_by_call: count(Counter::EndedByCall),
            ended_by_timeout: 0,
            core_changes: count(Counter::CoreChanges),
            misplaced_slices: count(Counter::Misplaced),
            wide_core_ns: self.wide_core_ns + (now_ns - self.booked_ns) * self.wide_cores,
        }
    }
}

/// Declares whether specialization concerns a task, as `evenkeel exec --class` does.
pub(super) fn declare(host: &mut Host, number: usize, is_enrolled: bool) {
    let kind = if is_enrolled { TaskKind::Narrow } else { TaskKind::Default };
    let declared = kind as u32 + 1;
    host.store("declarations", number, &declared.to_ne_bytes()).expect("a map of the source");
    host.trace("ek_renamed", number).expect("a program of the source");
}

fn wide_cores(host: &Host, topology: &Topology) -> u64 {
    let first = (0..topology.cores).filter_map(|core| topology.cpus_of_core(core).next());
    first.filter(|&cpu| host.read("cpus", cpu as u32, 0).is_ok_and(|cpu| is_wide(&cpu))).count()
        as u64
}
