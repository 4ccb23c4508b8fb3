//! Tasks that are run while they are created, and are made only if somebody asks for them.
//!
//! Where nobody wants a task, its creator runs its code like a call. Only if that code does what
//! needs the task itself (a child for others, a group, a wait) is it made, and so are those around
//! it that run like this: until then a number says how many there are.

use std::ptr;

use evenkeel_runtime::internal::Access;

use super::header::{Group, OmpTask};
use super::{Plan, depend};
use crate::region::Member;

impl Member {
    /// Whether the task that runs is not made, and so has no child, group or event.
    pub(super) fn runs_unmade(&self) -> bool {
        self.unmade.get() > 0
    }

    /// Whether a new task of this kind, which is ordered by these, is to be run now.
    #[inline(always)]
    pub(super) fn may_run_now(&self, kind: usize, dependences: &[Access]) -> bool {
        self.worker().inlines(kind)
            && (dependences.is_empty() || self.runs_unmade() || self.is_free(kind, dependences))
    }

    /// Whether tasks that are created here may run after their creator has gone on.
    #[inline]
    pub(super) fn defers(&self) -> bool {
        self.team().is_some() && !self.task_made().is_final.get()
    }

    /// Whether a new task is run now: it may, or it may not wait, and then what it depends on is
    /// waited for.
    pub(super) fn runs_now(&self, kind: usize, dependences: &[Access], may_wait: bool) -> bool {
        if may_wait {
            return self.may_run_now(kind, dependences);
        }
        depend::wait_without_ompt(self, dependences);
        true
    }

    fn is_free(&self, kind: usize, dependences: &[Access]) -> bool {
        let creator = self.task_made();
        // SAFETY: this worker runs the creator's code, and whoever counts its children is alive.
        unsafe { self.worker().is_free_here(kind, &*creator.counts(), creator.raw(), dependences) }
    }

    /// Runs the code of a new task that [may run now](Self::may_run_now).
    #[inline(always)]
    pub(super) fn run_inlined(&self, kind: usize, code: impl FnOnce()) {
        let unmade = &self.unmade;
        let inside = unmade.get() + 1;
        unmade.set(inside);
        self.worker().run_inside(kind, code);
        if unmade.get() == inside {
            return unmade.set(inside - 1);
        }
        self.end_made();
    }

    /// The task that ran like a call was made meanwhile, with all around it.
    #[cold]
    #[inline(never)]
    fn end_made(&self) {
        let task = self.task();
        self.worker().go_to(task.creator().raw());
        // SAFETY: this worker ran it, and nobody has it any more.
        unsafe { OmpTask::end(task, self.worker()) };
    }

    /// Makes all tasks that run here and are not made.
    #[cold]
    pub(crate) fn make_inlined(&self) {
        for _ in 0..self.unmade.replace(0) {
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
        if self.runs_unmade() {
            self.make_inlined();
        }
        self.task_made()
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
