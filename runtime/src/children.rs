//! How many children of a task are not finished, and who waits for them.

use std::cell::Cell;

use crate::sync::{AtomicI64, Ordering};

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

/// Children that a task counts by itself before it adds them for others to see.
const UNSETTLED_MAX: i32 = 1 << 30;

/// The unfinished children of one task.
///
/// The task itself, on one worker, counts what it creates without an atomic operation; finishers
/// subtract. So `pending` alone may be negative, and only the sum means anything, until the task
/// adds what it has not yet added.
pub(crate) struct Children {
    /// Four times the number, and the two flags.
    pending: AtomicI64,
    /// Created less finished, where only the task's own worker has counted. Used by it alone.
    unsettled: Cell<i32>,
    /// Keeps the header without holes: a copy with holes waits for its own stores.
    _whole: u32,
}

impl Children {
    pub(crate) fn none() -> Self {
        Self { pending: AtomicI64::new(0), unsettled: Cell::new(0), _whole: 0 }
    }

    /// The task's worker creates one.
    #[inline]
    pub(crate) fn create(&self) {
        self.unsettled.set(self.unsettled.get() + 1);
        if self.unsettled.get() == UNSETTLED_MAX {
            self.settle(0, 0);
        }
    }

    /// The task's worker has itself finished some.
    pub(crate) fn finish_here(&self, number: u32) {
        let number = i32::try_from(number).expect("fewer finish at once than are unsettled");
        self.unsettled.set(self.unsettled.get() - number);
    }

    /// For the task's worker: how many are unfinished.
    pub(crate) fn unfinished(&self) -> i64 {
        // Pairs with `finished`: what children wrote is seen by who waited for them.
        (self.pending.load(Ordering::Acquire) >> 2) + i64::from(self.unsettled.get())
    }

    /// For the task's worker: announces a sleeper, who wants to be woken when `keep` are left.
    /// Returns false where no more are left already, and then nobody will wake it.
    pub(crate) fn wait(&self, keep: u32) -> bool {
        let keep = i32::try_from(keep).expect("fewer are kept than may be unsettled");
        if self.settle(keep, WAITED) > 0 {
            return true;
        }
        self.woke();
        false
    }

    /// For the woken: takes the announcement back.
    pub(crate) fn woke(&self) {
        self.pending.fetch_sub(WAITED, Ordering::Relaxed);
    }

    /// For the task's worker: the task's code has ended. Returns whether all children are finished;
    /// if not, the last one completes the task, which may have happened when this returns.
    pub(crate) fn end(&self) -> bool {
        self.unfinished() == 0 || self.settle(0, ENDED) == 0
    }

    /// Adds what is unsettled but for `keep`, and a flag; returns how many are then pending.
    fn settle(&self, keep: i32, flag: i64) -> i64 {
        let more = i64::from(self.unsettled.replace(keep) - keep);
        let before = self.pending.fetch_add(more * ONE + flag, Ordering::AcqRel);
        (before >> 2) + more
    }

    /// Some have finished, on any worker. If it says so, the caller alone must act.
    pub(crate) fn finished(&self, number: u32) -> Then {
        let less = i64::from(number) * ONE;
        let before = self.pending.fetch_sub(less, Ordering::AcqRel);
        let reaches_none = before >= ONE && before - less < ONE;
        match before & (WAITED | ENDED) {
            WAITED if reaches_none => Then::Wake,
            ENDED if reaches_none => Then::Complete,
            _ => Then::Nothing,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn created(number: u32) -> Children {
        let children = Children::none();
        (0..number).for_each(|_| children.create());
        children
    }

    #[test]
    fn children_that_finish_before_they_are_counted_are_not_missed() {
        let children = created(3);
        assert_eq!(children.finished(2), Then::Nothing);
        assert_eq!(children.unfinished(), 1);
        assert!(!children.end());
        assert_eq!(children.finished(1), Then::Complete);
    }

    #[test]
    fn who_finds_all_finished_is_not_woken() {
        let children = created(1);
        assert_eq!(children.finished(1), Then::Nothing);
        assert!(!children.wait(0));
        assert_eq!(children.unfinished(), 0);
    }

    #[test]
    fn the_last_of_them_wakes_and_no_other() {
        let children = created(2);
        assert!(children.wait(0));
        assert_eq!(children.finished(1), Then::Nothing);
        assert_eq!(children.finished(1), Then::Wake);
        children.woke();
        assert_eq!(children.unfinished(), 0);
    }

    #[test]
    fn who_waits_for_some_is_woken_once_when_as_many_are_left() {
        let children = created(5);
        assert!(children.wait(2));
        assert_eq!(children.finished(1), Then::Nothing);
        assert_eq!(children.finished(3), Then::Wake);
        assert_eq!(children.finished(1), Then::Nothing);
        children.woke();
        assert_eq!(children.unfinished(), 0);
        assert!(children.end());
    }
}
