//! Runs must reproduce published results and simple theory.

mod attribution;
mod build;
mod cache;
mod clocks;
mod closed_forms;
mod core_scheduling;
mod custom;
mod even;
mod locks;
mod machauer;
mod newcomers;
mod pauses;
#[cfg(feature = "scx")]
mod same_even;
#[cfg(feature = "scx")]
mod scx_even;
#[cfg(feature = "scx")]
mod scx_specialize;
mod sensors;
mod shares;
mod specialize;
mod start;
mod timers;
mod traps;
