//! Formats of recordings are read and written as their programs mean them. One program, because
//! each would compile the readers' generic code again.

mod annotation;
mod decisions;
mod file;
mod forms;
mod interrupts;
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

/// The history without the records of schema 4, which no export carries.
fn without_schema_4(mut history: trace::History) -> trace::History {
    use trace::Event::{Exec, Receive, Send, Unsent};
    history.records.retain(|record| {
        !matches!(record.event, Exec { .. } | Send { .. } | Unsent { .. } | Receive { .. })
    });
    history
}
