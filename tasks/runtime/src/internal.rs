//! The interface of the runtime for its sister crates: `openmp` and `c` bring threads and tasks of
//! their own, `observe` writes recordings, and `model` runs workers on a virtual machine.
//!
//! **The contract.** The runtime trusts the sister crates with its own invariants, so that most of
//! these functions are unsafe, and each states its condition. The module is no part of the public
//! interface: the crates have one version, and the module changes without notice.
//!
//! - *On which thread does a task run?* [`Team`] is the state of workers on threads that the
//!   runtime did not start; [`Worker`] is one of them, used by its thread alone;
//!   [`current_worker`] is that of the calling thread. [`Called`] is the name of code for the
//!   instrumentation.
//! - *What is a task?* A block that the sister crate lays out and that begins with a [`Task`]. Its
//!   head, [`Queued`], names the function that a worker calls with a [`Runner`]. A [`FunctionOf`]
//!   returns the address of the program's function that a task runs, or [`NO_FUNCTION`].
//! - *In which order do tasks run?* Each declares [`Uses`]: an [`Access`] for an address, a
//!   [`RangeAccess`] for a range of memory. [`Until`] is the condition that a task waits for.
//! - *How does a thread wait?* With a [`Pause`] between two looks at a condition, for as long as
//!   [`Patience`] says, and then asleep in a [`Parker`]. [`comes_soon`] keeps the CPU meanwhile.
//! - *What is the process, and the machine?* [`forks`] counts the calls of `fork(2)` that led here,
//!   [`parallelism`] is the number of CPUs, [`register_membarrier`] prepares membarrier(2),
//!   [`tell`] and [`tell_unknown`] report to the user, [`Sysfs`] reads the [`Part`]s of the
//!   machine, and [`lock_std`] locks a mutex such that ThreadSanitizer sees the order.
//! - [`own_tasks`]: runtimes whose tasks are all the sister crate's, for `c`.
//! - [`recording`]: the content of a [`Watch`], and names of functions, for `observe`.
//! - `virtual_workers`, only with `--cfg evenkeel_model`: workers on virtual CPUs, for `model`.

pub mod own_tasks;
pub mod recording;
#[cfg(evenkeel_model)]
pub mod virtual_workers;

use std::ptr::NonNull;
use std::sync::Arc;

pub use crate::access::{Access, RangeAccess, Uses};
pub use crate::children::Until;
use crate::class::Placement;
use crate::config::Config;
pub use crate::fork::forks;
use crate::instrument::Watch;
pub use crate::limits::parallelism;
pub use crate::notice::tell;
pub use crate::parker::Parker;
pub use crate::queued::{FunctionOf, NO_FUNCTION, Queued, Runner};
use crate::shared::{Options, Shared};
pub use crate::sync::{lock_std, register_membarrier};
pub use crate::task::Task;
use crate::topology::Topology;
pub use crate::topology::{Part, Sysfs};
pub use crate::variables::tell_unknown;
pub use crate::worker::{Called, Patience, Pause, Worker, comes_soon};

/// The worker of this thread, if the thread is one. The worker lives until the current task ends.
#[must_use]
pub fn current_worker() -> Option<NonNull<Worker>> {
    Worker::current()
}

/// The shared state of workers on threads that the sister crate starts.
pub struct Team {
    shared: Arc<Shared>,
}

impl Team {
    /// A team of `workers` workers on a machine; `beside` has the recording and the placement of
    /// wide tasks, if any. Tasks of one function take similar times. `is_crowded` says that the
    /// process has more runnable threads than CPUs, so that workers sleep often.
    #[must_use]
    pub fn new(
        machine: &Topology,
        workers: usize,
        config: Config,
        function_of: FunctionOf,
        is_crowded: bool,
        beside: (Option<&Watch>, Option<&Placement>),
    ) -> Self {
        // The sister crate has events of its own.
        let options = Options {
            function_of: Some(function_of),
            knows_events: false,
            is_closed: false,
            is_crowded,
        };
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
