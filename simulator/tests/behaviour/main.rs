//! What published results and simple theory say must come out.

mod attribution;
mod build;
mod closed_forms;
mod even;
#[cfg(feature = "scx")]
mod scx_even;
mod sensors;
mod shares;
mod timers;
mod traps;
