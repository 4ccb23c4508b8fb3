//! The content of a recording, for the crate that writes recordings.
//!
//! - [`snapshot`]: times and counts until now, by thread and by function.
//! - [`slices`]: what each thread ran, and when.
//! - [`asks_for_recording`], [`has_lanes`], [`end`], [`record_global`]: the recording that the
//!   environment asks for.
//! - [`resolve_symbols_by`], [`name_in_file`]: names of functions.
//!
//! Times are in ticks of the time stamp counter. A function is an address and, where the creating
//! call knew one, a name.

pub use crate::class::Why;
pub use crate::instrument::{
    ACTIVITY_LOOKS, ACTIVITY_SLEEPS, ACTIVITY_WAITS, Bin, Flow, Function, FunctionCounts,
    LaneSlices, LaneTimes, Lengths, Moment, Name, Role, SLOT_CODE, SLOT_LOOKS, SLOT_OTHERS,
    SLOT_OUTSIDE, SLOT_RUNTIME, SLOT_SLEEPS, SLOT_TASKS, SLOTS, Series, Slice, SliceIndex, Slices,
    Slots, Snapshot, Strip,
};
pub use crate::scheduler::StepsSum;
pub use crate::symbols::{name_in_file, resolve_symbols_by};
pub use crate::variables::asks_for_recording;

use crate::instrument::Watch;

/// Times and counts of a recording until now.
#[must_use]
pub fn snapshot(watch: &Watch) -> Snapshot {
    Snapshot::of(&watch.recorder())
}

/// The slices of a recording until now; none unless the recording is one
/// [with a trace](Watch::with_trace).
#[must_use]
pub fn slices(watch: &Watch) -> Slices {
    Slices::of(&watch.recorder())
}

/// Whether any thread has been a worker of a runtime that records here.
#[must_use]
pub fn has_lanes(watch: &Watch) -> bool {
    !watch.recorder().lanes().is_empty()
}

/// Ends a recording: from here on snapshots and slices are those of this moment.
pub fn end(watch: &Watch) {
    watch.recorder().ends();
}

/// Has the global runtime record here, if no runtime has become the global one yet.
pub fn record_global(watch: &Watch) {
    watch.record_global();
}
