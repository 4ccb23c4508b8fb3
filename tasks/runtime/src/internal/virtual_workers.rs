//! Workers on virtual CPUs, for the model of many workers; only with `--cfg evenkeel_model`.
//!
//! - [`Steps`], [`Use`], [`install`]: a virtual machine is charged with each step that workers see
//!   of each other.
//! - [`Workers`], [`work`], [`scope`], [`replace_current`]: workers that share one thread.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::config::Config;
use crate::scope::{Scope, scope_on};
use crate::shared::{Options, Shared, WorkerMode};
pub use crate::sync::charged::{Steps, Use, install};
use crate::topology::Topology;
use crate::worker::Worker;

/// The state that workers of a model share.
#[derive(Clone)]
pub struct Workers {
    shared: Arc<Shared>,
}

impl Workers {
    /// `workers` workers on a machine, each with a leaf of its own.
    #[must_use]
    pub fn new(machine: &Topology, workers: usize, config: Config) -> Self {
        let slots = (workers, 0);
        Self { shared: Shared::new(machine, config, slots, Options::default(), (None, None)) }
    }

    /// The NUMA domain of each leaf.
    #[must_use]
    pub fn domains(&self) -> &[usize] {
        self.shared.domains()
    }

    /// Creates the worker of a leaf, for the calling coroutine.
    ///
    /// # Safety
    /// The leaf has no other worker, and only the calling coroutine uses the new one.
    #[must_use]
    pub unsafe fn worker(&self, leaf: usize) -> Worker {
        Worker::new(self.shared.clone(), leaf)
    }

    /// Ends [`work`] on every worker: no task is left.
    pub fn stop(&self) {
        for mode in &self.shared.modes {
            mode.store(WorkerMode::Stop as u32, crate::sync::Ordering::SeqCst);
        }
        let scheduler = &self.shared.scheduler;
        (0..self.shared.modes.len()).for_each(|leaf| scheduler.leaf(leaf).parker.unpark());
    }
}

/// Runs tasks on the calling coroutine until [`Workers::stop`].
pub fn work(worker: &Worker) {
    worker.enter(|| worker.work());
}

/// Runs `body`, which creates tasks, and waits for them.
///
/// The frame of this function holds the scope's task, whose cache lines the model counts; no code
/// of the caller is inlined here, so that the caller does not decide on the frame.
#[inline(never)]
pub fn scope<'scope>(worker: &Worker, body: &mut dyn FnMut(&Scope<'scope>)) {
    worker.enter(|| scope_on(worker, body, Location::caller()));
}

/// Makes another worker, or none, the current one of this thread, and returns the one before. A
/// coroutine calls this before and after it suspends itself.
pub fn replace_current(worker: Option<NonNull<Worker>>) -> Option<NonNull<Worker>> {
    let worker = worker.map_or(std::ptr::null(), |worker| worker.as_ptr().cast_const());
    NonNull::new(Worker::replace_current(worker).cast_mut())
}
