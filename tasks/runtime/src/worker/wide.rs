//! Workers of a runtime whose wide tasks have a queue of their own: see [`crate::class`].

use std::cell::Cell;

use super::Worker;
use crate::class::Places;
use crate::queued::Queued;
use crate::task::Task;

/// One look of this many at the worker's CPU also asks whether the set of CPUs has changed.
const POLL_EACH: u32 = 64;

/// Ready tasks, wide ones and those above the leaves, beyond which a creator runs each new task
/// inline; of wide tasks, as many wide ones.
const CROWD: usize = 4096;

/// The CPU of a worker, as far as the worker knows.
#[derive(Default)]
pub(super) struct Place {
    /// Its CPU at the last look, and the number of the set of CPUs at that time.
    at: Cell<Option<(usize, u32)>>,
    looks: Cell<u32>,
}

/// The CPU that this thread runs on now.
fn cpu() -> usize {
    // SAFETY: the call has no arguments, and changes nothing.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

impl Worker {
    fn places(&self) -> Option<&Places> {
        self.shared.places.as_ref()
    }

    /// Adds a task to those of its class.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    #[cold]
    pub(super) unsafe fn add_separated(&self, task: *mut Queued) {
        self.look_where();
        // SAFETY: the task is alive and in no queue; this thread is the leaf's worker.
        unsafe {
            let is_task = !Task::parent_of(&*task).is_null();
            let is_wide = |places: &&Places| {
                is_task && places.is_wide(Task::is_declared_wide(&*task), self.kind_of(task))
            };
            match self.places().filter(is_wide) {
                Some(places) => places.add(task, self.scheduler()),
                None => self.scheduler().add_in_turn(self.at(), task),
            }
        }
    }

    /// Takes a task of this leaf: wide ones first, if this worker may take them.
    #[cold]
    pub(super) fn take_separated(&self) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        self.take_wide_if(|_| true).or_else(|| unsafe { self.scheduler().take(self.at()) })
    }

    /// Takes a wide task that is wanted, if this worker may.
    pub(super) fn take_wide_if(&self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        let places = self.places()?;
        self.look_where();
        places.take_first(self.leaf, wanted)
    }

    /// Takes a wide task that has waited too long, on any CPU: the worker has found no other task.
    pub(super) fn take_waited_if(
        &self,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        self.places()?.take_last(wanted)
    }

    /// Whether a wide task is ready.
    pub(crate) fn has_wide(&self) -> bool {
        self.places().is_some_and(Places::has_any)
    }

    /// Sleeps until the worker is given a task, `stop` holds, or a wide task is ready.
    pub(super) fn sleep(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            match self.places() {
                Some(places) => places.sleep(self.leaf, self.scheduler(), stop),
                None => self.scheduler().wait(self.leaf, stop),
            }
        }
    }

    /// Ends the search for tasks: another worker is woken for wide ones that are left.
    pub(super) fn leaves_wide_ones(&self) {
        if let Some(places) = self.places() {
            places.goes_on(self.scheduler());
        }
    }

    /// Takes no tasks for a while, and so prefers none.
    pub(super) fn leaves_place(&self) {
        if let Some(places) = self.places() {
            self.place.at.set(None);
            places.leaves(self.leaf);
        }
    }

    /// Searches for tasks from here on: its CPU counts.
    pub(super) fn takes_place(&self) {
        if let Some(places) = self.places() {
            places.poll();
            self.place.at.set(None);
            self.look_where();
        }
    }

    /// Asks for the CPU of this thread: the kernel migrates threads, and the set may change.
    fn look_where(&self) {
        let Some(places) = self.places() else { return };
        self.place.looks.set(self.place.looks.get().wrapping_add(1));
        if self.place.looks.get().is_multiple_of(POLL_EACH) {
            places.poll();
        }
        let cpu = cpu();
        let at = Some((cpu, places.changes()));
        if self.place.at.replace(at) != at {
            places.refresh(self.leaf, cpu);
        }
    }

    /// Records why the task that begins is wide, if so, and whether its CPU is in the set.
    #[cold]
    pub(super) fn tells_whether_wide(&self, is_declared: bool, function: usize) {
        let why = |places: &Places| {
            Some((places.why_wide(is_declared, function)?, places.has(self.leaf, cpu())))
        };
        if let Some((why, is_there)) = self.places().and_then(why) {
            self.instrument.is_wide(why, is_there);
        }
    }

    /// Whether a creator on this worker should queue a wide task instead of inlining.
    pub fn avoids_wide(&self) -> bool {
        self.look_where();
        self.places().is_some_and(|places| !places.may_take(self.leaf)) && !self.has_crowd(true)
    }

    /// Whether a creator inlines a new task, where `runs` says so without regard to wide tasks. A
    /// wide task is not inlined where wide ones are avoided; another task that is worth moving is
    /// not while wide ones wait for this worker; any task is where too many wait.
    #[cold]
    pub(super) fn inlines_separated(&self, runs: bool, function: usize) -> bool {
        let Some(places) = self.places() else { return runs };
        let is_wide = places.are_wide(function);
        let is_placed = || match is_wide {
            true => !self.avoids_wide(),
            false => self.are_fine(function) || !places.has_any() || self.avoids_wide(),
        };
        runs && is_placed() || self.has_crowd(is_wide)
    }

    /// Whether enough tasks are ready for a creator to run its next ones, or its next wide ones,
    /// inline on any CPU.
    fn has_crowd(&self, of_wide: bool) -> bool {
        let wide = self.places().map_or(0, Places::len);
        let others = || if of_wide { 0 } else { self.scheduler().queued_above(self.at()) };
        self.shared.config.cutoff && wide + others() >= CROWD
    }

    /// Runs a task of a function, and learns from the registers whether the function is wide.
    pub(super) fn run_learning(&self, function: usize, run: impl FnOnce()) {
        let registers = self.places().and_then(|places| places.registers);
        let ran = self.ran.get();
        if let Some(registers) = registers {
            registers.clear();
        }
        run();
        if let (Some(places), Some(registers)) = (self.places(), registers) {
            // If another task ran meanwhile, the registers may be that task's.
            if self.ran.get() == ran {
                places.saw(function, registers.are_used());
            }
            registers.clear();
        }
    }
}
