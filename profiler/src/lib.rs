//! How much is lost to wide instructions, by which task, and to which.

mod machine;
mod overhead;
mod plan;
mod sample;
mod sampler;
pub mod simulated;

pub use machine::{Machine, Reading, main_level};
pub use overhead::{Moment, Stalls, overhead};
pub use plan::Plan;
pub use sample::{Sample, Tally};
pub use sampler::Sampler;
