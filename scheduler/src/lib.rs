//! Loads the scheduler into a kernel (feature `load`), and encodes the configuration that the BPF
//! source expects from any loader or host.

#[cfg(feature = "load")]
pub mod cgroups;
pub mod counters;
#[cfg(feature = "load")]
pub mod cpu;
pub mod interface;
#[cfg(feature = "load")]
pub mod kernel;
#[cfg(feature = "load")]
pub mod kinds;
#[cfg(feature = "load")]
pub mod load;
#[cfg(feature = "load")]
pub mod observe;
#[cfg(feature = "load")]
pub mod rules;
#[cfg(feature = "load")]
pub mod sensors;
#[cfg(feature = "load")]
pub mod stats;
pub mod topology;
