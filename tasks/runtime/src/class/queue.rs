//! Wide tasks that are ready: one queue for all workers, the oldest first.

use std::collections::VecDeque;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::queued::Queued;
use crate::sync::{AtomicUsize, Instant, Mutex, Ordering, lock};

/// A task, and when it became ready.
struct Entry {
    task: *mut Queued,
    since: Instant,
}

// SAFETY: any worker may run a task of the queue, and one worker takes it.
unsafe impl Send for Entry {}

/// The queue.
pub(super) struct WideQueue {
    tasks: CachePadded<Mutex<VecDeque<Entry>>>,
    /// The number of tasks, for readers without the lock.
    len: CachePadded<AtomicUsize>,
}

impl WideQueue {
    pub(super) fn new() -> Self {
        let (tasks, len) = (Mutex::new(VecDeque::new()), AtomicUsize::new(0));
        Self { tasks: CachePadded::new(tasks), len: CachePadded::new(len) }
    }

    /// Adds a task; returns whether the queue has no other one.
    ///
    /// # Safety
    /// The task is alive, in no queue, and may run on any worker.
    pub(super) unsafe fn push(&self, task: *mut Queued) -> bool {
        let mut tasks = lock(&self.tasks);
        tasks.push_back(Entry { task, since: Instant::now() });
        self.len.store(tasks.len(), Ordering::Relaxed);
        tasks.len() == 1
    }

    /// Whether the queue seems to have a task. A caller that must not miss one has passed a fence.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        self.len() > 0
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Takes the oldest task that is wanted and has waited at least this long.
    pub(super) fn take(
        &self,
        waited: Duration,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        if !self.has_any() {
            return None;
        }
        let mut tasks = lock(&self.tasks);
        let is_old = |entry: &Entry| waited.is_zero() || entry.since.elapsed() >= waited;
        let place = tasks.iter().take_while(|entry| is_old(entry)).position(|e| wanted(e.task))?;
        let taken = tasks.remove(place)?;
        self.len.store(tasks.len(), Ordering::Relaxed);
        Some(taken.task)
    }
}
