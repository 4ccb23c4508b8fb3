//! Which function of the program a task runs.
//!
//! The runtime learns by function how long tasks are, and whether they are wide.

use std::ptr;

use super::Worker;
use super::create::run_in_turn;
use super::finish::finish_queued;
use crate::queued::{NO_FUNCTION, Queued, Run};
use crate::task::Task;

impl Worker {
    /// The function that queued work runs: the answer of the library above, or the work's `run`.
    ///
    /// # Safety
    /// The work is alive and whole, and this worker has taken it.
    pub(crate) unsafe fn function_of(&self, task: *const Queued) -> usize {
        // SAFETY: the work is alive and whole; work that takes turns is a task with accesses.
        unsafe {
            let is_run_by = |run: Run| ptr::fn_addr_eq((*task).run, run);
            if is_run_by(finish_queued) {
                return NO_FUNCTION;
            }
            if let Some(tells) = self.shared.options.function_of {
                return tells(task);
            }
            let in_turn = || (*(*task.cast::<Task>()).accesses.get()).in_turn.get();
            let run = if is_run_by(run_in_turn) { in_turn() } else { None };
            run.unwrap_or((*task).run) as usize
        }
    }

    /// The task that was taken did not run, since another one has its turn.
    #[cold]
    pub(super) fn misses_turn(&self) {
        self.ran.set(self.ran.get().wrapping_sub(1));
        self.instrument.runs_nothing();
    }

    /// Whether the task with this number missed its turn.
    pub(super) fn has_missed_turn(&self, ran: u32) -> bool {
        self.ran.get() == ran.wrapping_sub(1)
    }
}
