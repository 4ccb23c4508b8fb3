//! Histories of scheduling: the task on each CPU at each time, of a real or a simulated machine.
//!
//! [`import`] reads recordings, [`History::read`] and [`History::write`] the
//! format `.ektrace` (README.md), [`export`] writes what other tools read.

pub mod classes;
pub mod decisions;
pub mod export;
pub mod import;
pub mod marks;

mod annotate;
mod file;
mod glob;
mod history;
mod info;
mod name;
mod perfetto;
mod protobuf;
mod scrub;
mod sink;
mod validate;
mod wakers;

pub use annotate::{Annotation, annotate};
pub use file::{
    FRAMES_MAX, FUNCTION_MAX, HistoryWriter, RECORDS_MAX, ReadError, SCHEMA, STACKS_MAX, TASKS_MAX,
};
pub use glob::Glob;
pub use history::{
    COUNTED_FACT, ControlGroup, CounterCounts, Event, Header, History, Pod, Record, Source,
    SwitchState, TaskInfo,
};
pub use info::{Info, REGISTER_BITS, TaskSummary, info};
pub use name::{COMM_MAX, clean, clean_up_to};
pub use protobuf::Message as ProtobufMessage;
pub use scrub::scrub;
pub use sink::{Collector, Counter, Sink};
pub use validate::{CPUS_MAX, Problem, validate};
pub use wakers::{WakeCounts, Waker, Wakers};
