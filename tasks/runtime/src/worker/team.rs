//! What threads do that share a team with others: they wait for each other, and run any task
//! meanwhile.

use std::ptr;

use super::{Patience, Worker};
use crate::children::Until;
use crate::instrument::{Name, OpenSlice, Role, What};
use crate::task::Task;
use crate::wait::{Reason, Waiting};

/// What a function is called, with its file and line.
pub type Called = (String, Option<(String, u32)>);

impl Worker {
    /// Runs tasks, whosever they are, until the descendants of a task have ended.
    ///
    /// `task` lies on the stack of this worker, which holds no lock that tasks want.
    pub fn wait_with_any(&self, task: &Task) {
        loop {
            self.settle(task);
            if task.children.have_reached(Until::Descendants) {
                return;
            }
            let Some(next) = self.take() else { break };
            // SAFETY: it was taken.
            unsafe { self.run(next) };
        }
        let waiting = Waiting::on(self.leaf, Reason::Tasks);
        waiting.is_of(task);
        if !task.children.wait(Until::Descendants) {
            return;
        }
        while !waiting.may_go_on() {
            // A task that waits here on top may have found it.
            self.run_until(|| self.has_resumed() || waiting.may_go_on());
            self.go_on();
        }
        task.children.woke(Until::Descendants);
    }

    /// How long it looks for tasks from now on before it sleeps.
    #[inline]
    pub fn set_patience(&self, patience: Patience) {
        self.patience.set(patience);
    }

    /// Runs tasks, whosever they are, until `stop` holds.
    ///
    /// Whoever makes it hold wakes this worker: [`crate::internal::Team::wake`].
    pub fn run_tasks_until(&self, stop: impl Fn() -> bool) {
        loop {
            self.run_until(|| stop() || self.has_resumed());
            if stop() {
                return;
            }
            self.go_on();
        }
    }

    /// Runs a task that is in no queue before its creator goes on. Returns when its code has ended.
    ///
    /// # Safety
    /// It is alive, any worker may run it, and it is not used after this call.
    pub unsafe fn run_now(&self, task: *mut Task) {
        self.instrument.inlines_next();
        // SAFETY: the caller's promise.
        unsafe { self.run(task.cast()) };
    }

    /// The task whose code runs; null outside of any.
    #[inline]
    pub fn current_task(&self) -> *const Task {
        self.current.get()
    }

    /// Says whose code runs from here on; returns whose it was.
    #[inline]
    pub fn go_to(&self, task: *const Task) -> *const Task {
        self.current.replace(task)
    }

    /// Adds a new child of the task that runs.
    ///
    /// # Safety
    /// It is whole, in no queue, and any worker may run it.
    #[inline]
    pub unsafe fn submit_free(&self, task: *mut Task) {
        // SAFETY: the caller's promise.
        unsafe { self.add_in_turn(task.cast()) };
    }

    /// The code of a task that was run here has ended.
    ///
    /// # Safety
    /// As of `finish`: it is not used after this call.
    #[inline]
    pub unsafe fn end_task(&self, task: *const Task) {
        debug_assert!(!ptr::eq(task, self.current.get()), "its code has ended");
        // SAFETY: the caller's promise.
        unsafe { self.finish(task) };
    }

    /// The same of a task whose code has ended before, in the middle of another one's.
    ///
    /// # Safety
    /// As of [`Worker::end_task`].
    pub unsafe fn end_task_amid(&self, task: *const Task) {
        // SAFETY: the caller's promise.
        unsafe { self.finish_amid(task) };
    }

    /// Names a function that is run as a task, or around tasks; without a name the symbol is looked
    /// up.
    #[inline]
    pub fn calls_function(
        &self,
        function: usize,
        is_task: bool,
        called: impl FnOnce() -> Option<Called>,
    ) {
        let role = if is_task { Role::Task } else { Role::Code };
        self.instrument
            .calls(function, role, || called().map(|(text, place)| Name { text, place }));
    }

    /// Runs code around tasks, of this function, as a worker that has been elsewhere.
    pub fn runs_code<R>(&self, function: usize, run: impl FnOnce() -> R) -> R {
        let slice = OpenSlice::new();
        self.instrument.enters();
        let ends = self.instrument.begin(&slice, What::Code, function);
        let result = run();
        drop(ends);
        self.instrument.exits();
        result
    }

    /// A task creates no more children: what they accessed is forgotten.
    pub fn close(&self, task: &Task) {
        self.settle(task);
        self.close_table(task);
    }
}
