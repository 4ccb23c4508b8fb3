//! Threads of a team: they wait for each other, and run tasks meanwhile.

use std::ptr;

use super::{Patience, Worker};
use crate::children::Until;
use crate::instrument::{Name, OpenSlice, Role, What};
use crate::task::Task;
use crate::wait::{Reason, Waiting};

/// The name of a function, with its file and line.
pub type Called = (String, Option<(String, u32)>);

impl Worker {
    /// Runs any tasks until the descendants of a task have ended.
    ///
    /// `task` lies on the stack of this worker, which holds no lock that tasks want.
    pub fn wait_with_any(&self, task: &Task) {
        loop {
            self.settle(task);
            if task.children.have_reached(Until::Descendants) {
                return;
            }
            let Some(next) = self.take() else { break };
            // SAFETY: the task was taken from a queue just now.
            unsafe { self.run(next) };
        }
        let waiting = Waiting::on(self.leaf, Reason::Tasks);
        waiting.is_of(task);
        if !task.children.wait(Until::Descendants) {
            return;
        }
        while !waiting.may_go_on() {
            // The resume list may have been read by a task that waits on top of this one.
            self.run_until(|| self.has_resumed() || waiting.may_go_on());
            self.go_on();
        }
        task.children.woke(Until::Descendants);
    }

    /// Sets how long this worker searches for tasks before it parks.
    #[inline]
    pub fn set_patience(&self, patience: Patience) {
        self.patience.set(patience);
    }

    /// Runs any tasks until `stop` holds.
    ///
    /// The thread that makes `stop` hold wakes this worker: [`crate::internal::Team::wake`].
    pub fn run_tasks_until(&self, stop: impl Fn() -> bool) {
        loop {
            self.run_until(|| stop() || self.has_resumed());
            if stop() {
                return;
            }
            self.go_on();
        }
    }

    /// Runs a task that is in no queue before its creator goes on. Returns when the task's code has
    /// ended.
    ///
    /// # Safety
    /// The task is alive, may run on any worker, and no code uses the task after this call.
    pub unsafe fn run_now(&self, task: *mut Task) {
        self.instrument.inlines_next();
        // SAFETY: the task is alive, in no queue, and is run once.
        unsafe { self.run(task.cast()) };
    }

    /// The task whose code runs; null outside of any.
    #[inline]
    pub fn current_task(&self) -> *const Task {
        self.current.get()
    }

    /// Makes another task current; returns the one before.
    #[inline]
    pub fn go_to(&self, task: *const Task) -> *const Task {
        self.current.replace(task)
    }

    /// Adds a new child of the task that runs.
    ///
    /// # Safety
    /// The task is whole, in no queue, and may run on any worker.
    #[inline]
    pub unsafe fn submit_free(&self, task: *mut Task) {
        // SAFETY: the task is whole, and in no queue.
        unsafe { self.add_by_priority(task.cast()) };
    }

    /// The code of a task that was run here has ended.
    ///
    /// # Safety
    /// This worker ran the task, and no code uses the task after this call.
    #[inline]
    pub unsafe fn end_task(&self, task: *const Task) {
        debug_assert!(!ptr::eq(task, self.current.get()), "its code has ended");
        // SAFETY: the task's code has ended, and this is its last use.
        unsafe { self.finish(task) };
    }

    /// Ends a task whose code has ended before, in the middle of another task's code.
    ///
    /// # Safety
    /// The task's code has ended, and no code uses the task after this call.
    pub unsafe fn end_task_amid(&self, task: *const Task) {
        // SAFETY: the task's code has ended, and this is its last use.
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
            .calls(function, role, || called().map(|(text, location)| Name { text, location }));
    }

    /// Runs code that creates tasks, of this function, as a worker that was outside before.
    pub fn runs_code<R>(&self, function: usize, run: impl FnOnce() -> R) -> R {
        let slice = OpenSlice::new();
        self.instrument.enters();
        let ends = self.instrument.begin(&slice, What::Code, function);
        let result = run();
        drop(ends);
        self.instrument.exits();
        result
    }

    /// A task creates no more children: the table of their accesses ends.
    pub fn close(&self, task: &Task) {
        self.settle(task);
        self.close_table(task);
    }
}
