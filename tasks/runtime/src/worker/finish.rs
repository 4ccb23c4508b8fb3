//! The end of a task: the release of its accesses and its block, and the notice to its parent.

use std::ptr::{self, NonNull};

use super::Worker;
use crate::access::{Accesses, Table, Then};
use crate::children::{self, Until};
use crate::queued::{Queued, Runner};
use crate::shared::Shared;
use crate::task::Task;
use crate::wait::Waiting;

impl Worker {
    /// The code of a task has ended.
    ///
    /// # Safety
    /// This worker ran the task, and no code uses the task after this call.
    pub(crate) unsafe fn finish(&self, task: *const Task) {
        // SAFETY: the task is alive until its last descendant has ended.
        unsafe {
            self.settle(&*task);
            self.close_table(&*task);
            let is_last = (*task).children.have_reached(Until::Descendants);
            // After the task has released its block, the last access to be released frees the
            // block.
            let parent = (*task).parent();
            let is_let_go = self.end_accesses(&*task, is_last);
            if is_last {
                return self.complete(task, parent, is_let_go);
            }
            if (*task).is_shallow() {
                self.act(parent, (*parent).children.finished_as_zombie());
            }
            if (*task).children.end() {
                self.act(task, children::Then::Complete);
            }
        }
    }

    /// Finishes a task whose code has ended before, in the middle of another task's code. That code
    /// may run for long, so that the parent is notified at once.
    ///
    /// # Safety
    /// The task's code has ended, and no code uses the task after this call.
    pub(crate) unsafe fn finish_amid(&self, task: *const Task) {
        // SAFETY: the task's code has ended, and this is its last use.
        unsafe { self.finish(task) };
        self.notify();
    }

    /// Passes the tokens of a task's accesses on, and releases the task's own hold of its block if
    /// the task is complete. Returns whether no access refers to the block any more.
    #[inline]
    unsafe fn end_accesses(&self, task: &Task, is_complete: bool) -> bool {
        // SAFETY: the task is alive, and its accesses are in its block or hold the block.
        unsafe {
            match task.accesses.get().as_ref() {
                None => is_complete,
                Some(accesses) => self.end_these(task, accesses, is_complete),
            }
        }
    }

    /// Ends the accesses of a task that has some.
    #[inline(never)]
    unsafe fn end_these(&self, task: &Task, accesses: &Accesses, is_complete: bool) -> bool {
        if is_complete || task.is_shallow() {
            // SAFETY: the task's code has ended just now, and its parent has not been notified.
            unsafe { self.give_turns(task, accesses) };
        }
        // SAFETY: the task's code has ended just now.
        let passed = unsafe { accesses.end(self, is_complete || task.is_shallow()) };
        if is_complete && passed == accesses.number() {
            return true;
        }
        let number = passed + u32::from(is_complete);
        number > 0 && accesses.let_go(number)
    }

    /// Tasks that wait for the turns of this one may try again.
    ///
    /// # Safety
    /// The task has not been completed, so the task and all tasks above are alive.
    #[inline]
    unsafe fn give_turns(&self, task: *const Task, accesses: &Accesses) {
        if accesses.in_turn.get().is_some() {
            // SAFETY: the task and all tasks above are alive, since the task has not been
            // completed.
            let among = unsafe { (*task).takes_turns_among() };
            self.shared.turns.give_all(accesses, among, |other| Then::ready(self, other));
        }
    }

    /// Does the work that a task's counter asks for, and then the steps of the tasks above.
    unsafe fn act(&self, task: *const Task, then: children::Then) {
        let mut step = (task, then);
        // SAFETY: a step of the counter says so to one thread alone; a task is alive until its
        // counter has all children.
        unsafe {
            loop {
                let task = step.0;
                step = match step.1 {
                    children::Then::Nothing => return,
                    children::Then::Wake => return self.shared.resume(Waiting::of(&*task)),
                    children::Then::Complete => match self.bury(task) {
                        Some(step) => step,
                        None => return,
                    },
                }
            }
        }
    }

    /// The last descendant of a task has ended, after its code: only the task's accesses refer to
    /// the block. Returns the step that follows for its parent.
    unsafe fn bury(&self, task: *const Task) -> Option<(*const Task, children::Then)> {
        // SAFETY: the task's block is held until `let_go`, and its parent is alive until notified.
        unsafe {
            let (parent, is_shallow) = ((*task).parent(), (*task).is_shallow());
            let accesses = (*task).accesses.get().as_ref();
            if let Some(accesses) = accesses.filter(|_| !is_shallow) {
                self.give_turns(task, accesses);
            }
            let passed = accesses.filter(|_| !is_shallow).map_or(0, |all| all.end_late(self));
            if accesses.is_none_or(|accesses| accesses.let_go(1 + passed)) {
                Then::free(self, task.cast());
            }
            if is_shallow {
                return Some((parent, (*parent).children.zombie_gone()));
            }
            self.count(parent)
        }
    }

    /// A task creates no more children: their table ends.
    #[inline]
    pub(crate) fn close_table(&self, task: &Task) {
        if let Some(table) = NonNull::new(task.table.replace(ptr::null_mut())) {
            // SAFETY: only the task had the table, and has given up the address.
            unsafe { self.close_table_of(task, table) };
        }
    }

    /// # Safety
    /// The table was the task's, and no code uses the table now.
    #[inline(never)]
    unsafe fn close_table_of(&self, task: &Task, table: NonNull<Table>) {
        // SAFETY: the address came from `Box::into_raw` in `table_of`, and no task has the table
        // any more.
        let mut table = unsafe { Box::from_raw(table.as_ptr()) };
        table.close(task.held_accesses(), self);
        self.tables.borrow_mut().push(table);
    }

    /// A task and all its children have ended: its block is freed if no access refers to the block,
    /// and the parent will be notified.
    unsafe fn complete(&self, task: *const Task, parent: *const Task, is_let_go: bool) {
        // SAFETY: the block is freed here only if no access refers to the block; the parent is
        // alive until notified.
        unsafe {
            if is_let_go {
                Then::free(self, task.cast());
            }
            if let Some((task, then)) = self.count(parent) {
                self.act(task, then);
            }
        }
    }

    /// One more child of a task has finished. The worker keeps the number while the parent does not
    /// change; else the previous parent is notified, and its step is returned.
    unsafe fn count(&self, parent: *const Task) -> Option<(*const Task, children::Then)> {
        let pending = self.unnotified.get();
        if pending.0 == parent {
            self.unnotified.set((parent, pending.1 + 1));
            return None;
        }
        self.unnotified.set((parent, 1));
        // SAFETY: a parent is alive until its counter has all children.
        (pending.1 > 0).then(|| (pending.0, unsafe { (*pending.0).children.finished(pending.1) }))
    }

    /// Notifies the parent of the tasks that finished last, and then the parents that this
    /// completes. Other code may go on afterwards.
    pub(crate) fn notify(&self) {
        self.notify_parents();
        self.hand_on();
    }

    /// Notifies the parents, for a worker that searches for a task next.
    pub(super) fn notify_parents(&self) {
        loop {
            let pending = self.unnotified.replace((ptr::null(), 0));
            if pending.1 == 0 {
                return;
            }
            // SAFETY: a parent is alive until its counter has all children.
            unsafe { self.act(pending.0, (*pending.0).children.finished(pending.1)) };
        }
    }

    /// Counts the children that this worker finished of a task whose code this worker runs.
    #[inline]
    pub(super) fn settle(&self, task: &Task) {
        let (parent, number) = self.unnotified.get();
        if ptr::eq(parent, task) {
            task.children.finish_here(number);
            self.unnotified.set((ptr::null(), 0));
        }
    }
}

impl Shared {
    /// Has a worker finish a task whose code has ended before; any thread may call this.
    ///
    /// # Safety
    /// The task's code has ended, and no code uses the task after this call.
    pub(crate) unsafe fn finish_elsewhere(&self, task: *mut Task) {
        // SAFETY: no other thread has the task before `add_from_outside`.
        unsafe {
            (*task).queued.run = finish_queued;
            self.scheduler.add_from_outside(task.cast());
        }
    }

    /// # Safety
    /// The task is a scope's, and one of its children is finished.
    pub(crate) unsafe fn finish_child_of(&self, root: *const Task) {
        // SAFETY: a scope's task is alive until all its children have finished.
        unsafe {
            if (*root).children.finished(1) == children::Then::Wake {
                self.resume(Waiting::of(&*root));
            }
        }
    }
}

/// Finishes a task whose code has ended before.
pub(super) unsafe fn finish_queued(task: *mut Queued, runner: Runner<'_>) {
    // SAFETY: `finish_elsewhere` added the task, whose code has ended.
    unsafe { Worker::of(runner).finish(task.cast()) }
}

impl Then for Worker {
    fn ready(&self, task: *const Queued) {
        self.instrument.released(task.addr());
        if self.separates_wide {
            // SAFETY: the task waits for nothing more, and is in no queue.
            return unsafe { self.add_separated(task.cast_mut()) };
        }
        // SAFETY: the task waits for nothing more, and is in no queue; this thread is the leaf's
        // worker.
        unsafe { self.scheduler().add_successor(self.at(), task.cast_mut()) }
    }

    fn free(&self, task: *const Queued) {
        let task = task.cast::<Task>();
        // SAFETY: no access refers to the block any more.
        unsafe {
            if let Some(accesses) = NonNull::new((*task).accesses.get())
                && accesses.as_ref().bytes() > 0
            {
                Worker::free(self, accesses.cast(), accesses.as_ref().bytes() as usize);
            }
            let (block, bytes) = ((*task).block(), (*task).bytes());
            Worker::free(self, block, bytes);
        }
    }

    fn block(&self, bytes: usize) -> NonNull<u8> {
        self.allocate(bytes)
    }

    unsafe fn free_block(&self, block: NonNull<u8>, bytes: usize) {
        // SAFETY: `block` allocated the block with as many bytes.
        unsafe { Worker::free(self, block, bytes) };
    }
}
