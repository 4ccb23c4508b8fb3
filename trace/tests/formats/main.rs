//! Formats of recordings are read and written as their programs mean them. One program, because
//! each would compile the readers' generic code again.

mod annotation;
mod decisions;
mod file;
mod forms;
mod live;
mod mangled;
mod perf_data;
mod perf_file;
mod perfetto;
mod random;
mod recordings;
mod round_trip;
mod trace_dat;
mod traps;
