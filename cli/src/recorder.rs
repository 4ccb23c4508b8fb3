//! Recordings of this machine's schedule, for `trace record` and `profile`.

mod room;
mod session;
mod symbols;
mod workload;

pub use session::{Plan, record};
pub use workload::Workload;
