//! What tasks wait for that no task does: a device, a message, another thread.
//!
//! An [`Event`] keeps a task from being finished after its code has ended, as OmpSs-2's external
//! events do. [`crate::Scope::pause`] stops a task's code until its [`Resume`] is used; meanwhile the
//! thread runs other tasks.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::access::Uses;
use crate::queued::{Queued, Runner};
use crate::shared::Shared;
use crate::task::Task;
use crate::wait::{Reason, Waiting};
use crate::worker::{Held, Worker};

/// What a task waits for before it is finished, and its accesses with it.
///
/// It happens when this is dropped, on any thread.
#[must_use = "it happens when this is dropped"]
pub struct Event {
    shared: Arc<Shared>,
    held: *const Held,
}

// SAFETY: what it points to is atomic, or used by whoever drops the last.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it is dropped once; a task with events is alive until the last has happened.
        unsafe {
            let Some(task) = Held::one_less(self.held) else { return };
            if (*task).is_root() {
                return self.shared.finish_child_of(task);
            }
            match Worker::current() {
                Some(worker) if Arc::ptr_eq(&worker.as_ref().shared, &self.shared) => {
                    worker.as_ref().finish_amid(task);
                }
                _ => self.shared.finish_elsewhere(task.cast_mut()),
            }
        }
    }
}

/// Lets a task that was paused go on; so does dropping it.
#[must_use = "the task goes on when this is dropped"]
pub struct Resume {
    shared: Arc<Shared>,
    waiting: *const Waiting,
}

// SAFETY: who waits is resumed once, from any thread.
unsafe impl Send for Resume {}
// SAFETY: there is nothing to share.
unsafe impl Sync for Resume {}

impl Resume {
    /// Lets the task go on.
    pub fn resume(self) {
        drop(self);
    }
}

impl Drop for Resume {
    fn drop(&mut self) {
        // SAFETY: the task waits, or is about to, until this.
        unsafe { self.shared.resume(self.waiting) };
    }
}

/// A task that does nothing but hold its accesses, from when it has them until its event happens.
#[repr(C)]
struct Gate {
    task: Task,
    /// Who wants them.
    resume: Cell<Option<Resume>>,
    /// Where they are told how to give them back.
    event: *const Cell<Option<Event>>,
}

/// Runs a gate.
unsafe fn open(queued: *mut Queued, runner: Runner<'_>) {
    let gate = queued.cast::<Gate>();
    // SAFETY: it is run once; who wants the accesses waits until it is resumed, and then for as
    // long as it likes to keep them. The event may have happened before its code has ended.
    unsafe {
        let (worker, task) = (Worker::of(runner), &raw const (*gate).task);
        (*(*gate).event).set(Some(worker.event(&*task)));
        drop((*gate).resume.take());
        if !worker.is_held(task) {
            worker.finish(task);
        }
    }
}

impl Worker {
    /// Waits until a child of `parent` that uses this could run, and keeps others from it until
    /// what is returned is dropped.
    ///
    /// # Safety
    /// This worker runs the code of both, and the child may say that it uses this.
    #[track_caller]
    pub(crate) unsafe fn wait_for_data(
        &self,
        parent: &Task,
        orderer: &Task,
        uses: Uses<'_>,
    ) -> Event {
        let taken = Cell::new(None);
        self.pause_for(Reason::Data, |resume| {
            let bytes = size_of::<Gate>();
            let gate = self.allocate(bytes).cast::<Gate>().as_ptr();
            parent.creates();
            // SAFETY: the block is large enough, aligned and ours; the caller's promise.
            unsafe {
                let task = Task::child(parent, bytes, open);
                let resume = Cell::new(Some(resume));
                gate.write(Gate { task, resume, event: &raw const taken });
                self.queue_with_regions(gate.cast(), orderer, uses);
            }
        });
        taken.take().expect("who opens the gate says how to close it")
    }

    /// An event of a task.
    ///
    /// # Safety
    /// This worker runs its code; when that ends, [`Worker::is_held`] is asked.
    pub unsafe fn event(&self, task: &Task) -> Event {
        Event { shared: self.shared.clone(), held: self.hold(task) }
    }

    /// Stops the code that runs until the [`Resume`] is used; other tasks run meanwhile.
    #[track_caller]
    pub fn pause(&self, start: impl FnOnce(Resume)) {
        self.pause_for(Reason::Resume, start);
    }

    #[track_caller]
    fn pause_for(&self, what: Reason, start: impl FnOnce(Resume)) {
        let waiting = Waiting::on(self.leaf, what);
        let resume = Resume { shared: self.shared.clone(), waiting: &raw const waiting };
        // If it panics, who waits has to stay until it was resumed all the same: that may be on its
        // way, or anybody's.
        let started = catch_unwind(AssertUnwindSafe(|| start(resume)));
        self.notify();
        self.block(&waiting);
        started.unwrap_or_else(|panic| resume_unwind(panic));
    }
}
