//! A worker: runs tasks on one thread, for one leaf.

mod create;
mod finish;
mod gate;
mod held;
mod help;
mod kinds;
mod last;
mod pause;
mod regions;
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

/// How long a worker looks for tasks before it sleeps, where nobody says.
const PATIENCE: Patience = Patience::of(Duration::from_micros(20));
/// It sleeps without looking again.
const NONE: Patience = Patience::of(Duration::ZERO);

/// How long a worker leaves the CPU to others, before it looks again what became of their tasks.
const PAUSE_MIN: Duration = Duration::from_micros(20);
/// As above, at most.
const PAUSE_MAX: Duration = Duration::from_millis(1);
/// One of so many tasks is timed.
const SAMPLE: u32 = 16;

thread_local! {
    static CURRENT: Cell<*const Worker> = const { Cell::new(ptr::null()) };
}

/// What belongs to one thread while it runs tasks.
///
/// Only that thread uses it, from whichever stack.
pub struct Worker {
    pub(crate) leaf: usize,
    pub(crate) shared: Arc<Shared>,
    /// What is used with every task, found without a look through `shared`, which owns it.
    at: *const Leaf,
    depot: *const Depot,
    gate: Gate,
    pub(crate) chunks: Chunks,
    /// The task whose code runs.
    pub(crate) current: Cell<*const Task>,
    /// The parent of the tasks that finished last, and how many of them it has not been told.
    unnotified: Cell<(*const Task, u32)>,
    /// The fibre that runs, if it is not the thread's own stack.
    leaver: Cell<*const Leaver>,
    /// Empty tables, for tasks whose children have accesses.
    #[expect(clippy::vec_box, reason = "a task keeps the address")]
    tables: RefCell<Vec<Box<Table>>>,
    /// Tasks whose code runs here, and that have events.
    pub(crate) held: RefCell<Vec<(*const Task, *const Held)>>,
    /// Fibres with nothing on them.
    free: RefCell<Vec<Fibre>>,
    /// Tasks that were taken from a queue and run.
    ran: Cell<u32>,
    /// Tasks that were created and could not run at once.
    created: Cell<u32>,
    /// Who waits on the thread's own stack, so that others must be run on fibres; null if nobody.
    hosts: Cell<*const Waiting>,
    /// Fibres on which tasks wait.
    left: Cell<usize>,
    /// Those that may be resumed, taken from the resume box.
    resumed: Cell<*mut Waiting>,
    /// Where the stack that runs gets low.
    low: Cell<usize>,
    /// The task whose children are run here while its code stands still on the stack around.
    helps: Cell<*const Task>,
    /// Stacks around that stand still so.
    helped: Cell<u32>,
    /// Of so many tasks, a power of two, all but one are run without a look at the time. Where wide
    /// ones are kept apart each is looked at: to sample a pattern of two kinds would see one.
    untimed: u32,
    /// How long it looks for tasks before it sleeps.
    patience: Cell<Patience>,
    /// Whether wide tasks are kept apart from others.
    separates_wide: bool,
    place: wide::Place,
    /// Where it says what it does, if anybody watches.
    pub(crate) instrument: ThreadInstrument,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, leaf: usize) -> Self {
        shared.present.fetch_add(1, Ordering::Relaxed);
        let instrument = ThreadInstrument::of_thread(shared.watch.as_ref());
        let separates_wide = shared.places.is_some();
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
            place: wide::Place::default(),
            untimed: if instrument.is_on() || separates_wide { 0 } else { SAMPLE - 1 },
            instrument,
        }
    }

    /// The worker of this thread.
    pub(crate) fn current() -> Option<NonNull<Self>> {
        NonNull::new(CURRENT.get().cast_mut())
    }

    /// Of those that share a thread in the model, the one that goes on.
    #[cfg(evenkeel_model)]
    pub(crate) fn replace_current(worker: *const Self) -> *const Self {
        CURRENT.replace(worker)
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

    /// The worker that runs queued work.
    ///
    /// # Safety
    /// A worker passed the address to the work's function.
    #[inline(always)]
    pub unsafe fn of(runner: Runner<'_>) -> &Self {
        // SAFETY: it is the address of a worker.
        unsafe { runner.get() }
    }

    #[inline(always)]
    fn runner(&self) -> Runner<'_> {
        Runner::new(self)
    }

    #[inline]
    fn at(&self) -> &Leaf {
        // SAFETY: `shared` owns it.
        unsafe { &*self.at }
    }

    #[inline]
    fn scheduler(&self) -> &Scheduler {
        &self.shared.scheduler
    }

    #[inline]
    fn depot(&self) -> &Depot {
        // SAFETY: `shared` owns it.
        unsafe { &*self.depot }
    }

    /// Memory of at least so many bytes, aligned to 64, or to 128 if they are a multiple of that.
    #[inline]
    pub fn allocate(&self, bytes: usize) -> NonNull<u8> {
        let block = self.chunks.allocate(bytes, self.depot());
        #[cfg(evenkeel_model)]
        crate::sync::reads(block.as_ptr());
        block
    }

    /// Takes memory back.
    ///
    /// # Safety
    /// It was allocated with as many bytes, by a worker of the same team, and nobody uses it any
    /// more.
    #[inline]
    pub unsafe fn free(&self, block: NonNull<u8>, bytes: usize) {
        #[cfg(evenkeel_model)]
        crate::sync::writes(block.as_ptr());
        // SAFETY: the caller's promise.
        unsafe { self.chunks.free(block, bytes, self.depot()) }
    }

    /// Adds a task that is ready.
    ///
    /// # Safety
    /// It is alive, in no queue, and any worker may run it.
    #[inline]
    pub(crate) unsafe fn add(&self, task: *mut Queued) {
        #[cfg(evenkeel_model)]
        crate::sync::writes(task);
        if self.separates_wide {
            // SAFETY: the caller's promise.
            return unsafe { self.add_separated(task) };
        }
        // SAFETY: this thread is the leaf's worker; the caller's promise.
        unsafe { self.scheduler().add(self.at(), task) }
    }

    /// The same of a task that may have a priority.
    ///
    /// # Safety
    /// As of [`Worker::add`].
    #[inline]
    pub(crate) unsafe fn add_in_turn(&self, task: *mut Queued) {
        #[cfg(evenkeel_model)]
        crate::sync::writes(task);
        if self.separates_wide {
            // SAFETY: the caller's promise.
            return unsafe { self.add_separated(task) };
        }
        // SAFETY: this thread is the leaf's worker; the caller's promise.
        unsafe { self.scheduler().add_in_turn(self.at(), task) }
    }

    /// Takes back what was added last, if it still is the next to be run here.
    pub(crate) fn take_back(&self, task: *mut Queued) -> bool {
        // SAFETY: this thread is the leaf's worker.
        let Some(next) = (unsafe { self.scheduler().take(self.at()) }) else { return false };
        if ptr::eq(next, task) {
            return true;
        }
        // SAFETY: it was taken.
        unsafe { self.add_in_turn(next) };
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

    /// Takes a task that is elsewhere.
    pub(crate) fn seek(&self) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.scheduler().seek(self.leaf) }.or_else(|| self.take_waited_if(|_| true))
    }

    /// Runs a task that was taken.
    ///
    /// # Safety
    /// It was taken from a queue, or never was in one.
    #[inline]
    pub(crate) unsafe fn run(&self, task: *mut Queued) {
        #[cfg(evenkeel_model)]
        crate::sync::reads(task);
        // SAFETY: the caller's promise: a task that was not run is alive.
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

    /// The same, with a look at how long it takes.
    ///
    /// # Safety
    /// As of [`Worker::run`].
    #[inline(never)]
    unsafe fn run_timed(&self, task: *mut Queued) {
        // SAFETY: the caller's promise.
        unsafe {
            let (ran, kind, begin) = (self.ran.get(), self.kind_of(task), grain::cycles());
            match self.separates_wide {
                true => self.run_learning(kind, || ((*task).run)(task, self.runner())),
                false => ((*task).run)(task, self.runner()),
            }
            let cycles = grain::cycles() - begin;
            if !self.has_missed_turn(ran) {
                let forgets = ran.is_multiple_of(SAMPLE) && self.forgets(ran / SAMPLE);
                self.shared.grains.took(kind, cycles, forgets);
            }
        }
    }

    /// The same where somebody watches.
    ///
    /// # Safety
    /// As of [`Worker::run`].
    #[cold]
    unsafe fn run_instrumented(&self, task: *mut Queued) {
        let slice = OpenSlice::new();
        // SAFETY: the caller's promise.
        unsafe {
            let kind = self.kind_of(task);
            let ends = self.instrument.begin_task(&slice, kind, task.addr());
            if self.separates_wide {
                self.tells_whether_wide(Task::is_declared_wide(&*task), kind);
            }
            match self.separates_wide || self.ran.get().is_multiple_of(SAMPLE) {
                true => self.run_timed(task),
                false => ((*task).run)(task, self.runner()),
            }
            drop(ends);
        }
        self.instrument.sample(|| self.scheduler().level_and_queued());
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
                // SAFETY: it was taken.
                unsafe { self.run(task) };
            }
        }
        // Whoever goes on here may do so for long.
        self.notify();
    }

    /// Other code goes on here: nothing may lie where only this worker finds it.
    #[inline]
    fn hand_on(&self) {
        // SAFETY: this thread is the leaf's worker.
        unsafe { self.scheduler().hand_on(self.at()) };
    }

    /// Looks for a task, at last asleep, until `stop` holds.
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

    /// Says that the worker sleeps while this runs.
    fn asleep<R>(&self, sleep: impl FnOnce() -> R) -> R {
        let slice = OpenSlice::new();
        let _ends = self.instrument.begin(&slice, What::Sleeps, 0);
        sleep()
    }

    fn find(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        let scheduler = &self.shared.scheduler;
        // In a slot it looks by itself.
        let patience = if scheduler.has_slots() { NONE } else { self.patience.get() };
        scheduler.looks(self.leaf);
        loop {
            let mut pause = Pause::new(patience);
            self.takes_place();
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
            self.instrument.sample(|| scheduler.level_and_queued());
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
        self.leaves_place();
        self.shared.present.fetch_sub(1, Ordering::Relaxed);
        self.notify();
    }
}
