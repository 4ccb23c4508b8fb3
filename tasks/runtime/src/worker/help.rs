//! A creator with too many tasks runs some of them before creating more.

use std::ptr;

use super::Worker;
use crate::task::Task;
use crate::wait::{Go, Help, Leaver, Stack};

/// The most creators of one worker that stand still at the same time, while fibres run their
/// children.
const HELPED_MAX: u32 = 16;

impl Worker {
    /// Runs children of a task. Returns whether any was found.
    #[cold]
    pub(super) fn help(&self, parent: &Task, how: Help) -> bool {
        let before = self.ran.get();
        self.settle(parent);
        if how.on == Stack::Own {
            self.run_children(parent, how, &|| true);
        } else if self.helped.get() < HELPED_MAX
            && parent.children.unfinished() > how.keep
            && let Ok(fibre) = self.free_fibre()
        {
            self.helped.set(self.helped.get() + 1);
            self.go(fibre, Go::Help(parent, how));
            self.helped.set(self.helped.get() - 1);
        }
        self.hand_on();
        self.ran.get() != before
    }

    /// Runs children of a task on a fibre to which the worker switched from the creator's stack.
    pub(crate) fn help_on_fibre(&self, leaver: &Leaver, parent: *const Task, how: Help) {
        self.leaver.set(leaver);
        self.helps.set(parent);
        // When the worker comes back to a fibre that it has left, it sets `helps` to another value.
        let is_around = || ptr::eq(self.helps.get(), parent);
        self.run_children(parent, how, &is_around);
    }

    /// Runs children of a task, while `is_there` holds and more than `how.keep` are unfinished.
    fn run_children(&self, parent: *const Task, how: Help, is_there: &impl Fn() -> bool) {
        // SAFETY: the parent's code stands still while `is_there` holds; a task that was taken is
        // alive, and may run on any worker.
        unsafe {
            let others = || how.seeks.then(|| self.seek()).flatten();
            while is_there() && (*parent).children.unfinished() > how.keep {
                let Some(next) = self.take().or_else(others) else { return };
                if !ptr::eq(Task::parent_of(&*next), parent) || self.is_low() {
                    return self.add_by_priority(next);
                }
                self.run(next);
                if is_there() {
                    self.settle(&*parent);
                }
            }
        }
    }
}
