//! Why a recording could not be imported.

use std::fmt;
use std::io;

use super::form::Form;
use super::order::ENTRIES_HELD;

/// A place in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the first event.
    Start,
    /// A line of text, counted from 1.
    Line(u64),
    /// A record of a binary file, counted from 1.
    Record(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Start => write!(f, "start"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record(record) => write!(f, "record {record}"),
        }
    }
}

/// Why a recording could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading failed.
    #[error("{place}: cannot read: {source}")]
    Read {
        /// Place of the failed read.
        place: Place,
        /// Error of the reader.
        source: io::Error,
    },
    /// The sink failed.
    #[error("{place}: cannot write: {source}")]
    Write {
        /// Place in the recording.
        place: Place,
        /// Error of the sink.
        source: io::Error,
    },
    /// A time that is too far before those above.
    #[error(
        "{place}, field time: {behind_ns} ns before an event more than {ENTRIES_HELD} events \
         above; expected events in order of time, recorded with a clock that does not step (-k \
         CLOCK_MONOTONIC)"
    )]
    OutOfOrder {
        /// The event.
        place: Place,
        /// Nanoseconds by which the event is behind the last one given out.
        behind_ns: u64,
    },
    /// The recording has no event of scheduling.
    #[error("no sched_switch of a known CPU in {read} {unit}; expected {expected}")]
    NoSwitch {
        /// Lines or events read.
        read: u64,
        /// Which of them.
        unit: &'static str,
        /// Description of a usable recording of this form.
        expected: &'static str,
    },
    /// Too many lines are something else.
    #[error(
        "line {first} and {others} others of {lines} are no events; expected the text of \
         `perf script --ns -F comm,pid,tid,cpu,time,event,trace`, of `trace-cmd report -t -l` or \
         of tracefs"
    )]
    Unreadable {
        /// The first of them.
        first: u64,
        /// How many more.
        others: u64,
        /// Lines read.
        lines: u64,
    },
    /// A binary form that is not read, or not from here.
    #[error("{}", refusal(*.form))]
    Binary {
        /// The form of the recording.
        form: Form,
    },
    /// The file ends too early, or its recorder was killed before the end.
    #[error(
        "{what}: the file was cut, or its recorder was killed; end perf with Ctrl-C or SIGTERM, \
         which lets it finish the file, and record again"
    )]
    Cut {
        /// The missing part.
        what: &'static str,
    },
    /// Bytes that mean nothing.
    #[error("{place}: {what}")]
    Malformed {
        /// Where.
        place: Place,
        /// The mistake, and the expected content.
        what: String,
    },
}

fn refusal(form: Form) -> &'static str {
    match form {
        Form::PerfPipe => {
            "this is the output of `perf record` into a pipe; expected a file that perf wrote \
             itself (`perf record -o FILE`), or the text of `perf script -i - < FILE`"
        }
        Form::TraceDat => {
            "this is the file of trace-cmd; expected its text from `trace-cmd report -t -l`, or \
             the name of a file of version 6 (`trace-cmd convert --file-version 6`)"
        }
        Form::PerfData => {
            "this is the file of perf, whose end is needed first; expected its name, and neither a \
             stream nor a packed file"
        }
        Form::Text | Form::Perfetto | Form::Decisions => "this is read as it comes",
    }
}
