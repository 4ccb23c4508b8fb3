//! Known facts of a machine before the first burst.

use cpu_model::Class;
use kernels::Unsupported;

/// Where another CPU of this process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same core.
    Sibling,
    /// Another core of the package.
    Package,
    /// Another package.
    Elsewhere,
}

/// Known facts of a machine before the first burst.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The CPU in words.
    pub cpu_name: String,
    /// Family, model and stepping of a real x86 CPU.
    pub signature: Option<(u32, u32, u32)>,
    /// Whether a hypervisor is between us and the CPU.
    pub is_virtual: bool,
    /// The CPU that the bursts run on.
    pub cpu: u32,
    /// The other CPUs this process may use, and where they are; first one of each other core of
    /// the package.
    pub others: Vec<(u32, Relation)>,
    /// How many of them are the first of another core of the package.
    pub other_cores: usize,
    /// Packages, cores of a package and threads of a core, as far as this process sees them.
    pub counts: (u32, u32, u32),
    /// Frequency of the TSC, in Hz.
    pub tsc_hz: u64,
    /// Cycles of a window of a chain.
    pub window_cycles: f64,
    /// Classes that cannot run here, and why.
    pub unsupported: Vec<(Class, Unsupported)>,
    /// Properties that this machine hides, in sentences.
    pub hidden: Vec<String>,
    /// Other sources of the frequency, compared with the chain, in sentences.
    pub checks: Vec<String>,
}

impl Facts {
    /// Classes that can run here, scalar first.
    #[must_use]
    pub fn classes(&self) -> Vec<Class> {
        let can = |class: &Class| !self.unsupported.iter().any(|(other, _)| other == class);
        Class::ALL.into_iter().filter(can).collect()
    }
}
