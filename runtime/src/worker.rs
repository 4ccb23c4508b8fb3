//! A worker: runs tasks on one thread, for one leaf.

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

use crate::access::{Access, Accesses, Table, Then};
use crate::children;
use crate::memory::{Chunks, Depot};
use crate::pool::Shared;
use crate::ready::{Leaf, Linked, Queued, Tree};
use crate::sync::{Ordering, spin_loop};
use crate::task::Task;
use crate::wait::{Fibre, Go, Leaver, Left, Waiting, thread_low};

/// Rounds in which a worker looks for tasks before it sleeps; each is twice as long as the last,
/// up to [`SPINS_MAX`]: about 20 us in all.
const ROUNDS: u32 = 14;
/// Steps of waiting between two rounds at most.
const SPINS_MAX: u32 = 128;

/// Tasks of a queue that others find; a join adds no more.
const ENOUGH: usize = 8;
/// Unfinished children beyond which a creator helps to run them.
const WINDOW: i64 = 4096;
/// The same while no worker wants more to run.
const WINDOW_BUSY: i64 = 256;
/// How often it looks.
const WINDOW_CHECK: u32 = 64;
/// How long it leaves the CPU to others that run them.
const PAUSE_MIN: Duration = Duration::from_micros(20);
/// As above, at most.
const PAUSE_MAX: Duration = Duration::from_millis(1);

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// What belongs to one thread while it runs tasks.
///
/// Only that thread uses it, from whichever stack.
pub(crate) struct Worker {
    pub(crate) leaf: usize,
    pub(crate) shared: Arc<Shared>,
    /// What is used with every task, found without a look through `shared`, which owns it.
    at: *const Leaf,
    depot: *const Depot,
    chunks: Chunks,
    /// The task whose code runs.
    pub(crate) current: Cell<*const Task>,
    /// The parent of the tasks that finished last, and how many of them it has not been told.
    told: Cell<(*const Task, u32)>,
    /// The fibre that runs, if it is not the thread's own stack.
    leaver: Cell<*const Leaver>,
    /// Empty tables, for tasks whose children have accesses.
    #[expect(clippy::vec_box, reason = "a task keeps the address")]
    tables: RefCell<Vec<Box<Table>>>,
    /// Fibres with nothing on them.
    free: RefCell<Vec<Fibre>>,
    /// Tasks that were created and could not run at once.
    created: Cell<u32>,
    /// Whether a task waits on the thread's own stack, so that others must be run on fibres.
    hosts: Cell<bool>,
    /// Fibres on which tasks wait.
    left: Cell<usize>,
    /// Those that may be resumed, taken from the resume box.
    resumed: Cell<*mut Waiting>,
    /// Where the stack that runs gets low.
    low: Cell<usize>,
    low_of_thread: usize,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, leaf: usize) -> Self {
        shared.present.fetch_add(1, Ordering::Relaxed);
        let low_of_thread = thread_low();
        Self {
            leaf,
            chunks: Chunks::new(shared.rules.memory),
            at: shared.ready.leaf(leaf),
            depot: shared.depot_of(leaf),
            shared,
            current: Cell::new(ptr::null()),
            told: Cell::new((ptr::null(), 0)),
            leaver: Cell::new(ptr::null()),
            tables: RefCell::new(Vec::new()),
            free: RefCell::new(Vec::new()),
            created: Cell::new(0),
            hosts: Cell::new(false),
            left: Cell::new(0),
            resumed: Cell::new(ptr::null_mut()),
            low: Cell::new(low_of_thread),
            low_of_thread,
        }
    }

    /// The worker of this thread.
    pub(crate) fn current() -> Option<NonNull<Self>> {
        NonNull::new(CURRENT.get().cast_mut())
    }

    /// Makes it the worker of this thread for the time of a call.
    pub(crate) fn enter<R>(&self, run: impl FnOnce() -> R) -> R {
        struct Restore(*const Worker);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _restore = Restore(CURRENT.replace(self));
        run()
    }

    #[inline]
    fn at(&self) -> &Leaf {
        // SAFETY: `shared` owns it.
        unsafe { &*self.at }
    }

    #[inline]
    fn ready(&self) -> &Tree {
        &self.shared.ready
    }

    #[inline]
    fn depot(&self) -> &Depot {
        // SAFETY: `shared` owns it.
        unsafe { &*self.depot }
    }

    pub(crate) fn allocate(&self, bytes: usize) -> NonNull<u8> {
        self.chunks.allocate(bytes, self.depot())
    }

    /// # Safety
    /// As of [`Chunks::free`].
    pub(crate) unsafe fn free(&self, block: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.chunks.free(block, bytes, self.depot()) }
    }

    /// Adds a task that is ready.
    ///
    /// # Safety
    /// It is alive, in no queue, and any worker may run it.
    #[inline]
    pub(crate) unsafe fn add(&self, task: *mut Queued) {
        // SAFETY: this thread is the leaf's worker; the caller's promise.
        unsafe { self.ready().add(self.at(), task) }
    }

    /// Whether a new task may be run before its creator goes on: the queue is full.
    #[inline]
    pub(crate) fn may_run_at_once(&self) -> bool {
        self.ready().is_full(self.at()) && self.all_are_busy() && !self.is_low()
    }

    /// Whether there is enough for others to take, so that a join may do without.
    #[inline]
    pub(crate) fn has_enough(&self) -> bool {
        self.ready().has(self.at(), ENOUGH) && self.shared.rules.cutoff && self.all_are_busy()
    }

    fn all_are_busy(&self) -> bool {
        self.shared.idle.load(Ordering::Relaxed) == 0
    }

    /// Adds a new task with accesses, which runs when those that it conflicts with have ended.
    ///
    /// # Safety
    /// As of [`Worker::add`]; its block has room for [`Accesses`] at `place` and is otherwise whole.
    pub(crate) unsafe fn submit_after(
        &self,
        task: *mut Task,
        place: *mut Accesses,
        accesses: &[Access],
    ) {
        // SAFETY: the caller's promise; only this worker runs the parent of a task that it creates.
        unsafe {
            let table = self.table_of(&*(*task).queued.parent);
            if self.may_run_at_once() && Accesses::are_free(accesses, table) {
                return ((*task).queued.run)(task.cast(), self);
            }
            let number = u32::try_from(accesses.len()).expect("fewer accesses than bytes");
            place.write(Accesses::new(task, accesses.as_ptr(), number));
            (*task).accesses.set(place);
            if (*place).add_to(table, self) {
                self.add(task.cast());
            } else {
                self.keep_window(&*(*task).queued.parent);
            }
        }
    }

    /// Keeps a creator from outrunning the workers: with too many unfinished children it runs some,
    /// or lets others run them.
    #[inline]
    fn keep_window(&self, parent: &Task) {
        self.created.set(self.created.get().wrapping_add(1));
        if self.created.get().is_multiple_of(WINDOW_CHECK) && self.shared.rules.cutoff {
            let window = if self.all_are_busy() { WINDOW_BUSY } else { WINDOW };
            if parent.children.unfinished() > window {
                self.help(parent, window);
            }
        }
    }

    /// Runs children of a task until half a window is left. Gives up where no other worker runs
    /// anything: then what they wait for is still to come from their creator.
    #[cold]
    fn help(&self, parent: &Task, window: i64) {
        let mut pause = PAUSE_MIN;
        while parent.children.unfinished() > window / 2 {
            self.settle(parent);
            if let Some(next) = self.take() {
                // SAFETY: a task that was taken is alive, and any worker may run it.
                unsafe {
                    if ptr::eq((*next).parent, parent) && !self.is_low() {
                        self.run(next);
                        pause = PAUSE_MIN;
                        continue;
                    }
                    self.add(next);
                }
            }
            self.tell();
            let others_idle = self.shared.idle.load(Ordering::Relaxed) + 1;
            if window < WINDOW || others_idle >= self.shared.present.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Takes back what was added last, if it still is the next to be run here.
    pub(crate) fn take_back(&self, task: *mut Queued) -> bool {
        let Some(next) = self.take() else { return false };
        if ptr::eq(next, task) {
            return true;
        }
        // SAFETY: it was taken.
        unsafe { self.add(next) };
        false
    }

    /// A thread from outside stops being a worker: what it has goes to the others, but stacks on
    /// which tasks wait can only be resumed here.
    pub(crate) fn leaves(&self) {
        loop {
            self.tell();
            // SAFETY: this thread is the leaf's worker.
            unsafe { self.shared.ready.disable(self.leaf) };
            if self.left.get() == 0 {
                return;
            }
            while !self.has_resumed() {
                self.shared.ready.leaf(self.leaf).parker.park();
            }
            self.go_on();
        }
    }

    #[inline]
    fn take(&self) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.ready().take(self.at()) }
    }

    /// Runs a task that was taken.
    ///
    /// # Safety
    /// It was taken from a queue, or never was in one.
    pub(crate) unsafe fn run(&self, task: *mut Queued) {
        // SAFETY: the caller's promise: a task that was not run is alive.
        unsafe {
            let told = self.told.get();
            if told.1 > 0 && told.0 != (*task).parent {
                self.tell();
            }
            ((*task).run)(task, self);
        }
    }

    // --- Completion
    // -------------------------------------------------------------------------------

    /// The code of a task has ended.
    ///
    /// # Safety
    /// The task was run by this worker, and is not used after this call.
    pub(crate) unsafe fn finish(&self, task: *const Task) {
        // SAFETY: the caller's promise.
        unsafe {
            self.settle(&*task);
            self.close_table(&*task);
            if (*task).children.end() {
                self.complete(task);
            }
        }
    }

    /// A task will create no more children.
    pub(crate) fn close_table(&self, task: &Task) {
        if let Some(table) = NonNull::new(task.table.replace(ptr::null_mut())) {
            // SAFETY: it came from `Box::into_raw`, and the task had it alone.
            let mut table = unsafe { Box::from_raw(table.as_ptr()) };
            table.close(self);
            self.tables.borrow_mut().push(table);
        }
    }

    /// Where the children of a task that this worker runs are ordered.
    ///
    /// # Safety
    /// No other reference to it is in use.
    #[expect(clippy::mut_from_ref, reason = "the worker alone uses it, as the caller promises")]
    unsafe fn table_of<'a>(&self, task: &'a Task) -> &'a mut Table {
        if task.table.get().is_null() {
            let table = self.tables.borrow_mut().pop();
            task.table.set(Box::into_raw(table.unwrap_or_else(|| Box::new(Table::new()))));
        }
        // SAFETY: it came from `Box::into_raw`; the caller's promise.
        unsafe { &mut *task.table.get() }
    }

    /// Whether children of another task whose code is on this stack use data: nobody would order them
    /// with children of `parent`.
    pub(crate) fn is_used_elsewhere(&self, parent: *const Task, accesses: &[Access]) -> bool {
        let mut at = self.current.get();
        // SAFETY: the tasks from the one that runs up to the next that has a block are on this
        // stack, alive, and their tables are this worker's.
        unsafe {
            while let Some(task) = at.as_ref() {
                let table = task.table.get();
                if !ptr::eq(task, parent) && !table.is_null() && (*table).uses(accesses) {
                    return true;
                }
                at = if task.bytes > 0 { ptr::null() } else { task.queued.parent };
            }
        }
        false
    }

    /// A task and all its children have ended: its successors may run, its block is free, its parent
    /// will be told.
    unsafe fn complete(&self, task: *const Task) {
        let mut task = task;
        loop {
            // SAFETY: a task that is complete belongs to whoever completes it; its parent is alive
            // as long as it was not told of it.
            let told = unsafe {
                let parent = (*task).queued.parent;
                let accesses = (*task).accesses.get();
                if accesses.is_null() || (*accesses).end(self) {
                    Then::free(self, task);
                }
                let told = self.told.get();
                if told.0 == parent {
                    self.told.set((parent, told.1 + 1));
                    return;
                }
                self.told.set((parent, 1));
                told
            };
            if told.1 == 0 {
                return;
            }
            // SAFETY: as above, of a parent that now is told.
            match unsafe { self.tell_one(told) } {
                Some(ended) => task = ended,
                None => return,
            }
        }
    }

    /// Tells the parent of the last finished tasks.
    pub(crate) fn tell(&self) {
        let told = self.told.replace((ptr::null(), 0));
        if told.1 > 0 {
            // SAFETY: a parent is alive until it has been told of all children.
            unsafe {
                if let Some(ended) = self.tell_one(told) {
                    self.complete(ended);
                    self.tell();
                }
            }
        }
    }

    /// Tells one parent; returns it if it is thereby complete.
    unsafe fn tell_one(&self, told: (*const Task, u32)) -> Option<*const Task> {
        let (parent, number) = told;
        // SAFETY: the parent is alive until it has been told; who is told to act is the only one.
        unsafe {
            match (*parent).children.finished(number) {
                children::Then::Nothing => None,
                children::Then::Complete => Some(parent),
                children::Then::Wake => {
                    self.shared.resume((*parent).waiting());
                    None
                }
            }
        }
    }

    /// What this worker finished of the children of a task that it runs itself.
    fn settle(&self, task: &Task) {
        let (parent, number) = self.told.get();
        if ptr::eq(parent, task) {
            task.children.finish_here(number);
            self.told.set((ptr::null(), 0));
        }
    }

    // --- Waiting
    // ----------------------------------------------------------------------------------

    /// Waits until no more than `keep` children of a task that this worker runs are unfinished.
    pub(crate) fn wait_for_children(&self, task: &Task, keep: u32) {
        loop {
            self.settle(task);
            if task.children.unfinished() <= i64::from(keep) {
                return;
            }
            let Some(next) = self.take() else { break };
            // SAFETY: a task that was taken is alive.
            if unsafe { ptr::eq((*next).parent, task) } && !self.is_low() {
                // SAFETY: it was taken.
                unsafe { self.run(next) };
            } else {
                // SAFETY: it was taken, and any worker may run it.
                unsafe { self.add(next) };
                break;
            }
        }
        let waiting = Waiting::on(self.leaf);
        task.waits(&waiting);
        if task.children.wait(keep) {
            self.block(&waiting);
            task.children.woke();
        }
    }

    /// Runs other tasks until somebody resumes `waiting`.
    pub(crate) fn block(&self, waiting: &Waiting) {
        let current = self.current.get();
        let leaver = self.leaver.get();
        if leaver.is_null() {
            self.host(waiting);
        } else {
            let low = self.low.get();
            // SAFETY: a leaver is valid on its own fibre, and this is it.
            unsafe { (*leaver).suspend(Left::Waits(waiting)) };
            self.leaver.set(leaver);
            self.low.set(low);
        }
        self.current.set(current);
    }

    /// Whether the stack has no room for tasks that may wait in turn.
    fn is_low(&self) -> bool {
        stack_address() < self.low.get()
    }

    /// On the thread's own stack, which waits: resumes other stacks until it is its turn.
    fn host(&self, waiting: &Waiting) {
        let around = self.hosts.replace(true);
        while !waiting.may_go_on() {
            if let Some(resumed) = self.next_resumed() {
                // SAFETY: it was in the box.
                unsafe { self.go_back(resumed) };
                continue;
            }
            let free = self.free.borrow_mut().pop();
            match free.map_or_else(|| Fibre::new(self), Ok) {
                Ok(fibre) => self.go(fibre),
                // No memory for another stack: what runs now delays who waits below it.
                Err(_) => self.run_until(|| self.has_resumed()),
            }
        }
        self.hosts.set(around);
    }

    /// Goes to a fibre until it leaves.
    fn go(&self, mut fibre: Fibre) {
        self.low.set(fibre.low());
        let left = fibre.resume(Go::On);
        self.leaver.set(ptr::null());
        self.low.set(self.low_of_thread);
        match left {
            // SAFETY: who waits lies on the stack that was just left.
            // It may be in the resume box already; it is taken from there by this thread, later.
            Some(Left::Waits(waiting)) => unsafe {
                (*waiting).keep(fibre);
                self.left.set(self.left.get() + 1);
            },
            Some(Left::Free) => self.free.borrow_mut().push(fibre),
            None => {}
        }
    }

    /// Resumes a stack that was left.
    ///
    /// # Safety
    /// It was in the resume box of this leaf.
    unsafe fn go_back(&self, resumed: *const Waiting) {
        // SAFETY: who is resumed lies on a stack that was left, and is whole.
        if let Some(fibre) = unsafe { (*resumed).go_on() } {
            self.left.set(self.left.get() - 1);
            self.go(fibre);
        }
    }

    /// Resumes all that may be, with nothing waiting below on this stack.
    fn go_on(&self) {
        while let Some(resumed) = self.next_resumed() {
            // SAFETY: it was in the box.
            unsafe { self.go_back(resumed) };
        }
    }

    /// What a fibre does while nothing on it waits.
    pub(crate) fn on_fibre(&self, leaver: &Leaver) {
        self.leaver.set(leaver);
        self.run_until(|| self.has_resumed() || !self.hosts.get());
    }

    fn stops(&self) -> bool {
        self.shared.stops.load(Ordering::Relaxed)
    }

    fn has_resumed(&self) -> bool {
        !self.resumed.get().is_null() || !self.shared.resume_box(self.leaf).is_empty()
    }

    fn next_resumed(&self) -> Option<*const Waiting> {
        let mut first = self.resumed.get();
        if first.is_null() {
            first = self.shared.resume_box(self.leaf).take_all();
        }
        // SAFETY: who is in the box lies on a stack that is not resumed until it is taken from
        // here.
        self.resumed.set(unsafe { first.as_ref()? }.next().get());
        Some(first)
    }

    // --- The loop
    // ---------------------------------------------------------------------------------

    /// The life of a worker's thread.
    pub(crate) fn work(&self) {
        while !self.stops() {
            self.run_until(|| self.has_resumed() || self.stops());
            self.go_on();
        }
    }

    /// Runs tasks until `stop` holds.
    fn run_until(&self, stop: impl Fn() -> bool) {
        while !stop() {
            if let Some(task) = self.take().or_else(|| self.look(&stop)) {
                // SAFETY: it was taken.
                unsafe { self.run(task) };
            }
        }
    }

    /// Looks for a task, at last asleep, until `stop` holds.
    #[cold]
    fn look(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        self.tell();
        self.shared.idle.fetch_add(1, Ordering::Relaxed);
        let found = self.find(stop);
        self.shared.idle.fetch_sub(1, Ordering::Relaxed);
        found
    }

    fn find(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        let ready = &self.shared.ready;
        ready.looks();
        loop {
            let mut spins = 1;
            for _ in 0..ROUNDS {
                if stop() {
                    ready.gives_up(self.leaf);
                    return None;
                }
                // SAFETY: this thread is the leaf's worker.
                let found = self.take().or_else(|| unsafe { ready.seek(self.leaf) });
                if found.is_some() {
                    ready.found(self.leaf);
                    return found;
                }
                for _ in 0..spins {
                    spin_loop();
                }
                spins = (spins * 2).min(SPINS_MAX);
            }
            // SAFETY: this thread is the leaf's worker.
            let given = unsafe { ready.wait(self.leaf, stop) };
            if given.is_some() {
                ready.found(self.leaf);
                return given;
            }
        }
    }
}

impl Then for Worker {
    fn ready(&self, task: *const Task) {
        // SAFETY: nothing it waited for is left, and nobody else adds it.
        unsafe { self.add(task.cast_mut().cast()) }
    }

    fn free(&self, task: *const Task) {
        // SAFETY: nobody refers to the block any more.
        unsafe {
            let (block, bytes) = ((*task).block(), (*task).bytes as usize);
            Worker::free(self, block, bytes);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.present.fetch_sub(1, Ordering::Relaxed);
        self.tell();
        for mut fibre in self.free.take() {
            fibre.resume(Go::Away);
        }
    }
}

/// An address on the stack that runs.
#[inline(always)]
fn stack_address() -> usize {
    let here = 0_u8;
    ptr::from_ref(&here).addr()
}
