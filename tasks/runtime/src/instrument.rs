//! Instrumentation: times and counts of a runtime, as a summary, a trace or a page.
//!
//! Each thread has a lane of its own, which the thread alone writes ([`lane`]): its times by kind
//! of work, how often each function ran, and, if asked, every slice with its times. A worker of a
//! runtime without instrumentation has no lane, and its tasks cost nothing more. A recording may be
//! read at any time, and written as text, trace or page to any writer.

mod clock;
mod environment;
mod format;
mod kinds;
mod lane;
mod open;
mod page;
mod recorder;
mod series;
mod slices;
mod strip;
mod summary;
mod tally;
mod tape;
mod thread;
mod trace;
mod usage;
mod view;
mod wide;

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

pub(crate) use kinds::{Name, Role};
pub(crate) use open::{OpenSlice, What};
pub(crate) use recorder::{Recorder, Snapshot};
pub(crate) use thread::ThreadInstrument;

/// Records the work of one or more runtimes.
///
/// ```
/// use evenkeel_runtime::{Runtime, Watch};
///
/// let watch = Watch::new();
/// let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
/// runtime.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
/// let mut summary = Vec::new();
/// watch.summary(&mut summary).unwrap();
/// assert!(String::from_utf8(summary).unwrap().starts_with("100 tasks"));
/// ```
#[derive(Clone)]
pub struct Watch(Arc<Recorder>);

impl Watch {
    /// Counts tasks and measures their times, in some KiB for each thread and function.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Recorder::new(0)))
    }

    /// Counts, measures, and keeps each task for a [trace](Watch::trace), 24 bytes each, until
    /// `bytes` bytes are full. Later tasks are counted, but are in no trace.
    #[must_use]
    pub fn with_trace(bytes: usize) -> Self {
        Self(Arc::new(Recorder::new(bytes.max(1))))
    }

    /// The recording that the environment asks for (`EVENKEEL_SUMMARY`, `EVENKEEL_TRACE`,
    /// `EVENKEEL_PAGE`), if any, which the end of the process writes. [`Runtime::global`] records
    /// here.
    ///
    /// [`Runtime::global`]: crate::Runtime::global
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        environment::watch()
    }

    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        self.0.clone()
    }

    /// Writes a summary until now, as text for a terminal.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn summary(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(summary::text(&view::View::of(&self.0)).as_bytes())?;
        out.flush()
    }

    /// Writes a trace for `ui.perfetto.dev`: tasks as slices by thread, an arrow from each task to
    /// the task that it made ready, and the threshold and the ready tasks as counters.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn trace(&self, out: impl Write) -> io::Result<()> {
        trace::write(&self.0, out)
    }

    /// Writes a page that a browser shows without loading anything else.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn page(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(page::html(&view::View::of(&self.0)).as_bytes())?;
        out.flush()
    }
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("threads", &self.0.lanes().len()).finish_non_exhaustive()
    }
}
