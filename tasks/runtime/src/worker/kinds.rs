//! What tells the tasks of one function from those of others.
//!
//! By its kind one knows how long a task takes, whether it is wide, and what it is called.

use std::ptr;

use super::Worker;
use super::create::run_in_turn;
use super::finish::finish_queued;
use crate::queued::{OWN_KIND, Queued, Run};
use crate::task::Task;

impl Worker {
    /// The kind of a task: what its way in says, or else the address of what is run.
    ///
    /// # Safety
    /// It is alive and whole, and nobody else has it.
    pub(crate) unsafe fn kind_of(&self, task: *const Queued) -> usize {
        // SAFETY: the caller's promise; what takes turns is the head of a task, and has accesses.
        unsafe {
            let is_run_by = |run: Run| ptr::fn_addr_eq((*task).run, run);
            if is_run_by(finish_queued) {
                return OWN_KIND;
            }
            if let Some(tells) = self.shared.options.kind_of {
                return tells(task);
            }
            let in_turn = || (*(*task.cast::<Task>()).accesses.get()).in_turn.get();
            let run = if is_run_by(run_in_turn) { in_turn() } else { None };
            run.unwrap_or((*task).run) as usize
        }
    }

    /// The task that was taken did not run, since it is not its turn.
    #[cold]
    pub(super) fn misses_turn(&self) {
        self.ran.set(self.ran.get().wrapping_sub(1));
        self.instrument.runs_nothing();
    }

    /// Whether that happened to the task before which so many had run, it included.
    pub(super) fn has_missed_turn(&self, ran: u32) -> bool {
        self.ran.get() == ran.wrapping_sub(1)
    }
}
