//! The request of a burst to a machine, and the times that the burst yields.

use cpu_model::Class;
use kernels::Rate;

/// The work of a stretch of a burst.
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
    /// The work of each window: the same number of instructions, of about [`WINDOW_NS`].
    pub work: Work,
    /// How many windows.
    pub windows: usize,
}

/// The activity of the machine's other CPUs during a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Nothing of ours.
    Idle,
    /// That many of them execute scalar code.
    Busy(usize),
    /// This one of [`Facts::others`](super::Facts::others) executes stamped windows of a chain.
    Observes(usize),
}

/// How long a window takes in undisturbed scalar code, about.
pub const WINDOW_NS: f64 = 1000.0;

/// The measured times of a burst.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// By segment, how long each window took, in ns; a window begins where the last one ended.
    pub windows: Vec<Vec<f32>>,
    /// The observer's windows: start after the start of the burst, and length, both in ns.
    pub observed: Vec<(f64, f32)>,
}
