//! Creating tasks that access ranges.

use super::Worker;
use crate::access::{Accesses, RangeAccess, Uses};
use crate::task::Task;
use crate::wait::Stack;

impl Worker {
    /// Adds a new task, ordered with those of the same `orderer`: see [`Worker::submit_ordered`]. A
    /// creator that `helps` runs some of its children if more than the window are unfinished.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub unsafe fn submit_with_ranges(
        &self,
        task: *mut Task,
        orderer: &Task,
        uses: Uses<'_>,
        helps: bool,
    ) {
        // SAFETY: the task is whole; the parent is alive, though the task may be gone afterwards.
        unsafe {
            let parent = (*task).parent();
            if !self.queue_with_ranges(task, orderer, uses) && helps {
                self.keep_window(&*parent, Stack::Own);
            }
        }
    }

    /// Adds a new task, ordered by `orderer`; a creator with too many children runs some of them on
    /// a fibre.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub(crate) unsafe fn spawn_with_ranges(&self, task: *mut Task, orderer: &Task, uses: Uses<'_>) {
        // SAFETY: the task is whole, and its parent runs on this worker.
        unsafe {
            let parent = (*task).parent();
            if !self.queue_with_ranges(task, orderer, uses) {
                self.keep_window(&*parent, Stack::Other);
            }
        }
    }

    /// Adds a new task, ordered by `orderer`; its creator runs none of its children meanwhile.
    /// Returns whether the task is ready.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub(crate) unsafe fn queue_with_ranges(
        &self,
        task: *mut Task,
        orderer: &Task,
        uses: Uses<'_>,
    ) -> bool {
        // SAFETY: the task is whole, and only this worker runs the code of `orderer`.
        unsafe {
            let accesses = uses.accesses.iter().copied();
            let parts = self.table_of(orderer).plan(uses.ranges, self);
            let number = accesses.len() + parts.len();
            let place = self.write_accesses(task, number, accesses.chain(parts));
            self.submit(task, place, orderer)
        }
    }

    /// Whether children of another task whose code is on this stack use part of these ranges.
    pub(crate) fn are_used_elsewhere(&self, parent: *const Task, ranges: &[RangeAccess]) -> bool {
        self.is_elsewhere(parent, |table| table.uses_ranges(ranges), |_| false)
    }

    /// Whether a task with these accesses and ranges could run and end now.
    ///
    /// # Safety
    /// This worker runs the code of `orderer`.
    pub unsafe fn may_use(&self, orderer: &Task, uses: Uses<'_>) -> bool {
        // SAFETY: this worker runs the code of `orderer`, and so alone uses its table.
        let table = unsafe { self.table_of(orderer) };
        Accesses::are_free(uses.accesses, table, orderer.held_accesses())
            && table.are_ranges_free(uses.ranges)
    }
}
