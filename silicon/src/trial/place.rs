//! The places of a pair, as the model needs them.

use scenarios::Machine;

/// Where victim and culprit are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the same CPU.
    Shared,
    /// On the two threads of a core.
    Siblings,
    /// On two cores of a package.
    Cores,
}

impl Place {
    /// The part of the machine that they use; the victim is on its first CPU.
    pub(super) fn machine(self) -> Machine {
        Machine {
            packages: 1,
            cores_per_package: if self == Self::Cores { 2 } else { 1 },
            threads_per_core: if self == Self::Siblings { 2 } else { 1 },
            turbo_cores: None,
            turbo: true,
        }
    }

    /// The culprit's CPU in that machine.
    pub(super) fn culprit_cpu(self) -> u32 {
        u32::from(self != Self::Shared)
    }
}
