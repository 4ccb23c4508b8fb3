//! A [`Runtime`] whose tasks are all the sister crate's.
//!
//! [`telling_kinds`] prepares its builder, [`scope_called`] runs code that creates such tasks, and
//! [`has_threads`] says whether the runtime can run them in this process.

use crate::pool::{Builder, Runtime};
use crate::queued::KindOf;
use crate::scope::Scope;

/// A builder of a runtime whose tasks' kinds `kind_of` returns.
///
/// # Safety
/// The caller creates all tasks of the runtime, and `kind_of` may be called for each that is whole
/// and whose code has not ended.
#[must_use]
pub unsafe fn telling_kinds(mut builder: Builder, kind_of: KindOf) -> Builder {
    builder.kind_of = Some(kind_of);
    builder
}

/// Whether the runtime's threads are of this process: `fork(2)` leaves a child without them.
#[must_use]
pub fn has_threads(runtime: &Runtime) -> bool {
    runtime.has_threads()
}

/// [`Runtime::scope`] with a name for the instrumentation.
#[track_caller]
pub fn scope_called<'scope, R>(
    runtime: &Runtime,
    name: &'static str,
    body: impl FnOnce(&Scope<'scope>) -> R,
) -> R {
    crate::scope::scope_called(runtime, name, body)
}
