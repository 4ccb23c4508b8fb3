//! Histories of scheduling: who ran where and when, on a real machine or a simulated one.
//!
//! [`import`] reads recordings, [`History::read`] and [`History::write`] the
//! format `.ektrace` (README.md), [`export`] writes what other tools read.

pub mod import;

mod file;
mod history;
mod info;
mod name;
mod sink;
mod validate;

pub use file::{HistoryWriter, ReadError, SCHEMA};
pub use history::{Event, Header, History, Record, Source, SwitchState, TaskInfo};
pub use info::{Info, REGISTER_BITS, TaskSummary, info};
pub use name::{COMM_MAX, clean};
pub use sink::{Collector, Counter, Sink};
pub use validate::{CPUS_MAX, Problem, validate};
