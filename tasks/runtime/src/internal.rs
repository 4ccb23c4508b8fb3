//! What the sister crates build on: `openmp` and the C interface bring threads and tasks of their
//! own.
//!
//! - [`Team`], [`Worker`], [`current_worker`]: workers on threads that the runtime did not start.
//! - [`Task`], [`Queued`], [`Runner`], [`KindOf`], [`OWN_KIND`], [`Until`]: tasks whose blocks the
//!   sister crate lays out.
//! - [`Access`], [`Region`], [`Uses`]: the dependences of these tasks.
//! - [`Parker`], [`Pause`], [`comes_soon`]: waiting, awake and asleep.
//! - [`telling_kinds`], [`has_threads`], [`scope_called`], [`Called`]: runtimes whose tasks are all
//!   the sister crate's.
//! - [`forks`], [`lock_std`], [`register_barriers`], [`tell_unknown`], [`Part`], [`Sysfs`]: the
//!   process and the machine.
//!
//! Most of these functions are unsafe, since the runtime trusts the sister crates with its own
//! invariants. The module is no part of the public interface, and changes without notice.

use std::ptr::NonNull;
use std::sync::Arc;

pub use crate::access::{Access, Region, Uses};
pub use crate::children::Until;
use crate::class::Placement;
use crate::config::Config;
pub use crate::fork::forks;
use crate::instrument::Watch;
pub use crate::parker::Parker;
use crate::pool::{Builder, Runtime};
pub use crate::queued::{KindOf, OWN_KIND, Queued, Runner};
use crate::scope::Scope;
use crate::shared::{Options, Shared};
pub use crate::sync::{lock_std, register_barriers};
pub use crate::task::Task;
use crate::topology::Topology;
pub use crate::topology::{Part, Sysfs};
pub use crate::variables::tell_unknown;
pub use crate::worker::{Called, Patience, Pause, Worker, comes_soon};

/// The worker that this thread is, if it is one. It is alive until the task that runs has ended.
#[must_use]
pub fn current_worker() -> Option<NonNull<Worker>> {
    Worker::current()
}

/// A runtime whose tasks have kinds that this tells.
///
/// # Safety
/// All its tasks are of the one who asks for this: it may be called for each that is whole, and
/// whose code has not ended.
#[must_use]
pub unsafe fn telling_kinds(mut builder: Builder, kind_of: KindOf) -> Builder {
    builder.kind_of = Some(kind_of);
    builder
}

/// Whether the threads of a runtime are this process's, and not those of one whose child it is.
#[must_use]
pub fn has_threads(runtime: &Runtime) -> bool {
    runtime.has_threads()
}

/// [`Runtime::scope`] that whoever watches knows by this name.
#[track_caller]
pub fn scope_called<'scope, R>(
    runtime: &Runtime,
    name: &'static str,
    body: impl FnOnce(&Scope<'scope>) -> R,
) -> R {
    crate::scope::scope_called(runtime, name, body)
}

/// A tree of queues for as many threads as it has leaves; whose threads these are is not its
/// business.
pub struct Team {
    shared: Arc<Shared>,
}

impl Team {
    /// A team of so many workers on a machine, which are watched, and have wide tasks placed, or
    /// not. Tasks of a kind take about as long as each other. In a crowd more threads want a CPU
    /// than there are CPUs, so that the workers sleep often.
    #[must_use]
    pub fn new(
        machine: &Topology,
        workers: usize,
        config: Config,
        kind_of: KindOf,
        is_crowded: bool,
        beside: (Option<&Watch>, Option<&Placement>),
    ) -> Self {
        // Whoever uses it has events of its own.
        let options =
            Options { kind_of: Some(kind_of), knows_events: false, is_closed: false, is_crowded };
        Self { shared: Shared::new(machine, config, (workers, 0), options, beside) }
    }

    /// The worker of a leaf, for the calling thread.
    ///
    /// # Safety
    /// A leaf has one worker at a time, and only the thread that made it uses it.
    #[must_use]
    pub unsafe fn worker(&self, leaf: usize) -> Worker {
        Worker::new(self.shared.clone(), leaf)
    }

    /// Wakes the workers that sleep, to look again whether what they wait for has happened.
    pub fn wake(&self) {
        self.shared.scheduler.wake_all();
    }

    /// Ends a task from any thread: one of the team's does it, and does not run it once more.
    ///
    /// # Safety
    /// Its code was run by a worker of this team and has ended; it is not used after this call.
    pub unsafe fn end_from_outside(&self, task: *mut Task) {
        // SAFETY: the caller's promise.
        unsafe { self.shared.finish_elsewhere(task) };
    }
}
