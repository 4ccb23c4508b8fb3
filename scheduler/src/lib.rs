//! What loads the scheduler into a kernel (feature `load`), and what whoever runs it must tell it.

pub mod interface;
#[cfg(feature = "load")]
pub mod kernel;
#[cfg(feature = "load")]
pub mod load;
pub mod topology;
