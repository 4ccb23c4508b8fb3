//! What tasks wait for that no task does: a device, a message, another thread.
//!
//! An [`Event`] keeps a task from being finished after its code has ended, as OmpSs-2's external
//! events do. [`Scope::pause`] stops a task's code until somebody says so; its thread runs others.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;

use crate::access::Uses;
use crate::children::Then;
use crate::pool::Shared;
use crate::queued::{Queued, Runner};
use crate::scope::Scope;
use crate::stuck::What;
use crate::sync::{AtomicUsize, Ordering};
use crate::task::Task;
use crate::wait::Waiting;
use crate::worker::Worker;

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

/// The events of one task.
pub(crate) struct Held {
    task: *const Task,
    /// Events that have not happened, and one for the task's code.
    left: AtomicUsize,
}

impl Held {
    /// # Safety
    /// It came from a box, and is used no more by the caller.
    unsafe fn one_less(this: *const Self) -> Option<*const Task> {
        // SAFETY: the caller's promise: it is alive until the last has happened.
        unsafe {
            // Pairs with itself: what was done before any event is seen by who finishes the task.
            if (*this).left.fetch_sub(1, Ordering::AcqRel) > 1 {
                return None;
            }
            Some(Box::from_raw(this.cast_mut()).task)
        }
    }
}

impl Scope<'_> {
    /// Something that this task waits for after its code has ended. Before it has happened, the
    /// task is not finished, and those that wait for its data do not begin.
    ///
    /// ```
    /// use evenkeel_runtime::{Data, scope};
    ///
    /// let (sent, answer) = (Data::new(0), Data::new(0));
    /// scope(|s| {
    ///     s.task().inout(&sent).spawn_with(|s, sent| {
    ///         *sent = 6;
    ///         let answered = s.event();
    ///         std::thread::spawn(move || drop(answered)); // a device says that it is done
    ///     });
    ///     s.task().input(&sent).inout(&answer).spawn(|sent, answer| *answer = *sent * 7);
    /// });
    /// assert_eq!(answer.into_inner(), 42);
    /// ```
    pub fn event(&self) -> Event {
        // SAFETY: this is its code, or that of a task that runs as part of it.
        unsafe { self.worker().event(self.part().unwrap_or(self.task_of())) }
    }

    /// Stops this task until the [`Resume`] that `start` is given is used, here or on any thread.
    /// Meanwhile other tasks run on this one.
    ///
    /// # Panics
    /// With the panic of `start`, once the [`Resume`] was used or dropped. Or in a task of
    /// [`Scope::spawn`], which may have been run at once: then its creator would stop.
    /// One that may pause is created by [`spawn_with`](crate::TaskBuilder::spawn_with).
    #[track_caller]
    pub fn pause(&self, start: impl FnOnce(Resume)) {
        assert!(self.may_pause(), "only a task of `spawn_with` may pause");
        self.worker().pause(start);
    }
}

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
        self.pause_for(What::Data, |resume| {
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
        self.pause_for(What::Resume, start);
    }

    #[track_caller]
    fn pause_for(&self, what: What, start: impl FnOnce(Resume)) {
        let waiting = Waiting::on(self.leaf, what);
        let resume = Resume { shared: self.shared.clone(), waiting: &raw const waiting };
        // If it panics, who waits has to stay until it was resumed all the same: that may be on its
        // way, or anybody's.
        let started = catch_unwind(AssertUnwindSafe(|| start(resume)));
        self.tell();
        self.block(&waiting);
        started.unwrap_or_else(|panic| resume_unwind(panic));
    }

    /// One more event of a task whose code runs here.
    fn hold(&self, task: &Task) -> *const Held {
        if task.is_root() {
            // Whoever waits for the scope waits for it as for a task.
            task.children.create();
            return Box::into_raw(Box::new(Held { task, left: AtomicUsize::new(1) }));
        }
        let mut held = self.held.borrow_mut();
        let known = held.iter().find(|(of, _)| ptr::eq(*of, task)).map(|&(_, held)| held);
        let held = known.unwrap_or_else(|| {
            let new = Box::into_raw(Box::new(Held { task, left: AtomicUsize::new(1) }));
            held.push((task, new));
            new
        });
        // SAFETY: it is alive while the task's code runs.
        unsafe { (*held).left.fetch_add(1, Ordering::Relaxed) };
        held
    }

    /// The code of a task has ended. Returns whether an event that has not happened holds it up:
    /// the last one finishes it.
    #[inline]
    pub fn is_held(&self, task: *const Task) -> bool {
        if self.held.borrow().is_empty() {
            return false;
        }
        let mut all = self.held.borrow_mut();
        let Some(place) = all.iter().position(|(of, _)| ptr::eq(*of, task)) else { return false };
        let (_, held) = all.swap_remove(place);
        // SAFETY: its code has ended just now.
        unsafe { Held::one_less(held).is_none() }
    }
}

impl Shared {
    /// Finishes a task whose code has ended before, on a thread that is no worker.
    ///
    /// # Safety
    /// As of [`Worker::finish`].
    pub(crate) unsafe fn finish_elsewhere(&self, task: *mut Task) {
        // SAFETY: the caller's promise: nobody else has the task until it is added.
        unsafe {
            (*task).queued.run = finish;
            self.ready.add_from_outside(task.cast());
        }
    }

    /// # Safety
    /// The task is a scope's, and one of its children is finished.
    unsafe fn finish_child_of(&self, root: *const Task) {
        // SAFETY: a scope's task is alive until all its children have finished.
        unsafe {
            if (*root).children.finished(1) == Then::Wake {
                self.resume(Waiting::of(&*root));
            }
        }
    }
}

/// Finishes a task whose code has ended before.
pub(crate) unsafe fn finish(task: *mut Queued, runner: Runner<'_>) {
    // SAFETY: it was added for that.
    unsafe { Worker::of(runner).finish(task.cast()) }
}
