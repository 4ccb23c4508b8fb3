//! Who takes which wide task, and who is woken for one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::learned::Learned;
use super::queue::WideQueue;
use super::set_file::SetFile;
use super::{Placement, Registers, WideCpus};
use crate::ready::{Queued, Ready};
use crate::sync::{AtomicBool, AtomicUsize, Instant, Ordering};
use crate::task::Task;
use crate::topology::CpuList;

/// How often the file is looked at.
const POLL: Duration = Duration::from_millis(10);

/// Everything about wide tasks of one runtime.
pub(crate) struct Places {
    queue: WideQueue,
    learned: Learned,
    pub(crate) registers: Option<Registers>,
    cpus: RwLock<Cpus>,
    polled: Mutex<Option<(SetFile, Option<Instant>)>>,
    /// By leaf: whether its worker prefers wide tasks, and whether it sleeps.
    leaves: Box<[Leaf]>,
    preferring: AtomicUsize,
    wait: Duration,
    names: Vec<String>,
    /// Functions whose names were compared with those.
    named: RwLock<HashMap<usize, bool>>,
}

enum Cpus {
    Are(CpuList),
    Workers(Vec<usize>),
}

struct Leaf {
    prefers: AtomicBool,
    sleeps: AtomicBool,
}

impl Places {
    pub(crate) fn new(placement: Placement, leaves: usize) -> Self {
        let (cpus, file) = match placement.cpus {
            WideCpus::Cpus(list) => (Cpus::Are(list), None),
            WideCpus::File(path) => (Cpus::Are(CpuList::default()), Some(SetFile::new(path))),
            WideCpus::Workers(workers) => (Cpus::Workers(workers), None),
        };
        let leaf = |_| Leaf { prefers: AtomicBool::new(false), sleeps: AtomicBool::new(false) };
        Self {
            queue: WideQueue::new(),
            learned: Learned::new(),
            registers: Registers::of_machine(),
            cpus: RwLock::new(cpus),
            polled: Mutex::new(file.map(|file| (file, None))),
            leaves: (0..leaves).map(leaf).collect(),
            preferring: AtomicUsize::new(0),
            wait: placement.wait,
            names: placement.functions,
            named: RwLock::new(HashMap::new()),
        }
    }

    /// Whether a task of a function is one of those that are kept here.
    ///
    /// # Safety
    /// It is alive.
    pub(crate) unsafe fn is_wide(&self, task: *mut Queued, function: usize) -> bool {
        // SAFETY: the caller's promise; what has a parent is the head of a task.
        unsafe {
            !(*task).parent.is_null()
                && ((*task.cast::<Task>()).is_wide() || self.are_wide(function))
        }
    }

    /// Whether tasks of a function are wide, as far as is known.
    pub(crate) fn are_wide(&self, function: usize) -> bool {
        self.learned.are_wide(function) || !self.names.is_empty() && self.is_named(function)
    }

    fn is_named(&self, function: usize) -> bool {
        let known = self.named.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&is_wide) = known.get(&function) {
            return is_wide;
        }
        drop(known);
        let name = crate::seen::symbol(function);
        let is_wide = self.names.contains(&name);
        let mut known = self.named.write().unwrap_or_else(PoisonError::into_inner);
        *known.entry(function).or_insert(is_wide)
    }

    /// A task of a function did or did not use wide registers.
    pub(crate) fn saw(&self, function: usize, was_wide: bool) {
        self.learned.saw(function, was_wide);
    }

    /// Keeps a task, and wakes a worker for it: one that prefers it, or else any.
    ///
    /// # Safety
    /// It is alive, in no queue, and any worker may run it.
    pub(crate) unsafe fn add(&self, task: *mut Queued, ready: &Ready) {
        // SAFETY: the caller's promise.
        unsafe { self.queue.push(task) };
        // Pairs with `sleeps`: either the sleeper sees the task, or we see that it sleeps.
        let sleeping = |leaf: &&Leaf| leaf.sleeps.load(Ordering::SeqCst);
        let prefers = |leaf: &&Leaf| leaf.prefers.load(Ordering::Relaxed);
        let first = self.leaves.iter().position(|leaf| sleeping(&leaf) && prefers(&leaf));
        let woken = first.or_else(|| self.leaves.iter().position(|leaf| sleeping(&leaf)));
        if let Some(leaf) = woken {
            ready.leaf(leaf).parker.unpark();
        }
    }

    /// A worker goes to sleep, or wakes; while it sleeps it looks whether [`Places::has_any`].
    pub(crate) fn sleeps(&self, leaf: usize, sleeps: bool) {
        self.leaves[leaf].sleeps.store(sleeps, Ordering::SeqCst);
    }

    /// Whether a wide task is ready.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.queue.has_any()
    }

    /// Whether the worker of a leaf prefers wide tasks, or nobody does.
    #[inline]
    pub(crate) fn may_take(&self, leaf: usize) -> bool {
        self.leaves[leaf].prefers.load(Ordering::Relaxed)
            || self.preferring.load(Ordering::Relaxed) == 0
    }

    /// Takes a wide task that is wanted, for the worker of a leaf that looks before all else.
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

    /// The same for one that has found nothing else: what has waited too long.
    pub(crate) fn take_last(&self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        self.queue.take(self.wait, wanted)
    }

    /// Finds out anew whether the worker of a leaf, which runs on a CPU now, prefers wide tasks.
    pub(crate) fn refresh(&self, leaf: usize, cpu: usize) {
        self.poll();
        let prefers = match &*self.cpus.read().unwrap_or_else(PoisonError::into_inner) {
            Cpus::Are(list) => list.contains(cpu),
            Cpus::Workers(workers) => workers.contains(&leaf),
        };
        self.set(leaf, prefers);
    }

    /// A worker is gone.
    pub(crate) fn leaves(&self, leaf: usize) {
        self.set(leaf, false);
    }

    /// Workers that prefer wide tasks now.
    #[cfg(all(test, not(any(loom, evenkeel_model))))]
    pub(super) fn preferring(&self) -> usize {
        self.preferring.load(Ordering::Relaxed)
    }

    fn set(&self, leaf: usize, prefers: bool) {
        match (self.leaves[leaf].prefers.swap(prefers, Ordering::Relaxed), prefers) {
            (false, true) => _ = self.preferring.fetch_add(1, Ordering::Relaxed),
            (true, false) => _ = self.preferring.fetch_sub(1, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Looks at the file, if that is due and nobody does.
    fn poll(&self) {
        let Ok(mut polled) = self.polled.try_lock() else { return };
        let Some((file, last)) = &mut *polled else { return };
        if last.is_some_and(|last| last.elapsed() < POLL) {
            return;
        }
        *last = Some(Instant::now());
        if let Some(list) = file.changed() {
            *self.cpus.write().unwrap_or_else(PoisonError::into_inner) = Cpus::Are(list);
        }
    }
}
