//! Which tasks have the queue of wide ones, and which workers take them.

mod why;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::learned::Learned;
use super::queue::WideQueue;
use super::set_file::SetFile;
use super::sleepers::Sleepers;
use super::{Placement, Registers, WideCpus};
use crate::queued::Queued;
use crate::scheduler::Scheduler;
use crate::sync::{AtomicU32, Instant, Ordering};
use crate::topology::CpuList;
pub use why::Why;

/// The time between two looks at the file.
const POLL: Duration = Duration::from_millis(10);

/// Everything about wide tasks of one runtime.
pub(crate) struct WideTasks {
    queue: WideQueue,
    learned: Learned,
    pub(crate) registers: Option<Registers>,
    cpus: RwLock<Cpus>,
    /// The number of the current set, which grows with each change.
    changes: AtomicU32,
    polled: Mutex<Option<(SetFile, Option<Instant>)>>,
    sleepers: Sleepers,
    wait: Duration,
    names: Vec<String>,
    /// Functions whose symbols were compared with `names`.
    named: RwLock<HashMap<usize, bool>>,
}

enum Cpus {
    Are(CpuList),
    Workers(Vec<usize>),
}

impl WideTasks {
    pub(crate) fn new(placement: Placement, leaves: usize) -> Self {
        let (cpus, file) = match placement.cpus {
            WideCpus::Cpus(list) => (Cpus::Are(list), None),
            WideCpus::File(path) => (Cpus::Are(CpuList::default()), Some(SetFile::new(path))),
            WideCpus::Workers(workers) => (Cpus::Workers(workers), None),
        };
        let wide_tasks = Self {
            queue: WideQueue::new(),
            learned: Learned::new(),
            registers: Registers::of_machine(),
            cpus: RwLock::new(cpus),
            changes: AtomicU32::new(0),
            polled: Mutex::new(file.map(|file| (file, None))),
            sleepers: Sleepers::new(leaves),
            wait: placement.wait,
            names: placement.functions,
            named: RwLock::new(HashMap::new()),
        };
        // The first tasks may all run before a worker looks for one and reads the file.
        wide_tasks.poll();
        wide_tasks
    }

    /// Whether a task of a function is wide.
    pub(crate) fn is_wide(&self, is_declared: bool, function: usize) -> bool {
        is_declared || self.are_wide(function)
    }

    /// Whether tasks of a function are known to be wide.
    pub(crate) fn are_wide(&self, function: usize) -> bool {
        self.learned.are_wide(function) || !self.names.is_empty() && self.is_named(function)
    }

    fn is_named(&self, function: usize) -> bool {
        let known = self.named.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&is_wide) = known.get(&function) {
            return is_wide;
        }
        drop(known);
        let name = crate::symbols::name(function);
        super::environment::sees(&name);
        let is_wide = self.names.contains(&name);
        let mut known = self.named.write().unwrap_or_else(PoisonError::into_inner);
        *known.entry(function).or_insert(is_wide)
    }

    /// Records whether a task of a function used wide registers.
    pub(crate) fn saw(&self, function: usize, was_wide: bool) {
        self.learned.saw(function, was_wide);
    }

    /// Adds a wide task, and wakes a worker for the task.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub(crate) unsafe fn add(&self, task: *mut Queued, scheduler: &Scheduler) {
        // SAFETY: the task is alive and in no queue.
        let is_first = unsafe { self.queue.push(task) };
        self.sleepers.wake(scheduler, is_first);
    }

    /// Sleeps until the worker of a leaf is given another task, `stop` holds or a wide one is
    /// ready.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    pub(crate) unsafe fn sleep(
        &self,
        leaf: usize,
        scheduler: &Scheduler,
        stop: impl Fn() -> bool,
    ) -> Option<*mut Queued> {
        if self.has_any() && !self.may_take(leaf) {
            // Since a worker was woken for the task, another may have come to prefer wide ones.
            self.sleepers.wake(scheduler, false);
        }
        let is_told = || {
            self.sleepers.sleeps(leaf);
            stop() || self.has_any()
        };
        // SAFETY: this thread is the leaf's worker.
        let given = unsafe { scheduler.wait(leaf, is_told) };
        self.sleepers.wakes(leaf);
        given
    }

    /// A worker that was awake goes on to other work: another one is woken for the wide tasks that
    /// are left.
    pub(crate) fn goes_on(&self, scheduler: &Scheduler) {
        if self.has_any() {
            self.sleepers.wake(scheduler, true);
        }
    }

    /// Ready wide tasks, counted without the lock.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether a wide task is ready.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.queue.has_any()
    }

    /// Whether the worker of a leaf prefers wide tasks, or no worker does.
    #[inline]
    pub(crate) fn may_take(&self, leaf: usize) -> bool {
        self.sleepers.may_take(leaf)
    }

    /// Takes a wide task that is wanted, before any other task, if the leaf's worker may.
    pub(crate) fn take_first(
        &self,
        leaf: usize,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        if !self.has_any() || !self.may_take(leaf) {
            return None;
        }
        self.queue.take(Duration::ZERO, wanted)
    }

    /// Takes a wide task that is wanted and has waited too long, for a worker without other tasks.
    pub(crate) fn take_last(&self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        self.queue.take(self.wait, wanted)
    }

    /// Updates whether the worker of a leaf, which runs on a CPU now, prefers wide tasks.
    pub(crate) fn refresh(&self, leaf: usize, cpu: usize) {
        self.sleepers.set(leaf, self.has(leaf, cpu));
    }

    /// Whether wide tasks are to run on the worker of a leaf, which runs on a CPU now.
    pub(crate) fn has(&self, leaf: usize, cpu: usize) -> bool {
        match &*self.cpus.read().unwrap_or_else(PoisonError::into_inner) {
            Cpus::Are(list) => list.contains(cpu),
            Cpus::Workers(workers) => workers.contains(&leaf),
        }
    }

    /// A worker takes no task any more, until its next `refresh`.
    pub(crate) fn leaves(&self, leaf: usize) {
        self.sleepers.set(leaf, false);
    }

    #[cfg(all(test, not(any(loom, evenkeel_model))))]
    pub(super) fn sleepers(&self) -> &Sleepers {
        &self.sleepers
    }

    /// The number of the current set of CPUs.
    #[inline]
    pub(crate) fn changes(&self) -> u32 {
        self.changes.load(Ordering::Acquire)
    }

    /// Reads the file, if that is due and no other worker does.
    pub(crate) fn poll(&self) {
        let Ok(mut polled) = self.polled.try_lock() else { return };
        let Some((file, last)) = &mut *polled else { return };
        if last.is_some_and(|last| last.elapsed() < POLL) {
            return;
        }
        *last = Some(Instant::now());
        if let Some(list) = file.changed() {
            self.are_now(list);
        }
    }

    /// Sets the CPUs on which wide tasks are to run.
    pub(super) fn are_now(&self, cpus: CpuList) {
        *self.cpus.write().unwrap_or_else(PoisonError::into_inner) = Cpus::Are(cpus);
        // Pairs with `changes`: a worker that sees the new number finds the new set.
        self.changes.fetch_add(1, Ordering::Release);
    }
}
