//! A worker: runs tasks on one thread, for one leaf.

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::children::Then;
use crate::memory::{Chunks, Depot};
use crate::pool::Shared;
use crate::ready::{Linked, Queued};
use crate::sync::{Ordering, spin_loop};
use crate::task::Task;
use crate::wait::{Fibre, Go, Leaver, Left, Waiting, thread_low};

/// Rounds in which a worker looks for tasks before it sleeps; each is twice as long as the last,
/// up to [`SPINS_MAX`]: about 20 us in all.
const ROUNDS: u32 = 14;
/// Steps of waiting between two rounds at most.
const SPINS_MAX: u32 = 128;

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// What belongs to one thread while it runs tasks.
///
/// Only that thread uses it, from whichever stack.
pub(crate) struct Worker {
    pub(crate) leaf: usize,
    pub(crate) shared: Arc<Shared>,
    chunks: Chunks,
    domain: usize,
    /// The task whose code runs.
    pub(crate) current: Cell<*const Task>,
    /// The parent of the tasks that finished last, and how many of them it has not been told.
    told: Cell<(*const Task, u32)>,
    /// The fibre that runs, if it is not the thread's own stack.
    leaver: Cell<*const Leaver>,
    /// Fibres with nothing on them.
    free: RefCell<Vec<Fibre>>,
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
        let low_of_thread = thread_low();
        Self {
            leaf,
            chunks: Chunks::new(shared.rules.memory),
            domain: shared.domain_of(leaf),
            shared,
            current: Cell::new(ptr::null()),
            told: Cell::new((ptr::null(), 0)),
            leaver: Cell::new(ptr::null()),
            free: RefCell::new(Vec::new()),
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

    fn depot(&self) -> &Depot {
        self.shared.depot(self.domain)
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
    pub(crate) unsafe fn add(&self, task: *mut Queued) {
        // SAFETY: this thread is the leaf's worker; the caller's promise.
        unsafe { self.shared.ready.add(self.leaf, task) }
    }

    /// Adds a new task of the task that runs, or runs it at once where queues are full.
    ///
    /// # Safety
    /// As of [`Worker::add`].
    pub(crate) unsafe fn submit(&self, task: *mut Queued) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.shared.ready.is_full(self.leaf) && !self.is_low() {
                ((*task).run)(task, self);
            } else {
                self.add(task);
            }
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

    fn take(&self) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.shared.ready.take(self.leaf) }
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
            if (*task).children.end() {
                self.complete(task);
            }
        }
    }

    /// A task and all its children have ended: the block is free, the parent will be told.
    unsafe fn complete(&self, task: *const Task) {
        let mut task = task;
        loop {
            // SAFETY: a task that is complete belongs to whoever completes it; its parent is
            // alive as long as it was not told of it.
            let told = unsafe {
                let parent = (*task).queued.parent;
                let (block, bytes) = ((*task).block(), (*task).bytes as usize);
                self.free(block, bytes);
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
                Then::Nothing => None,
                Then::Complete => Some(parent),
                Then::Wake => {
                    self.shared.resume((*parent).children.waiting());
                    None
                }
            }
        }
    }

    /// What this worker finished of the children of a task that it runs itself.
    fn settle(&self, task: &Task) {
        let (parent, number) = self.told.get();
        if ptr::eq(parent, task) {
            task.children.count(-i64::from(number));
            self.told.set((ptr::null(), 0));
        }
    }

    // --- Waiting
    // ----------------------------------------------------------------------------------

    /// Waits until all children of a task that this worker runs are finished.
    pub(crate) fn wait_for_children(&self, task: &Task) {
        loop {
            self.settle(task);
            if task.children.are_finished() {
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
        if task.children.wait(&waiting) {
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

impl Drop for Worker {
    fn drop(&mut self) {
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
