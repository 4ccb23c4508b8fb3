//! A [`Runtime`] whose tasks are all the sister crate's.
//!
//! [`with_function_of`] prepares its builder, [`scope_called`] runs code that creates such tasks,
//! [`has_threads`] says whether the runtime can run them in this process.

use crate::pool::{Builder, Runtime};
use crate::queued::FunctionOf;
use crate::scope::Scope;

/// A builder of a runtime in which `function_of` returns the function that a task runs.
///
/// # Safety
/// The caller creates all tasks of the runtime, and `function_of` may be called for each whole one
/// and whose code has not ended.
#[must_use]
pub unsafe fn with_function_of(mut builder: Builder, function_of: FunctionOf) -> Builder {
    builder.function_of = Some(function_of);
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
