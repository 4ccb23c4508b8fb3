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
mod form;
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
pub use form::{FORM_BYTES, Form, recognise};
pub use report::{ImportReport, SILENCE_LONG_NS, TaskTime};

use crate::{Collector, History, Sink};

/// Reads a recording of any form into `sink`, in room that does not depend on its length.
///
/// # Errors
/// [`ImportError`], with the line or record if the error has one.
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
/// [`ImportError`], with the line or record if the error has one.
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
/// [`ImportError`], with the line or record if the error has one.
pub fn recording_history(input: impl Read + Seek) -> Result<(History, ImportReport), ImportError> {
    collect(|sink| recording(input, sink))
}

/// Reads a recording as text or of Perfetto into memory.
///
/// # Errors
/// [`ImportError`], with the line or record if the error has one.
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
