//! Recordings of this machine's schedule, for `trace record` and `profile`.

mod pauses;
mod room;
mod session;
mod symbols;
mod workload;

pub use pauses::{Plan as PausePlan, cores};
pub use session::{Plan, record};
pub use workload::Workload;
