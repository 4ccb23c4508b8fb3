//! Instrumentation: times and counts of a runtime.
//!
//! Each thread has a lane of its own, which the thread alone writes ([`lane`]): its times by kind
//! of work, how often each function ran, and, if asked, every slice with its times. A worker of a
//! runtime without instrumentation has no lane, and its tasks cost nothing more. A recording may be
//! read at any time: as a [`Snapshot`] of times and counts, and as [`Slices`]. The crate
//! `evenkeel-observe` writes them as text, trace or page.

mod clock;
mod functions;
mod lane;
mod open;
mod recorder;
mod series;
mod slices;
mod snapshot;
mod strip;
mod tally;
mod tape;
mod thread;
mod usage;

use std::fmt;
use std::sync::{Arc, OnceLock};

pub use clock::Moment;
pub use functions::{Function, Name, Role};
pub(crate) use open::{OpenSlice, What};
pub(crate) use recorder::{Counts, Recorder};
pub use series::{Bin, Series};
pub use slices::{Flow, LaneSlices, Slice, SliceIndex, Slices};
pub use snapshot::{FunctionCounts, LaneTimes, Snapshot};
pub use strip::{
    SLOT_CODE, SLOT_LOOKS, SLOT_OTHERS, SLOT_OUTSIDE, SLOT_RUNTIME, SLOT_SLEEPS, SLOT_TASKS, SLOTS,
    Slots, Strip,
};
pub use tally::Lengths;
pub use tape::{ACTIVITY_LOOKS, ACTIVITY_SLEEPS, ACTIVITY_WAITS};
pub(crate) use thread::ThreadInstrument;

/// The recording of the global runtime.
static GLOBAL: OnceLock<Watch> = OnceLock::new();

/// Records the work of one or more runtimes.
///
/// The crate `evenkeel-observe` writes the recording as a summary, as a trace for `ui.perfetto.dev`
/// or as a page, at any time; its `of_environment` returns the recording that the environment asks
/// for.
///
/// ```
/// use evenkeel_runtime::{Runtime, Watch};
///
/// let watch = Watch::new();
/// let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
/// runtime.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
/// ```
#[derive(Clone)]
pub struct Watch(Arc<Recorder>);

impl Watch {
    /// Counts tasks and measures their times, in some KiB for each thread and function.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Recorder::new(0)))
    }

    /// Counts, measures, and keeps each task for a trace, 24 bytes each, until `bytes` bytes are
    /// full. Later tasks are counted, but are in no trace.
    #[must_use]
    pub fn with_trace(bytes: usize) -> Self {
        Self(Arc::new(Recorder::new(bytes.max(1))))
    }

    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        self.0.clone()
    }

    /// Has the runtime that [`Runtime::global`](crate::Runtime::global) creates from here on record
    /// here. The first call of a process decides.
    pub(crate) fn record_global(&self) {
        // A later call changes nothing.
        let _ = GLOBAL.set(self.clone());
    }

    /// The recording of the global runtime, if one was chosen.
    pub(crate) fn global() -> Option<Self> {
        GLOBAL.get().cloned()
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
