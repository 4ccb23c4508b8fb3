//! A machine that plays bursts: the real one and a modelled one.

mod modelled;
mod planted;
mod real;

use cpu_model::Class;
use kernels::{Rate, Unsupported};

pub(crate) use modelled::Random;
pub use modelled::{Modelled, Noise};
pub use planted::Planted;
pub use real::{PinError, Real, RealError, allowed_cpus, pin};
pub(crate) use real::{first_cpu_of, on_cpu};

/// What a stretch of a burst executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Dependent additions, whose time is the frequency.
    Chain,
    /// Instructions of a class at a rate.
    Stream(Class, Rate),
}

/// A stretch of windows of the same work, one after the other, each stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What each window executes: the same number of instructions, of about [`WINDOW_NS`].
    pub work: Work,
    /// How many windows.
    pub windows: usize,
}

/// What the machine's other CPUs do meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Nothing of ours.
    Idle,
    /// That many of them execute scalar code.
    Busy(usize),
    /// This one of [`Facts::others`] executes stamped windows of a chain.
    Observes(usize),
}

/// How long a window takes in undisturbed scalar code, about.
pub const WINDOW_NS: f64 = 1000.0;

/// What a burst brought to light.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// By segment, how long each window took, in ns; a window begins where the last one ended.
    pub windows: Vec<Vec<f32>>,
    /// The observer's windows: when each began, in ns after the burst did, and how long it took.
    pub observed: Vec<(f64, f32)>,
}

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

/// What is known of a machine before the first burst.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The CPU in words.
    pub cpu_name: String,
    /// Family, model and stepping, where it is a real x86 CPU.
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
    /// What cannot be seen here, in sentences.
    pub hidden: Vec<String>,
    /// What else tells the frequency, against the chain, in sentences.
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

/// A machine that plays bursts.
pub trait Machine {
    /// What is known before the first burst.
    fn facts(&self) -> &Facts;

    /// Nanoseconds since some time in the past.
    fn now_ns(&mut self) -> f64;

    /// Plays the segments in order while the other CPUs do what they are asked to.
    fn play(&mut self, segments: &[Segment], others: Others) -> Played;
}
