//! Items that the sister crates build on: `openmp` and the C interface bring threads and tasks of
//! their own, and `observe` writes recordings.
//!
//! - [`Team`], [`Worker`], [`current_worker`]: workers on threads that the runtime did not start.
//! - [`Task`], [`Queued`], [`Runner`], [`KindOf`], [`OWN_KIND`], [`Until`]: tasks whose blocks the
//!   sister crate lays out.
//! - [`Access`], [`Region`], [`Uses`]: the dependences of these tasks.
//! - [`Parker`], [`Pause`], [`comes_soon`]: waiting, awake and asleep.
//! - [`telling_kinds`], [`has_threads`], [`scope_called`], [`Called`]: runtimes whose tasks are all
//!   the sister crate's.
//! - [`forks`], [`lock_std`], [`register_barriers`], [`tell`], [`tell_unknown`], [`Part`],
//!   [`Sysfs`]: the process and the machine.
//! - [`recording`], [`asks_for_recording`]: the content of a [`Watch`], and the wish for one.
//! - `virtual_workers`, in builds with `--cfg evenkeel_model`: workers of the crate `model`.
//! - [`resolve_symbols_by`], [`name_in_file`]: names of functions.
//!
//! Most of these functions are unsafe, since the runtime trusts the sister crates with its own
//! invariants. The module is no part of the public interface, and changes without notice.

pub mod recording;
#[cfg(evenkeel_model)]
pub mod virtual_workers;

use std::ptr::NonNull;
use std::sync::Arc;

pub use crate::access::{Access, Region, Uses};
pub use crate::children::Until;
use crate::class::Placement;
use crate::config::Config;
pub use crate::fork::forks;
use crate::instrument::Watch;
pub use crate::notice::tell;
pub use crate::parker::Parker;
use crate::pool::{Builder, Runtime};
pub use crate::queued::{KindOf, OWN_KIND, Queued, Runner};
use crate::scope::Scope;
use crate::shared::{Options, Shared};
pub use crate::symbols::{name_in_file, resolve_symbols_by};
pub use crate::sync::{lock_std, register_barriers};
pub use crate::task::Task;
use crate::topology::Topology;
pub use crate::topology::{Part, Sysfs};
pub use crate::variables::{asks_for_recording, tell_unknown};
pub use crate::worker::{Called, Patience, Pause, Worker, comes_soon};

/// The worker of this thread, if the thread is one. The worker lives until the current task ends.
#[must_use]
pub fn current_worker() -> Option<NonNull<Worker>> {
    Worker::current()
}

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

/// The shared state of workers on threads that the sister crate starts.
pub struct Team {
    shared: Arc<Shared>,
}

impl Team {
    /// A team of `workers` workers on a machine; `beside` has the recording and the placement of
    /// wide tasks, if any. Tasks of one kind take about the same time. `is_crowded` says that the
    /// process has more runnable threads than CPUs, so that workers sleep often.
    #[must_use]
    pub fn new(
        machine: &Topology,
        workers: usize,
        config: Config,
        kind_of: KindOf,
        is_crowded: bool,
        beside: (Option<&Watch>, Option<&Placement>),
    ) -> Self {
        // The sister crate has events of its own.
        let options =
            Options { kind_of: Some(kind_of), knows_events: false, is_closed: false, is_crowded };
        Self { shared: Shared::new(machine, config, (workers, 0), options, beside) }
    }

    /// Creates the worker of a leaf, for the calling thread.
    ///
    /// # Safety
    /// The leaf has no other worker, and only the calling thread uses the new one.
    #[must_use]
    pub unsafe fn worker(&self, leaf: usize) -> Worker {
        Worker::new(self.shared.clone(), leaf)
    }

    /// Wakes the workers that sleep: the conditions that they wait for may hold now.
    pub fn wake(&self) {
        self.shared.scheduler.wake_all();
    }

    /// Ends a task from any thread: a worker of the team finishes it.
    ///
    /// # Safety
    /// A worker of this team ran the task's code, which has ended, and no code uses the task after
    /// this call.
    pub unsafe fn end_from_outside(&self, task: *mut Task) {
        // SAFETY: the task's code has ended, and this is its last use.
        unsafe { self.shared.finish_elsewhere(task) };
    }
}
