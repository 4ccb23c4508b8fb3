//! Boots stock kernels of Debian in a virtual machine and runs commands in that machine.
//!
//! A [`Kernel`] comes from a package, a [`Machine`] boots it with a writable view of this machine's
//! root, and every [`Job`] leaves what it printed and wrote in a folder. Nothing of this machine is
//! changed, and nothing is left running.

mod cache;
mod child;
mod error;
mod initramfs;
mod kernel;
mod log;
mod machine;
mod modules;
mod packages;
mod share;
mod upstream;
mod vcpus;

pub use cache::cache;
pub use error::LabError;
pub use kernel::Kernel;
pub use log::complaints;
pub use machine::{Accelerator, Done, Job, Machine, Run};
pub use upstream::Upstream;
pub use vcpus::HostTime;
