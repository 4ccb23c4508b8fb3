//! A machine that plays bursts: the real one and a modelled one.

mod burst;
mod facts;
mod modelled;
mod noise;
mod planted;
mod real;

pub use burst::{Others, Played, Segment, WINDOW_NS, Work};
pub use facts::{Facts, Relation};
pub use modelled::Modelled;
pub use noise::Noise;
pub(crate) use noise::Random;
pub use planted::Planted;
pub use real::{PinError, Real, RealError, allowed_cpus, pin};
pub(crate) use real::{first_cpu_of, on_cpu};

/// A machine that plays bursts.
pub trait Machine {
    /// The known facts before the first burst.
    fn facts(&self) -> &Facts;

    /// Nanoseconds since some time in the past.
    fn now_ns(&mut self) -> f64;

    /// Plays the segments in order while the other CPUs do the requested work.
    fn play(&mut self, segments: &[Segment], others: Others) -> Played;
}
