//! External threads: they enter a runtime as a worker for the time of a call.

use std::mem::swap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;

use crate::pool::Runtime;
use crate::task::Task;
use crate::worker::Worker;

impl Runtime {
    /// Runs a function on a worker of this runtime: the thread's own, or a new one for that time.
    pub(crate) fn as_worker<R>(&self, run: impl FnOnce(&Worker) -> R) -> R {
        let shared = self.shared();
        // SAFETY: a worker is alive while its thread is in `Worker::enter`.
        let around = Worker::current().map(|worker| unsafe { worker.as_ref() });
        if let Some(worker) = around.filter(|worker| Arc::ptr_eq(&worker.shared, shared)) {
            return run(worker);
        }
        let mut slot = shared.external_slots.take();
        let mut worker = Worker::new(shared.clone(), slot.leaf);
        swap(&mut worker.chunks, &mut slot.chunks);
        // Tasks of both runtimes are on one stack: the check for shared data walks through both.
        let current = around.map_or(ptr::null(), |around| around.current.get());
        let border = Task::border(current, (&raw const worker).cast());
        if let Some(around) = around {
            worker.is_inside(around, &border);
        }
        worker.instrument.uses(true);
        worker.instrument.enters();
        let result = catch_unwind(AssertUnwindSafe(|| worker.enter(|| run(&worker))));
        worker.leaves();
        worker.instrument.exits();
        worker.instrument.uses(false);
        swap(&mut worker.chunks, &mut slot.chunks);
        drop(worker);
        if let Some(around) = around {
            around.current.set(current);
        }
        shared.external_slots.leave(slot);
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}
