//! What a runtime does, recorded for people to see.
//!
//! Each thread has a lane of its own, which it alone writes ([`lane`]): how long it was at what,
//! how often each function ran, and, if asked, every slice with its times. Where nobody watches, a
//! worker knows no lane, and a task costs what it costs. Reading is possible at any time; what is
//! read is then made into a summary, a trace or a page, each for whatever can be written to.

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

/// Watches one or more runtimes.
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
    /// Counts tasks, and how long what took; in some KiB for each thread and function.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Recorder::new(0)))
    }

    /// The same, and keeps each task for a [trace](Watch::trace), 24 bytes each, until so many
    /// bytes are full. What comes later is counted as before, but is in no trace.
    #[must_use]
    pub fn with_trace(bytes: usize) -> Self {
        Self(Arc::new(Recorder::new(bytes.max(1))))
    }

    /// What the environment asks for (`EVENKEEL_SUMMARY`, `EVENKEEL_TRACE`, `EVENKEEL_PAGE`), if it
    /// does. It is written when the process ends. This is what watches [`Runtime::global`].
    ///
    /// [`Runtime::global`]: crate::Runtime::global
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        environment::watch()
    }

    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        self.0.clone()
    }

    /// Writes what has happened until now, as text for a terminal.
    ///
    /// # Errors
    /// What writing fails with.
    pub fn summary(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(summary::text(&view::View::of(&self.0)).as_bytes())?;
        out.flush()
    }

    /// Writes a trace for `ui.perfetto.dev`: tasks as slices by thread, an arrow from each task to
    /// the one that it let run, and the threshold and the ready tasks as counters.
    ///
    /// # Errors
    /// What writing fails with.
    pub fn trace(&self, out: impl Write) -> io::Result<()> {
        trace::write(&self.0, out)
    }

    /// Writes a page that a browser shows, without anything else.
    ///
    /// # Errors
    /// What writing fails with.
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
