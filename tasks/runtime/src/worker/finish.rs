//! What follows from the end of a task: its accesses, those who wait, its block.

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
    /// The task was run by this worker, and is not used after this call.
    pub(crate) unsafe fn finish(&self, task: *const Task) {
        // SAFETY: the caller's promise; the task is alive until its last descendant has ended.
        unsafe {
            self.settle(&*task);
            self.close_table(&*task);
            let is_last = (*task).children.have_reached(Until::Descendants);
            // Once it has been let go, whoever lets go of its last access frees it.
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

    /// The same of a task whose code has ended before, in the middle of another one's: that may go
    /// on for long, so that nothing waits for it.
    ///
    /// # Safety
    /// As of [`Worker::finish`].
    pub(crate) unsafe fn finish_amid(&self, task: *const Task) {
        // SAFETY: the caller's promise.
        unsafe { self.finish(task) };
        self.notify();
    }

    /// Passes on what a task has accessed; lets go of the task too if it is complete. Returns
    /// whether nothing refers to its block any more.
    #[inline]
    unsafe fn end_accesses(&self, task: &Task, is_complete: bool) -> bool {
        // SAFETY: its accesses are in its block, or hold it; the caller's promise.
        unsafe {
            match task.accesses.get().as_ref() {
                None => is_complete,
                Some(accesses) => self.end_these(task, accesses, is_complete),
            }
        }
    }

    /// The same of a task that has some.
    #[inline(never)]
    unsafe fn end_these(&self, task: &Task, accesses: &Accesses, is_complete: bool) -> bool {
        if is_complete || task.is_shallow() {
            // SAFETY: its code has ended just now, and its parent was not told.
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

    /// Others may have their turn at what a task has accessed.
    ///
    /// # Safety
    /// The task has not been completed, and so it and those above it are alive.
    #[inline]
    unsafe fn give_turns(&self, task: *const Task, accesses: &Accesses) {
        if accesses.in_turn.get().is_some() {
            // SAFETY: the task and those above it are alive.
            let among = unsafe { (*task).takes_turns_among() };
            self.shared.turns.give_all(accesses, among, |other| Then::ready(self, other));
        }
    }

    /// Does what a step of its children asks for, for a task and then for those above it.
    unsafe fn act(&self, task: *const Task, then: children::Then) {
        let mut step = (task, then);
        // SAFETY: the caller was told to, alone; a task is alive until it has been told of all
        // children.
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

    /// The last descendant of a task has ended, after its code: nobody refers to it any more,
    /// except through its accesses. Returns what that asks for.
    unsafe fn bury(&self, task: *const Task) -> Option<(*const Task, children::Then)> {
        // SAFETY: as said; its parent is alive until it has been told.
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

    /// A task will create no more children.
    #[inline]
    pub(crate) fn close_table(&self, task: &Task) {
        if let Some(table) = NonNull::new(task.table.replace(ptr::null_mut())) {
            // SAFETY: the task had it alone.
            unsafe { self.close_table_of(task, table) };
        }
    }

    /// # Safety
    /// The table was the task's, and is nobody's now.
    #[inline(never)]
    unsafe fn close_table_of(&self, task: &Task, table: NonNull<Table>) {
        // SAFETY: it came from `Box::into_raw`; the caller's promise.
        let mut table = unsafe { Box::from_raw(table.as_ptr()) };
        table.close(task.domain(), self);
        self.tables.borrow_mut().push(table);
    }

    /// A task and all its children have ended: its parent will be told, and if nothing refers to
    /// its block, that is free.
    unsafe fn complete(&self, task: *const Task, parent: *const Task, is_let_go: bool) {
        // SAFETY: the caller's promise; if something refers to its block, that may be free already.
        unsafe {
            if is_let_go {
                Then::free(self, task.cast());
            }
            if let Some((task, then)) = self.count(parent) {
                self.act(task, then);
            }
        }
    }

    /// One more child of a task has finished. Returns what its predecessor makes of being told of
    /// those before.
    unsafe fn count(&self, parent: *const Task) -> Option<(*const Task, children::Then)> {
        let pending = self.unnotified.get();
        if pending.0 == parent {
            self.unnotified.set((parent, pending.1 + 1));
            return None;
        }
        self.unnotified.set((parent, 1));
        // SAFETY: a parent is alive until it has been told of all children.
        (pending.1 > 0).then(|| (pending.0, unsafe { (*pending.0).children.finished(pending.1) }))
    }

    /// Tells the parent of the last finished tasks, and then whoever that completes. Other code may
    /// go on then.
    pub(crate) fn notify(&self) {
        self.notify_parents();
        self.hand_on();
    }

    /// The same for a worker that looks for a task next.
    pub(super) fn notify_parents(&self) {
        loop {
            let pending = self.unnotified.replace((ptr::null(), 0));
            if pending.1 == 0 {
                return;
            }
            // SAFETY: a parent is alive until it has been told of all children.
            unsafe { self.act(pending.0, (*pending.0).children.finished(pending.1)) };
        }
    }

    /// What this worker finished of the children of a task that it runs itself.
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
    /// Finishes a task whose code has ended before, on a thread that is no worker.
    ///
    /// # Safety
    /// As of [`Worker::finish`].
    pub(crate) unsafe fn finish_elsewhere(&self, task: *mut Task) {
        // SAFETY: the caller's promise: nobody else has the task until it is added.
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
    // SAFETY: it was added for that.
    unsafe { Worker::of(runner).finish(task.cast()) }
}

impl Then for Worker {
    fn ready(&self, task: *const Queued) {
        self.instrument.released(task.addr());
        if self.separates_wide {
            // SAFETY: as below.
            return unsafe { self.add_separated(task.cast_mut()) };
        }
        // SAFETY: nothing it waited for is left, and nobody else adds it; this thread is the leaf's
        // worker.
        unsafe { self.scheduler().add_successor(self.at(), task.cast_mut()) }
    }

    fn free(&self, task: *const Queued) {
        let task = task.cast::<Task>();
        // SAFETY: nobody refers to the block any more.
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
        // SAFETY: the caller's promise.
        unsafe { Worker::free(self, block, bytes) };
    }
}
