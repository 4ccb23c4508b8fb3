//! How many children of a task are not finished, and who waits for them.

use std::cell::Cell;

use crate::sync::{AtomicI64, Ordering};
use crate::wait::Waiting;

/// Somebody sleeps until the number is 0.
const WAITED: i64 = 1;
/// The task's own code has ended; the last child completes the task.
const ENDED: i64 = 2;
/// One child.
const ONE: i64 = 4;

/// What the finisher of a child has to do for the parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing.
    Nothing,
    /// Wake whoever waits.
    Wake,
    /// Complete the parent: it had ended.
    Complete,
}

/// The unfinished children of one task.
///
/// The task itself, on one worker, counts what it creates without an atomic operation; finishers
/// subtract. So `pending` alone may be negative, and only the sum means anything, until the task
/// adds what it has not yet added.
pub(crate) struct Children {
    /// Four times the number, and the two flags.
    pending: AtomicI64,
    /// Created less finished, where only the task's own worker has counted. Used by it alone.
    unsettled: Cell<i64>,
    /// Whose sleep ends with the last child. Written before [`WAITED`].
    waiting: Cell<*const Waiting>,
}

impl Children {
    pub(crate) fn none() -> Self {
        Self {
            pending: AtomicI64::new(0),
            unsettled: Cell::new(0),
            waiting: Cell::new(std::ptr::null()),
        }
    }

    /// The task's worker creates some, or has itself finished some (less than 0).
    pub(crate) fn count(&self, more: i64) {
        self.unsettled.set(self.unsettled.get() + more);
    }

    /// For the task's worker: whether every child is finished.
    pub(crate) fn are_finished(&self) -> bool {
        // Pairs with `finished`: what children wrote is seen by who waited for them.
        (self.pending.load(Ordering::Acquire) >> 2) + self.unsettled.get() == 0
    }

    /// For the task's worker: announces a sleeper. Returns false where all are finished already,
    /// and then nobody will wake it.
    pub(crate) fn wait(&self, waiting: &Waiting) -> bool {
        self.waiting.set(waiting);
        if self.settle(WAITED) != 0 {
            return true;
        }
        self.pending.store(0, Ordering::Relaxed);
        false
    }

    /// For the woken: takes the announcement back.
    pub(crate) fn woke(&self) {
        debug_assert_eq!(self.pending.load(Ordering::Relaxed), WAITED);
        self.pending.store(0, Ordering::Relaxed);
    }

    /// For the task's worker: the task's code has ended. Returns whether all children are
    /// finished; if not, the last one completes the task, which may have happened when this
    /// returns.
    pub(crate) fn end(&self) -> bool {
        self.are_finished() || self.settle(ENDED) == 0
    }

    /// Adds what is unsettled, and a flag; returns how many are unfinished.
    fn settle(&self, flag: i64) -> i64 {
        let more = self.unsettled.replace(0);
        let before = self.pending.fetch_add(more * ONE + flag, Ordering::AcqRel);
        (before >> 2) + more
    }

    /// Some have finished, on any worker. If it says so, the caller alone must act.
    pub(crate) fn finished(&self, number: u32) -> Then {
        let less = i64::from(number) * ONE;
        let now = self.pending.fetch_sub(less, Ordering::AcqRel) - less;
        match now {
            WAITED => Then::Wake,
            ENDED => Then::Complete,
            _ => Then::Nothing,
        }
    }

    /// Who waits.
    ///
    /// # Safety
    /// Only for who was told [`Then::Wake`].
    pub(crate) unsafe fn waiting(&self) -> *const Waiting {
        self.waiting.get()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn children_that_finish_before_they_are_counted_are_not_missed() {
        let children = Children::none();
        children.count(3);
        assert_eq!(children.finished(2), Then::Nothing);
        assert!(!children.are_finished());
        assert!(!children.end());
        assert_eq!(children.finished(1), Then::Complete);
    }

    #[test]
    fn who_finds_all_finished_is_not_woken() {
        let children = Children::none();
        children.count(1);
        assert_eq!(children.finished(1), Then::Nothing);
        assert!(!children.wait(&Waiting::on(0)));
        assert!(children.are_finished());
    }

    #[test]
    fn the_last_of_them_wakes_and_no_other() {
        let children = Children::none();
        children.count(2);
        assert!(children.wait(&Waiting::on(0)));
        assert_eq!(children.finished(1), Then::Nothing);
        assert_eq!(children.finished(1), Then::Wake);
        children.woke();
        assert!(children.are_finished());
    }
}
