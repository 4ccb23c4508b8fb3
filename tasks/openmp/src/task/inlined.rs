//! Inlined tasks, which their creator runs like calls.
//!
//! The creator runs a task's code like a call where no other thread needs work. The task gets a
//! header only if its code needs one (for a queued child, a group or a wait), together with the
//! inlined tasks around; until then a number counts them.

use std::ptr;

use evenkeel_runtime::internal::Access;

use super::header::{Group, OmpTask};
use super::{Plan, depend};
use crate::region::Member;

impl Member {
    /// Whether the task that runs is not made, and so has no child, group or event.
    pub(super) fn runs_inlined(&self) -> bool {
        self.inlined.get() > 0
    }

    /// Whether to inline a new task of this function, which these dependences order.
    #[inline(always)]
    pub(super) fn should_inline(&self, function: usize, dependences: &[Access]) -> bool {
        self.worker().inlines(function)
            && (dependences.is_empty()
                || self.runs_inlined()
                || self.is_free(function, dependences))
    }

    /// Whether tasks that are created here may run after their creator has gone on.
    #[inline]
    pub(super) fn defers(&self) -> bool {
        self.team().is_some() && !self.task_with_header().is_final.get()
    }

    /// Whether a new task is inlined: because the scheduler prefers that, or because the creator
    /// has to wait, which then waits for the task's dependences.
    pub(super) fn inlines(&self, function: usize, dependences: &[Access], may_wait: bool) -> bool {
        if may_wait {
            return self.should_inline(function, dependences);
        }
        depend::wait_without_ompt(self, dependences);
        true
    }

    fn is_free(&self, function: usize, dependences: &[Access]) -> bool {
        let creator = self.task_with_header();
        // SAFETY: this worker runs the creator's code, and the task that counts the creator's
        // children is alive.
        unsafe {
            self.worker().is_free_here(function, &*creator.counts(), creator.raw(), dependences)
        }
    }

    /// Runs the code of a new task that [may run now](Self::should_inline).
    #[inline(always)]
    pub(super) fn run_inlined(&self, function: usize, code: impl FnOnce()) {
        let inlined = &self.inlined;
        let inside = inlined.get() + 1;
        inlined.set(inside);
        self.worker().run_inside(function, code);
        if inlined.get() == inside {
            return inlined.set(inside - 1);
        }
        self.end_made();
    }

    /// Ends an inlined task that got a header meanwhile.
    #[cold]
    #[inline(never)]
    fn end_made(&self) {
        let task = self.task();
        self.worker().go_to(task.creator().raw());
        // SAFETY: this worker ran the task, which no other thread uses.
        unsafe { OmpTask::end(task, self.worker()) };
    }

    /// Makes all tasks that run here and are not made.
    #[cold]
    pub(crate) fn materialize_inlined(&self) {
        for _ in 0..self.inlined.replace(0) {
            let task = OmpTask::create(self, &Plan { bytes: 0, is_final: false });
            // SAFETY: the task is whole, and its parent runs here.
            unsafe {
                (*(*task).raw().parent()).creates();
                self.worker().go_to((*task).raw());
            }
        }
    }

    /// The running task, with its header.
    #[inline]
    pub(crate) fn task(&self) -> &OmpTask {
        if self.runs_inlined() {
            self.materialize_inlined();
        }
        self.task_with_header()
    }

    /// Whether the thread is outside of all regions and tasks.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.region().around.is_null() && ptr::eq(self.task(), self.implicit())
    }

    /// The taskgroup that the running task is in.
    pub(crate) fn group(&self) -> Option<&Group> {
        // SAFETY: a group outlives the tasks that are in it.
        unsafe { self.task().group.get().as_ref() }
    }
}
