//! The number of unfinished children of a task, and whether the task waits for them.

use std::cell::Cell;

use crate::sync::{AtomicI64, Ordering};

/// The task waits until no child is unfinished.
const WAITED: i64 = 1;
/// The task waits until no descendant is unfinished.
const WAITED_DEEP: i64 = 2;
/// The task's own code has ended; its last descendant completes the task.
const ENDED: i64 = 4;
const FLAGS: u32 = 3;
/// One child that is not finished.
const ONE: i64 = 1 << FLAGS;
/// One child that is finished, and has unfinished children.
const ZOMBIE: i64 = ONE << 32;

/// The step that the worker which finished a child must do next for the parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Nothing.
    Nothing,
    /// Resume the parent, which waits.
    Wake,
    /// Complete the parent: its code has ended.
    Complete,
}

/// The condition that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// All children but this many have finished.
    Children(u32),
    /// All descendants have finished.
    Descendants,
}

/// Children that a task counts in its plain integer before adding them to the atomic counter.
const UNSETTLED_MAX: i32 = 1 << 29;

/// The unfinished children of one task.
///
/// The task itself, on one worker, counts its new children without an atomic operation; finishers
/// subtract. So `pending` alone may be negative, and only the sum means anything, until the task
/// adds its unsettled children.
pub(crate) struct Children {
    /// Flags, unfinished children (32 bits, signed), zombies above them: one step changes all.
    pending: AtomicI64,
    /// Children created less those finished by the task's own worker. Used by that worker alone.
    unsettled: Cell<i32>,
    /// Written, so that the header has no gap: where a copy reads a gap, the CPU cannot forward the
    /// stores before the copy and waits.
    _whole: u32,
}

/// Unfinished children and zombies.
fn counts(pending: i64) -> (i32, i64) {
    let both = pending >> FLAGS;
    let children = both as i32;
    (children, (both - i64::from(children)) >> 32)
}

impl Children {
    pub(crate) fn none() -> Self {
        Self { pending: AtomicI64::new(0), unsettled: Cell::new(0), _whole: 0 }
    }

    /// The task's worker creates a child.
    #[inline]
    pub(crate) fn create(&self) {
        self.unsettled.set(self.unsettled.get() + 1);
        if self.unsettled.get() == UNSETTLED_MAX {
            self.settle(0, 0);
        }
    }

    /// The task's worker has itself finished some children.
    #[inline]
    pub(crate) fn finish_here(&self, number: u32) {
        let number = i32::try_from(number).expect("fewer finish at once than are unsettled");
        self.unsettled.set(self.unsettled.get() - number);
    }

    /// For the task's worker: how many children are unfinished.
    pub(crate) fn unfinished(&self) -> i64 {
        // Pairs with `finished`: the waiting task sees the writes of the children.
        let (children, _) = counts(self.pending.load(Ordering::Acquire));
        i64::from(children) + i64::from(self.unsettled.get())
    }

    /// For the task's worker: whether the awaited state is reached.
    #[inline]
    pub(crate) fn have_reached(&self, until: Until) -> bool {
        let (children, zombies) = counts(self.pending.load(Ordering::Acquire));
        let unfinished = i64::from(children) + i64::from(self.unsettled.get());
        match until {
            Until::Children(keep) => unfinished <= i64::from(keep),
            Until::Descendants => unfinished == 0 && zombies == 0,
        }
    }

    /// For the task's worker: announces that the task waits. Returns false if the condition holds
    /// already; then no thread will resume the task.
    pub(crate) fn wait(&self, until: Until) -> bool {
        let happened = match until {
            Until::Children(keep) => {
                let keep = i32::try_from(keep).expect("fewer are kept than may be unsettled");
                self.settle(keep, WAITED).0 <= 0
            }
            Until::Descendants => self.settle(0, WAITED_DEEP) == (0, 0),
        };
        if happened {
            self.woke(until);
        }
        !happened
    }

    /// For the resumed task: clears the flag that `wait` set.
    pub(crate) fn woke(&self, until: Until) {
        let flag = if until == Until::Descendants { WAITED_DEEP } else { WAITED };
        self.pending.fetch_sub(flag, Ordering::Relaxed);
    }

    /// For the task's worker: the task's code has ended. Returns whether all descendants are
    /// finished; if not, the last one completes the task, which may have happened when this
    /// returns.
    pub(crate) fn end(&self) -> bool {
        self.have_reached(Until::Descendants) || self.settle(0, ENDED) == (0, 0)
    }

    /// Adds the unsettled children but for `keep`, and a flag; returns the pending counts then.
    fn settle(&self, keep: i32, flag: i64) -> (i32, i64) {
        let more = i64::from(self.unsettled.replace(keep) - keep) * ONE;
        counts(self.pending.fetch_add(more + flag, Ordering::AcqRel) + more)
    }

    /// Some children have finished, on any worker. The caller alone must do the returned step.
    pub(crate) fn finished(&self, number: u32) -> Then {
        self.step(-i64::from(number) * ONE)
    }

    /// A child has finished that has unfinished children.
    pub(crate) fn finished_as_zombie(&self) -> Then {
        self.step(ZOMBIE - ONE)
    }

    /// All children of a child have finished that had finished before.
    pub(crate) fn zombie_gone(&self) -> Then {
        self.step(-ZOMBIE)
    }

    fn step(&self, change: i64) -> Then {
        let before = self.pending.fetch_add(change, Ordering::AcqRel);
        let ((old, old_zombies), (new, zombies)) = (counts(before), counts(before + change));
        let last_child = old > 0 && new <= 0;
        let last = new == 0 && zombies == 0 && (old > 0 || old_zombies > 0);
        match before & (WAITED | WAITED_DEEP | ENDED) {
            WAITED if last_child => Then::Wake,
            WAITED_DEEP if last => Then::Wake,
            ENDED if last => Then::Complete,
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
    fn a_task_that_finds_all_children_finished_is_not_woken() {
        let children = created(1);
        assert_eq!(children.finished(1), Then::Nothing);
        assert!(!children.wait(Until::Children(0)));
        assert!(!children.wait(Until::Descendants));
        assert_eq!(children.unfinished(), 0);
    }

    #[test]
    fn only_the_last_child_wakes_the_waiting_task() {
        for until in [Until::Children(0), Until::Descendants] {
            let children = created(2);
            assert!(children.wait(until));
            assert_eq!(children.finished(1), Then::Nothing);
            assert_eq!(children.finished(1), Then::Wake);
            children.woke(until);
            assert!(children.have_reached(until));
        }
    }

    #[test]
    fn a_task_that_waits_for_some_children_is_woken_once() {
        let children = created(5);
        assert!(children.wait(Until::Children(2)));
        assert_eq!(children.finished(1), Then::Nothing);
        assert_eq!(children.finished(3), Then::Wake);
        assert_eq!(children.finished(1), Then::Nothing);
        children.woke(Until::Children(2));
        assert_eq!(children.unfinished(), 0);
        assert!(children.end());
    }

    #[test]
    fn grandchildren_delay_only_a_wait_for_descendants() {
        let children = created(2);
        assert!(children.wait(Until::Children(0)));
        assert_eq!(children.finished_as_zombie(), Then::Nothing);
        assert_eq!(children.finished(1), Then::Wake);
        children.woke(Until::Children(0));
        assert!(children.wait(Until::Descendants));
        assert_eq!(children.zombie_gone(), Then::Wake);
    }

    #[test]
    fn zombies_that_come_before_their_count_are_counted_right() {
        let children = created(3);
        assert_eq!(children.finished_as_zombie(), Then::Nothing);
        assert_eq!(children.finished_as_zombie(), Then::Nothing);
        assert_eq!(children.unfinished(), 1);
        assert!(!children.end());
        assert_eq!(children.zombie_gone(), Then::Nothing);
        assert_eq!(children.finished(1), Then::Nothing);
        assert_eq!(children.zombie_gone(), Then::Complete);
    }
}
