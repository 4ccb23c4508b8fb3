//! Workers of a runtime whose wide tasks have a queue of their own: see [`crate::class`].

use std::cell::Cell;

use super::Worker;
use crate::class::WideTasks;
use crate::queued::Queued;
use crate::task::Task;

/// One look of this many at the worker's CPU also asks whether the set of CPUs has changed.
const POLL_EACH: u32 = 64;

/// Ready tasks, wide ones and those above the leaves, beyond which a creator runs each new task
/// inline; of wide tasks, as many wide ones.
const CROWD: usize = 4096;

/// The CPU of a worker, as far as the worker knows.
#[derive(Default)]
pub(super) struct LastCpu {
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
    fn wide_tasks(&self) -> Option<&WideTasks> {
        self.shared.wide_tasks.as_ref()
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
            let is_wide = |wide_tasks: &&WideTasks| {
                is_task
                    && wide_tasks.is_wide(Task::is_declared_wide(&*task), self.function_of(task))
            };
            match self.wide_tasks().filter(is_wide) {
                Some(wide_tasks) => wide_tasks.add(task, self.scheduler()),
                None => self.scheduler().add_by_priority(self.at(), task),
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
        let wide_tasks = self.wide_tasks()?;
        self.look_where();
        wide_tasks.take_first(self.leaf, wanted)
    }

    /// Takes a wide task that has waited too long, on any CPU: the worker has found no other task.
    pub(super) fn take_waited_if(
        &self,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        self.wide_tasks()?.take_last(wanted)
    }

    /// Whether a wide task is ready.
    pub(crate) fn has_wide(&self) -> bool {
        self.wide_tasks().is_some_and(WideTasks::has_any)
    }

    /// Sleeps until the worker is given a task, `stop` holds, or a wide task is ready.
    pub(super) fn sleep(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        // SAFETY: this thread is the leaf's worker.
        unsafe {
            match self.wide_tasks() {
                Some(wide_tasks) => wide_tasks.sleep(self.leaf, self.scheduler(), stop),
                None => self.scheduler().wait(self.leaf, stop),
            }
        }
    }

    /// Ends the search for tasks: another worker is woken for wide ones that are left.
    pub(super) fn leaves_wide_ones(&self) {
        if let Some(wide_tasks) = self.wide_tasks() {
            wide_tasks.goes_on(self.scheduler());
        }
    }

    /// Takes no tasks for a while, and so prefers none.
    pub(super) fn stops_searching(&self) {
        if let Some(wide_tasks) = self.wide_tasks() {
            self.last_cpu.at.set(None);
            wide_tasks.leaves(self.leaf);
        }
    }

    /// Searches for tasks from here on: its CPU counts.
    pub(super) fn starts_searching(&self) {
        if let Some(wide_tasks) = self.wide_tasks() {
            wide_tasks.poll();
            self.last_cpu.at.set(None);
            self.look_where();
        }
    }

    /// Asks for the CPU of this thread: the kernel migrates threads, and the set may change.
    fn look_where(&self) {
        let Some(wide_tasks) = self.wide_tasks() else { return };
        self.last_cpu.looks.set(self.last_cpu.looks.get().wrapping_add(1));
        if self.last_cpu.looks.get().is_multiple_of(POLL_EACH) {
            wide_tasks.poll();
        }
        let cpu = cpu();
        let at = Some((cpu, wide_tasks.changes()));
        if self.last_cpu.at.replace(at) != at {
            wide_tasks.refresh(self.leaf, cpu);
        }
    }

    /// Records why the task that begins is wide, if so, and whether its CPU is in the set.
    #[cold]
    pub(super) fn tells_whether_wide(&self, is_declared: bool, function: usize) {
        let why = |wide_tasks: &WideTasks| {
            Some((wide_tasks.why_wide(is_declared, function)?, wide_tasks.has(self.leaf, cpu())))
        };
        if let Some((why, is_there)) = self.wide_tasks().and_then(why) {
            self.instrument.is_wide(why, is_there);
        }
    }

    /// Whether a creator on this worker should queue a wide task instead of inlining.
    pub fn avoids_wide(&self) -> bool {
        self.look_where();
        self.wide_tasks().is_some_and(|wide_tasks| !wide_tasks.may_take(self.leaf))
            && !self.has_crowd(true)
    }

    /// Whether a creator inlines a new task, where `runs` says so without regard to wide tasks. A
    /// wide task is not inlined where wide ones are avoided; another task that is worth moving is
    /// not while wide ones wait for this worker; any task is where too many wait.
    #[cold]
    pub(super) fn inlines_separated(&self, runs: bool, function: usize) -> bool {
        let Some(wide_tasks) = self.wide_tasks() else { return runs };
        let is_wide = wide_tasks.are_wide(function);
        let is_placed = || match is_wide {
            true => !self.avoids_wide(),
            false => self.are_fine(function) || !wide_tasks.has_any() || self.avoids_wide(),
        };
        runs && is_placed() || self.has_crowd(is_wide)
    }

    /// Whether enough tasks are ready for a creator to run its next ones, or its next wide ones,
    /// inline on any CPU.
    fn has_crowd(&self, of_wide: bool) -> bool {
        let wide = self.wide_tasks().map_or(0, WideTasks::len);
        let others = || if of_wide { 0 } else { self.scheduler().queued_above(self.at()) };
        self.shared.config.cutoff && wide + others() >= CROWD
    }

    /// Runs a task of a function, and learns from the registers whether the function is wide.
    pub(super) fn run_learning(&self, function: usize, run: impl FnOnce()) {
        let registers = self.wide_tasks().and_then(|wide_tasks| wide_tasks.registers);
        let ran = self.ran.get();
        if let Some(registers) = registers {
            registers.clear();
        }
        run();
        if let (Some(wide_tasks), Some(registers)) = (self.wide_tasks(), registers) {
            // If another task ran meanwhile, the registers may be that task's.
            if self.ran.get() == ran {
                wide_tasks.saw(function, registers.are_used());
            }
            registers.clear();
        }
    }
}
