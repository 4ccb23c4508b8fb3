//! Waiting for something outside of all tasks: a device, a message, another thread.
//!
//! An [`Event`] keeps a task from being finished after its code has ended, as OmpSs-2's external
//! events do. [`crate::Scope::pause`] stops a task's code until its [`Resume`] is used; meanwhile
//! the thread runs other tasks.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::access::Uses;
use crate::queued::{Queued, Runner};
use crate::shared::Shared;
use crate::task::Task;
use crate::wait::{Reason, Waiting};
use crate::worker::{Held, Worker};

/// Keeps a task from being complete, and its accesses from ending, until dropped on any thread.
#[must_use = "it happens when this is dropped"]
pub struct Event {
    shared: Arc<Shared>,
    held: *const Held,
}

// SAFETY: the count is atomic; the thread that drops the last event alone uses the rest.
unsafe impl Send for Event {}
// SAFETY: a shared event gives access to nothing.
unsafe impl Sync for Event {}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: an event is dropped once; its task is alive until the last has happened.
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

/// Lets a paused task go on, also when dropped.
#[must_use = "the task goes on when this is dropped"]
pub struct Resume {
    shared: Arc<Shared>,
    waiting: *const Waiting,
}

// SAFETY: any thread may resume the task, once.
unsafe impl Send for Resume {}
// SAFETY: a shared resume gives access to nothing.
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

/// A task without a body, which holds its accesses from the time that it gets them until its event
/// happens.
#[repr(C)]
struct Gate {
    task: Task,
    /// Lets the task go on that wants the accesses.
    resume: Cell<Option<Resume>>,
    /// Where that task finds the event which releases the accesses.
    event: *const Cell<Option<Event>>,
}

/// Runs a gate: its accesses are allowed.
unsafe fn open(queued: *mut Queued, runner: Runner<'_>) {
    let gate = queued.cast::<Gate>();
    // SAFETY: a gate is run once. The task that wants the accesses waits until resumed, and its
    // stack has the place of the event until then. The event may happen before this code ends.
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
    /// Waits until a child of `parent` with these uses could run, and keeps other tasks from the
    /// data until the event that is returned is dropped.
    ///
    /// # Safety
    /// This worker runs the code of both tasks, and a child may declare these uses.
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
            // SAFETY: the block is large enough, aligned and new; this worker runs both tasks.
            unsafe {
                let task = Task::child(parent, bytes, open);
                let resume = Cell::new(Some(resume));
                gate.write(Gate { task, resume, event: &raw const taken });
                self.queue_with_ranges(gate.cast(), orderer, uses);
            }
        });
        taken.take().expect("who opens the gate says how to close it")
    }

    /// One more event of a task.
    ///
    /// # Safety
    /// This worker runs the task's code, and calls [`Worker::is_held`] when the code has ended.
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
        // If `start` panics, the task still waits until resumed: another thread may have the
        // `Resume`, or be about to use it.
        let started = catch_unwind(AssertUnwindSafe(|| start(resume)));
        self.notify();
        self.block(&waiting);
        started.unwrap_or_else(|panic| resume_unwind(panic));
    }
}
