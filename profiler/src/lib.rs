//! How much is lost to wide instructions, by which task, and to which.

mod basis;
mod clock_items;
mod clocks;
mod collector;
mod core_levels;
mod cores;
mod culprits;
mod evidence;
mod groups;
mod items;
mod joint;
mod machine;
pub mod matrix;
mod overhead;
mod plan;
mod profile;
pub mod recorded;
mod sample;
mod sampler;
mod shown;
pub mod simulated;
pub mod time_line;
mod times;
mod truth;
mod unseen;

pub use basis::Basis;
pub use clocks::Clocks;
pub use collector::Collector;
pub use core_levels::LevelSpan;
pub use cores::Cores;
pub use culprits::Cause;
pub use groups::{By, Names};
pub use machine::{Machine, Reading, main_level};
pub use overhead::{Method, Moment};
pub use plan::Plan;
pub use profile::{
    ClocksWithStays, Demand, Pairs, Profile, SampleWithStays, Slice, SliceWithStays, Stay, Times,
};
pub use sample::{Sample, Tally};
pub use sampler::Sampler;
pub use truth::Truth;
