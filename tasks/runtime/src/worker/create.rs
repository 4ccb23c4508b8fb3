//! Creating tasks: which are inlined, which wait for other tasks, how many a creator may create.

use std::ptr::{self, NonNull};

use super::{PAUSE_MAX, PAUSE_MIN, Pause, Worker};
use crate::access::{Access, Accesses, Table, Then};
use crate::grain;
use crate::instrument::OpenSlice;
use crate::queued::{Queued, Runner};
use crate::sync::{Ordering, sleep};
use crate::task::Task;
use crate::wait::{Help, Stack};

/// Unfinished children beyond which a creator helps to run them.
const WINDOW: i64 = 4096;
/// The limit while no worker wants more tasks to run.
const WINDOW_BUSY: i64 = 256;
/// A creator looks at its window once in this many tasks.
const WINDOW_CHECK: u32 = 64;
/// One inlined task of this many is timed, while a worker is idle: reading the clock twice may take
/// longer than the task.
const SAMPLE_INLINED: u32 = 8;

/// Runs a task if all its turns are free; else queues the task again when a turn is free.
pub(super) unsafe fn run_in_turn(queued: *mut Queued, runner: Runner<'_>) {
    let task = queued.cast::<Task>();
    // SAFETY: the task was taken to be run, and `submit` sets this function only where a task has
    // accesses.
    unsafe {
        let accesses = (*task).accesses.get();
        let run = (*accesses).in_turn.get();
        let (worker, among) = (Worker::of(runner), (*task).takes_turns_among());
        if !worker.shared.turns.take(&*accesses, among, |other| Then::ready(worker, other)) {
            worker.misses_turn();
        } else if let Some(run) = run {
            run(queued, runner);
        }
    }
}

impl Worker {
    /// Inlines a new task, which instrumentation names after a type.
    #[inline]
    #[track_caller]
    pub(crate) fn run_inline<N>(&self, function: usize, body: impl FnOnce()) {
        if self.instrument.is_on() {
            self.instrument.creates::<N>(function);
        }
        self.run_inside(function, body);
    }

    /// Inlines a new task, which instrumentation names by its function.
    #[inline(always)]
    pub fn run_inside(&self, function: usize, body: impl FnOnce()) {
        if self.instrument.is_on() {
            return self.run_inline_instrumented(function, body);
        }
        self.run_sampled(function, body);
    }

    /// Inlines a new task without recording its slice.
    #[inline(always)]
    pub(crate) fn run_sampled(&self, function: usize, body: impl FnOnce()) {
        self.ran.set(self.ran.get().wrapping_add(1));
        if !self.ran.get().is_multiple_of(SAMPLE_INLINED) || self.all_are_busy() {
            return body();
        }
        self.run_inline_timed(function, body);
    }

    /// An idle worker could have run the task: measures whether the task is still too short for
    /// that.
    #[inline(never)]
    fn run_inline_timed(&self, function: usize, body: impl FnOnce()) {
        let begin = grain::cycles();
        body();
        let forgets = self.forgets(self.ran.get() / SAMPLE_INLINED);
        self.shared.grains.took(function, grain::cycles() - begin, forgets);
    }

    /// Whether this sample may forget the lengths of earlier ones. The more workers, the fewer
    /// samples of each may: every creator reads the table that forgetting writes.
    pub(super) fn forgets(&self, sample: u32) -> bool {
        sample.is_multiple_of(grain::FORGET * self.shared.forget_each)
    }

    #[cold]
    #[inline(never)]
    fn run_inline_instrumented(&self, function: usize, body: impl FnOnce()) {
        let slice = OpenSlice::new();
        let _ends = self.instrument.begin_inlined(&slice, function);
        if self.separates_wide {
            self.tells_whether_wide(self.instrument.was_declared_wide(), function);
        }
        self.run_inline_timed(function, body);
    }

    /// Whether a new task of this function, with these accesses, could be inlined. If tasks of the
    /// function are short and wait for earlier tasks, the creator runs the earlier ones, which are
    /// short too; later tasks then find their data free.
    #[inline]
    pub(crate) fn is_free(
        &self,
        function: usize,
        parent: &Task,
        orderer: &Task,
        accesses: &[Access],
        on: Stack,
    ) -> bool {
        // SAFETY: the orderer's code is on this stack, and only this worker uses its table.
        let table = unsafe { self.table_of(orderer) };
        if Accesses::are_free(accesses, table, orderer.held_accesses()) {
            return true;
        }
        if !self.are_fine(function) || parent.children.unfinished() > WINDOW_BUSY {
            return false;
        }
        self.help(parent, Help { keep: 0, seeks: false, on });
        Accesses::are_free(accesses, table, orderer.held_accesses())
    }

    /// `Worker::is_free` for a creator that runs tasks on its own stack.
    ///
    /// # Safety
    /// This worker runs the code of `orderer`, of which `parent` counts the children.
    pub unsafe fn is_free_here(
        &self,
        function: usize,
        parent: &Task,
        orderer: &Task,
        accesses: &[Access],
    ) -> bool {
        self.is_free(function, parent, orderer, accesses, Stack::Own)
    }

    /// Adds a new task with accesses, which runs when all tasks of the same `orderer` that conflict
    /// have ended. The `orderer` is the parent, or the task around the parent whose code this
    /// worker runs.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker; its block has room for the
    /// accesses at `place`, and is else whole.
    pub(crate) unsafe fn submit_after(
        &self,
        task: *mut Task,
        orderer: &Task,
        place: *mut Accesses,
        accesses: &[Access],
    ) {
        // SAFETY: the block has room for the accesses; only this worker runs the parent.
        unsafe {
            Accesses::write(place, task.cast(), accesses.iter().copied(), accesses.len(), 0);
            let parent = &*(*task).parent();
            if !self.submit(task, place, orderer) {
                self.keep_window(parent, Stack::Other);
            }
        }
    }

    /// Adds a new task whose accesses get a block of their own.
    ///
    /// Tasks are ordered with those of the same `orderer`, which is the parent, or the task around
    /// the parent whose code this worker runs. If the creator has too many children, some of them
    /// run on its own stack, which stands still until they end.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub unsafe fn submit_ordered(
        &self,
        task: *mut Task,
        orderer: &Task,
        accesses: impl ExactSizeIterator<Item = Access>,
    ) {
        // SAFETY: the task is whole; the parent is alive, though the task may be gone afterwards.
        unsafe {
            let parent = (*task).parent();
            if !self.queue_ordered(task, orderer, accesses) {
                self.keep_window(&*parent, Stack::Own);
            }
        }
    }

    /// [`Worker::submit_ordered`] with room for the accesses in the task's block.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker. At `room` are
    /// [`Access::bytes_of`] as many accesses, aligned to 8, which no thread uses until the block is
    /// freed.
    pub unsafe fn submit_ordered_in(
        &self,
        room: NonNull<u8>,
        task: *mut Task,
        orderer: &Task,
        accesses: impl ExactSizeIterator<Item = Access>,
    ) {
        let place = room.cast::<Accesses>().as_ptr();
        // SAFETY: the task is whole; the parent is alive, though the task may be gone afterwards.
        unsafe {
            let parent = (*task).parent();
            let number = accesses.len();
            Accesses::write(place, task.cast(), accesses, number, 0);
            if !self.submit(task, place, orderer) {
                self.keep_window(&*parent, Stack::Own);
            }
        }
    }

    /// [`Worker::submit_ordered`] for a creator that runs none of its children meanwhile, however
    /// many are unfinished. Returns whether the task is ready.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub unsafe fn queue_ordered(
        &self,
        task: *mut Task,
        orderer: &Task,
        accesses: impl ExactSizeIterator<Item = Access>,
    ) -> bool {
        // SAFETY: the task is alive, and in no queue.
        unsafe {
            let place = self.write_accesses(task, accesses.len(), accesses);
            self.submit(task, place, orderer)
        }
    }

    /// Writes the accesses of a task into a block of their own, which is freed with the task's.
    pub(super) unsafe fn write_accesses(
        &self,
        task: *const Task,
        number: usize,
        accesses: impl Iterator<Item = Access>,
    ) -> *const Accesses {
        let bytes = Accesses::bytes_of(number);
        let place = self.allocate(bytes).cast::<Accesses>().as_ptr();
        // SAFETY: the block has room for as many accesses, and lives as long as the task's.
        unsafe { Accesses::write(place, task.cast(), accesses, number, bytes) };
        place
    }

    /// Returns whether the task is ready. In either case the task may have run already.
    pub(super) unsafe fn submit(
        &self,
        task: *mut Task,
        place: *const Accesses,
        orderer: &Task,
    ) -> bool {
        // SAFETY: the task is whole, and only this worker runs the code of `orderer`.
        unsafe {
            (*task).accesses.set(place.cast_mut());
            if (*place).take_turns() {
                (*place).in_turn.set(Some((*task).queued.run));
                (*task).queued.run = run_in_turn;
            }
            let is_ready = (*place).add_to(self.table_of(orderer), orderer.held_accesses(), self);
            if is_ready {
                self.add_by_priority(task.cast());
            }
            is_ready
        }
    }

    /// The addresses that children of a task have accessed and may not be done with.
    ///
    /// # Safety
    /// This worker runs the code of `orderer`.
    #[must_use]
    pub unsafe fn addresses(&self, orderer: &Task) -> Vec<usize> {
        // SAFETY: this worker runs the code of `orderer`, and so alone uses its table.
        unsafe { self.table_of(orderer) }.addresses()
    }

    /// Whether a task with these accesses could run and end now.
    ///
    /// # Safety
    /// This worker runs the code of `orderer`.
    pub unsafe fn are_free(&self, orderer: &Task, accesses: &[Access]) -> bool {
        // SAFETY: this worker runs the code of `orderer`, and so alone uses its table.
        orderer.table.get().is_null() && orderer.held_accesses().is_none()
            || Accesses::are_free(
                accesses,
                unsafe { self.table_of(orderer) },
                orderer.held_accesses(),
            )
    }

    /// Keeps a creator from outrunning the workers: with too many unfinished children, the creator
    /// runs some of them, or lets other workers run them.
    #[inline]
    pub(super) fn keep_window(&self, parent: &Task, on: Stack) {
        self.created.set(self.created.get().wrapping_add(1));
        if self.created.get().is_multiple_of(WINDOW_CHECK) && self.shared.config.cutoff {
            let window = if self.all_are_busy() { WINDOW_BUSY } else { WINDOW };
            if parent.children.unfinished() > window {
                self.help(parent, Help { keep: window / 2, seeks: true, on });
            }
            if parent.children.unfinished() > WINDOW {
                self.let_others(parent, on);
            }
        }
    }

    /// Runs children beside the other workers until half a window is left. Gives up where no other
    /// worker runs a task: then the children wait for a later step of their creator.
    #[cold]
    fn let_others(&self, parent: &Task, on: Stack) {
        let keep = WINDOW / 2;
        let is_done = || parent.children.unfinished() <= keep;
        let (mut pause, mut nap) = (Pause::new(self.patience.get()), PAUSE_MIN);
        self.notify();
        while !is_done() {
            if self.scheduler().count_idle() + 1 >= self.shared.present.load(Ordering::Relaxed) {
                return;
            }
            if self.help(parent, Help { keep, seeks: true, on }) {
                (pause, nap) = (Pause::new(self.patience.get()), PAUSE_MIN);
            } else if !pause.lasts(is_done) {
                sleep(nap);
                nap = (nap * 2).min(PAUSE_MAX);
            }
        }
    }

    /// The table that orders the children of a task whose code this worker runs.
    ///
    /// # Safety
    /// No other reference to the table is in use.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the worker alone uses it, as the caller promises")]
    pub(super) unsafe fn table_of<'a>(&self, task: &'a Task) -> &'a mut Table {
        if task.table.get().is_null() {
            let table = self.tables.borrow_mut().pop();
            task.table.set(Box::into_raw(table.unwrap_or_else(|| Box::new(Table::new()))));
        }
        // SAFETY: the address came from `Box::into_raw`, and no other reference is in use.
        unsafe { &mut *task.table.get() }
    }

    /// Whether children of another task whose code is on this stack use data, or may use it: no
    /// table would order them with children of `parent`.
    pub(crate) fn is_used_elsewhere(&self, parent: *const Task, accesses: &[Access]) -> bool {
        self.is_elsewhere(parent, |table| table.uses(accesses), |all| all.leave_any(accesses))
    }

    #[inline]
    pub(super) fn is_elsewhere(
        &self,
        parent: *const Task,
        uses: impl Fn(&Table) -> bool,
        leave: impl Fn(&Accesses) -> bool,
    ) -> bool {
        let is_alone = |task: &Task| !task.is_root() || task.parent().is_null();
        // SAFETY: the task that runs is alive.
        if ptr::eq(self.current.get(), parent) && unsafe { parent.as_ref() }.is_none_or(is_alone) {
            return false;
        }
        self.is_around(parent, uses, leave)
    }

    /// `is_used_elsewhere` where code of other tasks is on this stack.
    #[cold]
    #[inline(never)]
    fn is_around(
        &self,
        parent: *const Task,
        uses: impl Fn(&Table) -> bool,
        leave: impl Fn(&Accesses) -> bool,
    ) -> bool {
        let mut at = self.current.get();
        let mut is_out = false;
        // SAFETY: the tasks from the one that runs up to the next that has a block are on this
        // stack, alive, and their tables are this worker's.
        unsafe {
            while let Some(task) = at.as_ref() {
                let table = task.table.get();
                if !ptr::eq(task, parent)
                    && (!table.is_null() && uses(&*table)
                        || task.held_accesses().is_some_and(&leave))
                {
                    return true;
                }
                if !task.is_root() {
                    return false;
                }
                if task.is_border() && !is_out {
                    // The border leads back to this worker; or another runtime's scope lies inside
                    // this one, and no code here knows which data that scope uses.
                    is_out = ptr::eq(task.inside(), ptr::from_ref(self).cast());
                    if !is_out {
                        return true;
                    }
                }
                at = task.parent();
            }
        }
        false
    }
}
