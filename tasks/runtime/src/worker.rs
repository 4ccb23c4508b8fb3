//! A worker: runs tasks on one thread, for one leaf.

mod create;
mod finish;
mod functions;
mod gate;
mod held;
mod help;
mod last;
mod pause;
mod ranges;
mod rest;
mod stacks;
mod team;
mod wide;

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

use gate::Gate;
pub(crate) use held::Held;
pub use pause::{Patience, Pause, comes_soon};
pub use team::Called;

use crate::access::Table;
use crate::grain;
use crate::instrument::{OpenSlice, ThreadInstrument, What};
use crate::memory::{Chunks, Depot};
use crate::queued::{Queued, Runner};
use crate::scheduler::{Leaf, Scheduler};
use crate::shared::Shared;
use crate::sync::Ordering;
use crate::task::Task;
use crate::wait::{Fibre, Leaver, Waiting, thread_low};

/// How long a worker searches for tasks before it parks, unless [`Worker::set_patience`] says
/// otherwise.
const PATIENCE: Patience = Patience::of(Duration::from_micros(20));
/// The worker parks without searching again.
const NONE: Patience = Patience::of(Duration::ZERO);

/// The first sleep of a worker that waits for tasks which other workers run. After each sleep the
/// worker checks whether its wait is over.
const PAUSE_MIN: Duration = Duration::from_micros(20);
/// The longest such sleep; each is twice as long as the one before.
const PAUSE_MAX: Duration = Duration::from_millis(1);
/// One task of this many is timed.
const SAMPLE: u32 = 16;

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// The state of one thread while it runs tasks of a runtime.
///
/// Only that thread uses its worker, from any of the thread's stacks.
pub struct Worker {
    pub(crate) leaf: usize,
    pub(crate) shared: Arc<Shared>,
    /// The leaf and the depot, which every task uses: addresses of parts of `shared`.
    at: *const Leaf,
    depot: *const Depot,
    gate: Gate,
    pub(crate) chunks: Chunks,
    /// The task whose code runs.
    pub(crate) current: Cell<*const Task>,
    /// The parent of the tasks that finished last, and how many of them its counter does not have.
    unnotified: Cell<(*const Task, u32)>,
    /// The running fibre; null on the thread's own stack.
    leaver: Cell<*const Leaver>,
    /// Empty tables, for tasks whose children have accesses.
    #[expect(clippy::vec_box, reason = "a task keeps the address")]
    tables: RefCell<Vec<Box<Table>>>,
    /// Tasks whose code runs here, and that have events.
    pub(crate) held: RefCell<Vec<(*const Task, *const Held)>>,
    /// Fibres without a task.
    free: RefCell<Vec<Fibre>>,
    /// Tasks that were taken from a queue and run.
    ran: Cell<u32>,
    /// Tasks that were created and waited for other tasks. Counts the looks at the creator's
    /// window.
    created: Cell<u32>,
    /// The task that waits on the thread's own stack, while other tasks run on fibres; null if
    /// none.
    hosts: Cell<*const Waiting>,
    /// Fibres on which tasks wait.
    left: Cell<usize>,
    /// Waiting tasks that may go on, taken from the resume list.
    resumed: Cell<*mut Waiting>,
    /// Below this address the running stack is low: see [`crate::wait`].
    low: Cell<usize>,
    /// The creator whose children this stack runs, while its own code stands still on another one.
    helps: Cell<*const Task>,
    /// Creators whose code stands still while another stack runs their children.
    helped: Cell<u32>,
    /// A mask: a task whose number has one of these bits runs without being timed. Where wide tasks
    /// are kept apart the mask is 0, since regular samples could all be of one function.
    untimed: u32,
    /// How long the worker searches for tasks before it parks.
    patience: Cell<Patience>,
    /// Whether wide tasks have a queue of their own.
    separates_wide: bool,
    last_cpu: wide::LastCpu,
    /// Records the worker's times, where the runtime has instrumentation.
    pub(crate) instrument: ThreadInstrument,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, leaf: usize) -> Self {
        shared.present.fetch_add(1, Ordering::Relaxed);
        let instrument = ThreadInstrument::of_thread(shared.watch.as_ref());
        let separates_wide = shared.wide_tasks.is_some();
        Self {
            leaf,
            chunks: Chunks::new(shared.config.memory),
            at: shared.scheduler.leaf(leaf),
            depot: shared.depot_of(leaf),
            gate: Gate::new(&shared, shared.scheduler.leaf(leaf)),
            shared,
            current: Cell::new(ptr::null()),
            unnotified: Cell::new((ptr::null(), 0)),
            leaver: Cell::new(ptr::null()),
            tables: RefCell::new(Vec::new()),
            held: RefCell::new(Vec::new()),
            free: RefCell::new(Vec::new()),
            ran: Cell::new(0),
            created: Cell::new(0),
            hosts: Cell::new(ptr::null()),
            left: Cell::new(0),
            resumed: Cell::new(ptr::null_mut()),
            low: Cell::new(thread_low()),
            helps: Cell::new(ptr::null()),
            helped: Cell::new(0),
            patience: Cell::new(PATIENCE),
            separates_wide,
            last_cpu: wide::LastCpu::default(),
            untimed: if instrument.is_on() || separates_wide { 0 } else { SAMPLE - 1 },
            instrument,
        }
    }

    /// The worker of this thread.
    pub(crate) fn current() -> Option<NonNull<Self>> {
        NonNull::new(CURRENT.get().cast_mut())
    }

    /// Makes another worker current; in the model several workers share a thread.
    #[cfg(evenkeel_model)]
    pub(crate) fn replace_current(worker: *const Self) -> *const Self {
        CURRENT.replace(worker)
    }

    /// Runs a closure with this worker as the current one of the thread.
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

    /// The worker that runs queued work.
    ///
    /// # Safety
    /// A worker passed the address to the work's function.
    #[inline(always)]
    pub unsafe fn of(runner: Runner<'_>) -> &Self {
        // SAFETY: a worker passed its own address to the work's function.
        unsafe { runner.get() }
    }

    #[inline(always)]
    fn runner(&self) -> Runner<'_> {
        Runner::new(self)
    }

    #[inline]
    fn at(&self) -> &Leaf {
        // SAFETY: `shared` owns the leaf, and lives as long as the worker.
        unsafe { &*self.at }
    }

    #[inline]
    fn scheduler(&self) -> &Scheduler {
        &self.shared.scheduler
    }

    #[inline]
    fn depot(&self) -> &Depot {
        // SAFETY: `shared` owns the depot, and lives as long as the worker.
        unsafe { &*self.depot }
    }

    /// Allocates at least `bytes` bytes, aligned to 64, or to 128 if `bytes` is a multiple of 128.
    #[inline]
    pub fn allocate(&self, bytes: usize) -> NonNull<u8> {
        let block = self.chunks.allocate(bytes, self.depot());
        #[cfg(evenkeel_model)]
        crate::sync::reads(block.as_ptr());
        block
    }

    /// Frees a block.
    ///
    /// # Safety
    /// A worker of the same runtime allocated the block with as many bytes, and no thread uses the
    /// block any more.
    #[inline]
    pub unsafe fn free(&self, block: NonNull<u8>, bytes: usize) {
        #[cfg(evenkeel_model)]
        crate::sync::writes(block.as_ptr());
        // SAFETY: the block has this size, and no thread uses it.
        unsafe { self.chunks.free(block, bytes, self.depot()) }
    }

    /// Adds a task that is ready.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    #[inline]
    pub(crate) unsafe fn add(&self, task: *mut Queued) {
        #[cfg(evenkeel_model)]
        crate::sync::writes(task);
        if self.separates_wide {
            // SAFETY: the task is alive and in no queue.
            return unsafe { self.add_separated(task) };
        }
        // SAFETY: this thread is the leaf's worker, and the task is in no queue.
        unsafe { self.scheduler().add(self.at(), task) }
    }

    /// Adds a task that is ready, and that may have a priority.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    #[inline]
    pub(crate) unsafe fn add_by_priority(&self, task: *mut Queued) {
        #[cfg(evenkeel_model)]
        crate::sync::writes(task);
        if self.separates_wide {
            // SAFETY: the task is alive and in no queue.
            return unsafe { self.add_separated(task) };
        }
        // SAFETY: this thread is the leaf's worker, and the task is in no queue.
        unsafe { self.scheduler().add_by_priority(self.at(), task) }
    }

    /// Takes back the task that was added last, if this worker would run it next.
    pub(crate) fn take_back(&self, task: *mut Queued) -> bool {
        // SAFETY: this thread is the leaf's worker.
        let Some(next) = (unsafe { self.scheduler().take(self.at()) }) else { return false };
        if ptr::eq(next, task) {
            return true;
        }
        // SAFETY: `next` was taken from a queue, and so is in none.
        unsafe { self.add_by_priority(next) };
        false
    }

    #[inline]
    pub(crate) fn take(&self) -> Option<*mut Queued> {
        if self.separates_wide {
            return self.take_separated();
        }
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.scheduler().take(self.at()) }
    }

    /// Steals a task, or takes a wide one that no preferring worker took in time.
    pub(crate) fn seek(&self) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.scheduler().seek(self.leaf) }.or_else(|| self.take_waited_if(|_| true))
    }

    /// Runs a task that was taken.
    ///
    /// # Safety
    /// The task is alive, in no queue, and is run once.
    #[inline]
    pub(crate) unsafe fn run(&self, task: *mut Queued) {
        #[cfg(evenkeel_model)]
        crate::sync::reads(task);
        // SAFETY: a task that was not run is alive.
        unsafe {
            let pending = self.unnotified.get();
            if pending.1 > 0 && pending.0 != Task::parent_of(&*task) {
                self.notify();
            }
            self.ran.set(self.ran.get().wrapping_add(1));
            if self.ran.get() & self.untimed != 0 {
                return ((*task).run)(task, self.runner());
            }
            if self.instrument.is_on() {
                return self.run_instrumented(task);
            }
            self.run_timed(task);
        }
    }

    /// Runs a task that was taken, and measures its length.
    ///
    /// # Safety
    /// The task is alive, in no queue, and is run once.
    #[inline(never)]
    unsafe fn run_timed(&self, task: *mut Queued) {
        // SAFETY: a task that was not run is alive.
        unsafe {
            let (ran, function, begin) = (self.ran.get(), self.function_of(task), grain::cycles());
            match self.separates_wide {
                true => self.run_learning(function, || ((*task).run)(task, self.runner())),
                false => ((*task).run)(task, self.runner()),
            }
            let cycles = grain::cycles() - begin;
            if !self.has_missed_turn(ran) {
                let forgets = ran.is_multiple_of(SAMPLE) && self.forgets(ran / SAMPLE);
                self.shared.grains.took(function, cycles, forgets);
            }
        }
    }

    /// Runs a task that was taken, and records its slice.
    ///
    /// # Safety
    /// The task is alive, in no queue, and is run once.
    #[cold]
    unsafe fn run_instrumented(&self, task: *mut Queued) {
        let slice = OpenSlice::new();
        // SAFETY: a task that was not run is alive.
        unsafe {
            let function = self.function_of(task);
            let ends = self.instrument.begin_task(&slice, function, task.addr());
            if self.separates_wide {
                self.tells_whether_wide(Task::is_declared_wide(&*task), function);
            }
            match self.separates_wide || self.ran.get().is_multiple_of(SAMPLE) {
                true => self.run_timed(task),
                false => ((*task).run)(task, self.runner()),
            }
            drop(ends);
        }
        self.instrument.sample(|| self.scheduler().threshold_and_queued());
    }

    /// The life of a worker's thread.
    pub(crate) fn work(&self) {
        self.instrument.begins_to_serve();
        while !self.stops() {
            self.run_until(|| self.has_resumed() || !self.works());
            self.go_on();
            if self.rests() {
                self.rest();
            }
        }
        self.instrument.exits();
    }

    /// Runs tasks until `stop` holds.
    fn run_until(&self, stop: impl Fn() -> bool) {
        while !stop() {
            if let Some(task) = self.take().or_else(|| self.look(&stop)) {
                // SAFETY: the task was taken from a queue just now.
                unsafe { self.run(task) };
            }
        }
        // The caller's code goes on now, and may run for long.
        self.notify();
    }

    /// Other code goes on here: a task that only this worker finds goes to the queue.
    #[inline]
    fn hand_on(&self) {
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.scheduler().hand_on(self.at()) };
    }

    /// Searches for a task, at last parked, until `stop` holds.
    #[cold]
    fn look(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        self.notify_parents();
        let slice = OpenSlice::new();
        let _ends = self.instrument.begin(&slice, What::Looks, 0);
        if !self.separates_wide
            // SAFETY: this thread is the leaf's worker.
            && let Some(found) = unsafe { self.scheduler().try_steal_once(self.leaf) }
        {
            return Some(found);
        }
        self.scheduler().set_idle(self.at());
        let found = self.find(stop);
        self.leaves_wide_ones();
        self.scheduler().set_busy(self.at());
        found
    }

    /// Records that the worker sleeps while a closure runs.
    fn asleep<R>(&self, sleep: impl FnOnce() -> R) -> R {
        let slice = OpenSlice::new();
        let _ends = self.instrument.begin(&slice, What::Sleeps, 0);
        sleep()
    }

    fn find(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        let scheduler = &self.shared.scheduler;
        // A worker that waits in a polling slot searches there.
        let patience = if scheduler.has_slots() { NONE } else { self.patience.get() };
        scheduler.looks(self.leaf);
        loop {
            let mut pause = Pause::new(patience);
            self.starts_searching();
            loop {
                if stop() {
                    scheduler.gives_up(self.leaf);
                    return None;
                }
                let found = self.take().or_else(|| self.seek());
                if found.is_some() {
                    scheduler.found(self.leaf);
                    return found;
                }
                if !pause.lasts(stop) {
                    break;
                }
            }
            scheduler.falls_asleep(self.at());
            let is_last = scheduler.count_asleep() == self.shared.present.load(Ordering::Relaxed);
            let found = if is_last { self.is_last(stop) } else { None };
            self.instrument.sample(|| scheduler.threshold_and_queued());
            let given = found.or_else(|| self.asleep(|| self.sleep(stop)));
            scheduler.wakes_up(self.at());
            if given.is_some() {
                scheduler.found(self.leaf);
                return given;
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stops_searching();
        self.shared.present.fetch_sub(1, Ordering::Relaxed);
        self.notify();
    }
}
