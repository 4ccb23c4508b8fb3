//! What a machine can tell: its abilities, and recordings of its schedule.
//!
//! [`doctor`] judges what a machine offers, from facts that the command gathered. [`recorder`]
//! records which task runs on which CPU and when, with register states, as a history of `trace`.
//! [`topology`] says which CPUs share a core, a cache and a package. [`pmu`] counts events of CPUs.
//! [`pauses`] stops the tasks of a core and measures its clock. [`arch_status`] needs no privilege.

pub mod arch_status;
pub mod control_groups;
pub mod doctor;
pub mod facts;
pub mod pauses;
pub mod pmu;
pub mod recorder;
pub mod sums;
pub mod topology;

mod remedies;
