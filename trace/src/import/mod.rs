//! Recordings of real machines, in the forms that recorders leave: the text of `perf script`,
//! of `trace-cmd report` and of tracefs, and the files of perf, of trace-cmd and of Perfetto; and
//! the decisions of the kernel scheduler.
//!
//! A reader a form turns its input into the same entries; `feed` puts them into order
//! within a window, then `machine` follows them. A form is recognised by its first bytes.

mod decisions;
mod entry;
mod error;
mod feed;
mod machine;
pub mod order;
mod own;
mod perf_data;
mod perfetto;
mod report;
mod rounds;
mod tasks;
mod text;
mod trace_dat;
mod tracepoint;

use std::io::{self, BufRead, BufReader, Read, Seek};

pub use error::{ImportError, Place};
pub use report::{ImportReport, SILENCE_LONG_NS, TaskTime};

use crate::{Collector, History, Sink};

/// Entries that may be out of order of time; our choice.
const ENTRIES_HELD: usize = 512;

/// What the first bytes of a recording say of its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text, of whatever tool.
    Text,
    /// `perf.data`, which is read from a file: its end is needed first.
    PerfData,
    /// `perf.data` as perf writes it into a pipe.
    PerfPipe,
    /// `trace.dat` of trace-cmd, which is read from a file too.
    TraceDat,
    /// A trace of Perfetto.
    Perfetto,
    /// Decisions of `scx_evenkeel --decisions`.
    Decisions,
}

/// Bytes of a recording that tell its form.
pub const FORM_BYTES: usize = 16;

/// Recognises a recording by its first [`FORM_BYTES`] bytes, or all if it has less.
#[must_use]
pub fn recognise(start: &[u8]) -> Form {
    if start.starts_with(b"\x17\x08Dtracing") {
        return Form::TraceDat;
    }
    if is_perfetto(start) {
        return Form::Perfetto;
    }
    if start.starts_with(crate::decisions::START.as_bytes()) {
        return Form::Decisions;
    }
    if !start.starts_with(b"PERFILE2") && !start.starts_with(b"2ELIFREP") {
        return Form::Text;
    }
    // `struct perf_pipe_file_header` is its magic number and its own size, 16.
    match start.get(8..16) {
        Some([16, 0, 0, 0, 0, 0, 0, 0] | [0, 0, 0, 0, 0, 0, 0, 16]) => Form::PerfPipe,
        _ => Form::PerfData,
    }
}

/// Whether it begins with a packet, whose first byte is that of a line break: no text has control
/// characters after it.
fn is_perfetto(start: &[u8]) -> bool {
    let control = |&byte: &u8| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b);
    start.first() == Some(&b'\n') && start.iter().any(control)
}

/// Reads a recording of any form into `sink`, in room that does not depend on its length.
///
/// # Errors
/// [`ImportError`], with the line or record where there is one.
pub fn recording(
    mut input: impl Read + Seek,
    sink: &mut impl Sink,
) -> Result<ImportReport, ImportError> {
    let read = |source| ImportError::Read { place: Place::Start, source };
    let mut start = Vec::with_capacity(FORM_BYTES);
    input.by_ref().take(FORM_BYTES as u64).read_to_end(&mut start).map_err(read)?;
    input.rewind().map_err(read)?;
    match recognise(&start) {
        Form::PerfData => perf_data::perf_data(input, sink),
        Form::TraceDat => trace_dat::trace_dat(input, sink),
        Form::Text | Form::Perfetto | Form::Decisions => {
            stream(BufReader::with_capacity(1 << 18, input), sink)
        }
        Form::PerfPipe => Err(ImportError::Binary { form: Form::PerfPipe }),
    }
}

/// Reads a recording as text, of Perfetto or decisions into `sink`; for the first two in room that
/// does not depend on its length.
///
/// # Errors
/// [`ImportError`], with the line or record where there is one.
pub fn stream(mut input: impl BufRead, sink: &mut impl Sink) -> Result<ImportReport, ImportError> {
    let read = |source| ImportError::Read { place: Place::Start, source };
    let mut start = Vec::with_capacity(FORM_BYTES);
    input.by_ref().take(FORM_BYTES as u64).read_to_end(&mut start).map_err(read)?;
    let form = recognise(&start);
    let whole = io::Cursor::new(start).chain(input);
    match form {
        Form::Text => text::text(whole, sink),
        Form::Perfetto => perfetto::perfetto(whole, sink),
        Form::Decisions => decisions::decisions(whole, sink),
        form => Err(ImportError::Binary { form }),
    }
}

/// Reads a recording of any form into memory.
///
/// # Errors
/// [`ImportError`], with the line or record where there is one.
pub fn recording_history(input: impl Read + Seek) -> Result<(History, ImportReport), ImportError> {
    collect(|sink| recording(input, sink))
}

/// Reads a recording as text or of Perfetto into memory.
///
/// # Errors
/// [`ImportError`], with the line or record where there is one.
pub fn stream_history(input: impl BufRead) -> Result<(History, ImportReport), ImportError> {
    collect(|sink| stream(input, sink))
}

fn collect(
    import: impl FnOnce(&mut Collector) -> Result<ImportReport, ImportError>,
) -> Result<(History, ImportReport), ImportError> {
    let mut collector = Collector::default();
    let report = import(&mut collector)?;
    let history = collector.into_history().expect("an import that ends well ends the history");
    Ok((history, report))
}
