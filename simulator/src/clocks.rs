//! The frequencies of each core: those of all, or capped on cores of low priority.

use cpu_model::{CpuModel, Turbo};

use crate::config::SensorFaults;
use crate::sensors;
use crate::topology::Topology;

/// Frequencies by core, as they are and as the policy believes them to be.
pub(crate) struct Clocks<'a> {
    /// Of cores of high priority, and of low priority.
    actual: [&'a Turbo; 2],
    /// The same in the policy's copy of the CPU's table, which may have errors.
    believed: [Turbo; 2],
    /// By core: whether it has low priority.
    is_slow: Vec<bool>,
}

impl<'a> Clocks<'a> {
    /// A machine with fewer cores than the CPU has the same share of cores of low priority, rounded
    /// down; they are the last of each package.
    pub(crate) fn new(model: &'a CpuModel, topology: &Topology, faults: SensorFaults) -> Self {
        let low = model.low_priority.as_ref();
        let actual = [&model.turbo, low.map_or(&model.turbo, |low| &low.turbo)];
        let slow_cores = low.map_or(0, |low| {
            topology.cores_per_package * low.cores_per_package as usize
                / model.cores_per_package as usize
        });
        let first_slow = topology.cores_per_package - slow_cores;
        Self {
            actual,
            believed: actual.map(|turbo| sensors::believed(turbo, faults)),
            is_slow: (0..topology.cores)
                .map(|core| core % topology.cores_per_package >= first_slow)
                .collect(),
        }
    }

    /// Whether the clock of a core is capped in favour of others.
    pub(crate) fn is_slow(&self, core: usize) -> bool {
        self.is_slow[core]
    }

    /// The frequencies of a core.
    pub(crate) fn of(&self, core: usize) -> &'a Turbo {
        self.actual[usize::from(self.is_slow[core])]
    }

    /// The frequencies of a core as the policy believes them to be.
    pub(crate) fn believed(&self, core: usize) -> &Turbo {
        &self.believed[usize::from(self.is_slow[core])]
    }

    /// The same for cores of low priority, for the kernel scheduler's source; `None`: the machine
    /// has none.
    #[cfg(feature = "scx")]
    pub(crate) fn believed_slow(&self) -> Option<&Turbo> {
        self.is_slow.contains(&true).then_some(&self.believed[1])
    }
}
