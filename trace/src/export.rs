//! Histories for other tools: text of ftrace, `trace.dat`, and Perfetto's protobuf.

mod ftrace;
mod kernel;
mod names;
mod perfetto;
mod trace_dat;

pub use ftrace::ftrace;
pub use perfetto::perfetto;
pub(crate) use trace_dat::ORDER;
pub use trace_dat::trace_dat;
