//! Creating tasks: which may run at once, which wait for others, and how many there are.

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
/// The same while no worker wants more to run.
const WINDOW_BUSY: i64 = 256;
/// How often it looks.
const WINDOW_CHECK: u32 = 64;
/// One of so many tasks that run at once is timed, while somebody is idle: to read the clock twice
/// may take longer than the task.
const SAMPLE_INLINED: u32 = 8;

/// Runs a task if it is its turn everywhere; else it is queued again when it may be.
pub(super) unsafe fn run_in_turn(queued: *mut Queued, runner: Runner<'_>) {
    let task = queued.cast::<Task>();
    // SAFETY: it was taken to be run, and has accesses, or this would not be what it runs.
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
    /// Runs a new task, which is called as a type is, before its creator goes on.
    #[inline]
    #[track_caller]
    pub(crate) fn run_inline<N>(&self, kind: usize, body: impl FnOnce()) {
        if self.instrument.is_on() {
            self.instrument.creates::<N>(kind);
        }
        self.run_inside(kind, body);
    }

    /// The same of a task that whoever watches knows by its kind.
    #[inline(always)]
    pub fn run_inside(&self, kind: usize, body: impl FnOnce()) {
        if self.instrument.is_on() {
            return self.run_inline_instrumented(kind, body);
        }
        self.run_sampled(kind, body);
    }

    /// The same where nobody watches.
    #[inline(always)]
    pub(crate) fn run_sampled(&self, kind: usize, body: impl FnOnce()) {
        self.ran.set(self.ran.get().wrapping_add(1));
        if !self.ran.get().is_multiple_of(SAMPLE_INLINED) || self.all_are_busy() {
            return body();
        }
        self.run_inline_timed(kind, body);
    }

    /// Somebody might have had it: is it still not worth that?
    #[inline(never)]
    fn run_inline_timed(&self, kind: usize, body: impl FnOnce()) {
        let begin = grain::cycles();
        body();
        let forgets = self.forgets(self.ran.get() / SAMPLE_INLINED);
        self.shared.grains.took(kind, grain::cycles() - begin, forgets);
    }

    /// Whether this sample may forget how long others took. The more workers there are, the fewer
    /// of each: all creators read what is known.
    pub(super) fn forgets(&self, sample: u32) -> bool {
        sample.is_multiple_of(grain::FORGET * self.shared.forget_each)
    }

    #[cold]
    #[inline(never)]
    fn run_inline_instrumented(&self, kind: usize, body: impl FnOnce()) {
        let slice = OpenSlice::new();
        let _ends = self.instrument.begin_inlined(&slice, kind);
        if self.separates_wide {
            self.tells_whether_wide(self.instrument.was_declared_wide(), kind);
        }
        self.run_inline_timed(kind, body);
    }

    /// Whether a new task of this kind, with these accesses, could be run at once. If its kind is
    /// fine and others are in its way, it waits for them: they are short, too, and what is created
    /// later will be free.
    #[inline]
    pub(crate) fn is_free(
        &self,
        kind: usize,
        parent: &Task,
        orderer: &Task,
        accesses: &[Access],
        on: Stack,
    ) -> bool {
        // SAFETY: the orderer's code is on this stack, and only this worker uses its table.
        let table = unsafe { self.table_of(orderer) };
        if Accesses::are_free(accesses, table, orderer.domain()) {
            return true;
        }
        if !self.are_fine(kind) || parent.children.unfinished() > WINDOW_BUSY {
            return false;
        }
        self.help(parent, Help { keep: 0, seeks: false, on });
        Accesses::are_free(accesses, table, orderer.domain())
    }

    /// The same for a creator that waits on its own stack.
    ///
    /// # Safety
    /// This worker runs the code of `orderer`, of which `parent` counts the children.
    pub unsafe fn is_free_here(
        &self,
        kind: usize,
        parent: &Task,
        orderer: &Task,
        accesses: &[Access],
    ) -> bool {
        self.is_free(kind, parent, orderer, accesses, Stack::Own)
    }

    /// Adds a new task with accesses, which runs when those that it conflicts with have ended, of
    /// the same `orderer`: the parent, or the task around it whose code this worker runs.
    ///
    /// # Safety
    /// As of [`Worker::add`]; its block has room for the accesses at `place`, and is else whole.
    pub(crate) unsafe fn submit_after(
        &self,
        task: *mut Task,
        orderer: &Task,
        place: *mut Accesses,
        accesses: &[Access],
    ) {
        // SAFETY: the caller's promise; only this worker runs the parent of a task that it creates.
        unsafe {
            Accesses::write(place, task.cast(), accesses.iter().copied(), accesses.len(), 0);
            let parent = &*(*task).parent();
            if !self.submit(task, place, orderer) {
                self.keep_window(parent, Stack::Other);
            }
        }
    }

    /// The same with accesses that were not there when the task's block was: they get one.
    ///
    /// Tasks are ordered with those of the same `orderer`, which is the parent, or the task around
    /// it whose code this worker runs. Where there are too many, the creator runs some of its
    /// children on its own stack, which stands still until they end.
    ///
    /// # Safety
    /// It is alive, in no queue, and any worker may run it.
    pub unsafe fn submit_ordered(
        &self,
        task: *mut Task,
        orderer: &Task,
        accesses: impl ExactSizeIterator<Item = Access>,
    ) {
        // SAFETY: the caller's promise; the parent is alive, though the task may be gone.
        unsafe {
            let parent = (*task).parent();
            if !self.queue_ordered(task, orderer, accesses) {
                self.keep_window(&*parent, Stack::Own);
            }
        }
    }

    /// The same with room for the accesses in the task's block.
    ///
    /// # Safety
    /// As of [`Worker::submit_ordered`]; at `room` there are [`Access::bytes_of`] so many, aligned
    /// to 8, and nobody uses them until the block is freed.
    pub unsafe fn submit_ordered_in(
        &self,
        room: NonNull<u8>,
        task: *mut Task,
        orderer: &Task,
        accesses: impl ExactSizeIterator<Item = Access>,
    ) {
        let place = room.cast::<Accesses>().as_ptr();
        // SAFETY: the caller's promise; the parent is alive, though the task may be gone.
        unsafe {
            let parent = (*task).parent();
            let number = accesses.len();
            Accesses::write(place, task.cast(), accesses, number, 0);
            if !self.submit(task, place, orderer) {
                self.keep_window(&*parent, Stack::Own);
            }
        }
    }

    /// The same for a creator that runs none of its children before it goes on, however many there
    /// are. Returns whether the task could run at once.
    ///
    /// # Safety
    /// It is alive, in no queue, and any worker may run it.
    pub unsafe fn queue_ordered(
        &self,
        task: *mut Task,
        orderer: &Task,
        accesses: impl ExactSizeIterator<Item = Access>,
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let place = self.write_accesses(task, accesses.len(), accesses);
            self.submit(task, place, orderer)
        }
    }

    /// Writes so many accesses of a task into a block of their own, which is freed with the task's.
    pub(super) unsafe fn write_accesses(
        &self,
        task: *const Task,
        number: usize,
        accesses: impl Iterator<Item = Access>,
    ) -> *const Accesses {
        let bytes = Accesses::bytes_of(number);
        let place = self.allocate(bytes).cast::<Accesses>().as_ptr();
        // SAFETY: the block has room for them; the caller's promise.
        unsafe { Accesses::write(place, task.cast(), accesses, number, bytes) };
        place
    }

    /// Returns whether it could run at once. In either case it may have run when this returns.
    pub(super) unsafe fn submit(
        &self,
        task: *mut Task,
        place: *const Accesses,
        orderer: &Task,
    ) -> bool {
        // SAFETY: the caller's promise; only this worker runs the code of `orderer`.
        unsafe {
            (*task).accesses.set(place.cast_mut());
            if (*place).take_turns() {
                (*place).in_turn.set(Some((*task).queued.run));
                (*task).queued.run = run_in_turn;
            }
            let is_ready = (*place).add_to(self.table_of(orderer), orderer.domain(), self);
            if is_ready {
                self.add_in_turn(task.cast());
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
        // SAFETY: the caller's promise.
        unsafe { self.table_of(orderer) }.addresses()
    }

    /// Whether a task with these accesses could run and end now.
    ///
    /// # Safety
    /// This worker runs the code of `orderer`.
    pub unsafe fn are_free(&self, orderer: &Task, accesses: &[Access]) -> bool {
        // SAFETY: the caller's promise.
        orderer.table.get().is_null() && orderer.domain().is_none()
            || Accesses::are_free(accesses, unsafe { self.table_of(orderer) }, orderer.domain())
    }

    /// Keeps a creator from outrunning the workers: with too many unfinished children it runs some,
    /// or lets others run them.
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

    /// Works with the others until half a window is left. Gives up where no other worker runs
    /// anything: then what its children wait for is still to come from their creator.
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

    /// Where the children of a task that this worker runs are ordered.
    ///
    /// # Safety
    /// No other reference to it is in use.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "the worker alone uses it, as the caller promises")]
    pub(super) unsafe fn table_of<'a>(&self, task: &'a Task) -> &'a mut Table {
        if task.table.get().is_null() {
            let table = self.tables.borrow_mut().pop();
            task.table.set(Box::into_raw(table.unwrap_or_else(|| Box::new(Table::new()))));
        }
        // SAFETY: it came from `Box::into_raw`; the caller's promise.
        unsafe { &mut *task.table.get() }
    }

    /// Whether children of another task whose code is on this stack use data, or may: nobody would
    /// order them with children of `parent`.
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

    /// The same where there are tasks around on this stack.
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
                    && (!table.is_null() && uses(&*table) || task.domain().is_some_and(&leave))
                {
                    return true;
                }
                if !task.is_root() {
                    return false;
                }
                if task.is_border() && !is_out {
                    // This worker's way out; or another runtime's scope is inside of this one, and
                    // nobody here knows what it uses.
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
