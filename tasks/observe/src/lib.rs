//! Writes what a [`Watch`] of `evenkeel-runtime` recorded: as text for a terminal, as a trace for
//! Perfetto, or as a page for a browser.
//!
//! ```
//! use evenkeel_observe::WatchExt;
//! use evenkeel_runtime::{Runtime, Watch};
//!
//! let watch = Watch::new();
//! let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
//! runtime.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
//! let mut summary = Vec::new();
//! watch.summary(&mut summary).unwrap();
//! assert!(String::from_utf8(summary).unwrap().starts_with("100 tasks"));
//! ```
//!
//! [`of_environment`] is the recording that the environment asks for.
//!
//! # Layers
//!
//! 1. `format`, `scale`, `symbols`: numbers, times and addresses.
//! 2. `names`: functions as people call them.
//! 3. `view`, `wide`: a recording in the numbers that are shown.
//! 4. `trace`, `summary`, `page`: the three results.
//! 5. `environment`: which results the environment asks for, where they go, and when.

#![warn(missing_debug_implementations)]

mod environment;
mod format;
mod names;
mod page;
mod scale;
mod summary;
mod symbols;
mod trace;
mod view;
mod wide;

use std::io::{self, Write};

pub use environment::of_environment;
#[doc(no_inline)]
pub use evenkeel_runtime::Watch;
use evenkeel_runtime::internal::recording::{slices, snapshot};
use view::View;

/// Writes a recording, at any time.
pub trait WatchExt {
    /// Writes a summary until now, as text for a terminal.
    ///
    /// # Errors
    /// The errors of the writer.
    fn summary(&self, out: impl Write) -> io::Result<()>;

    /// Writes a trace for `ui.perfetto.dev`: tasks as slices by thread, an arrow from each task to
    /// the task that it made ready, and the threshold and the ready tasks as counters.
    ///
    /// # Errors
    /// The errors of the writer.
    fn trace(&self, out: impl Write) -> io::Result<()>;

    /// Writes a page that a browser shows without loading anything else.
    ///
    /// # Errors
    /// The errors of the writer.
    fn page(&self, out: impl Write) -> io::Result<()>;
}

impl WatchExt for Watch {
    fn summary(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(summary::text(&View::of(snapshot(self))).as_bytes())?;
        out.flush()
    }

    fn trace(&self, out: impl Write) -> io::Result<()> {
        trace::write(&slices(self), out)
    }

    fn page(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(page::html(&View::of(snapshot(self))).as_bytes())?;
        out.flush()
    }
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
