//! The queues of leaves and nodes, under the LIFO and the FIFO policy (N 4.1.4).

use std::collections::VecDeque;

use super::Order;
use super::deque::Deque;
use crate::queued::Queued;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// A queue that is used with a lock held.
pub(crate) struct Ring {
    /// The oldest first.
    tasks: VecDeque<*mut Queued>,
    order: Order,
}

impl Ring {
    pub(crate) fn new(order: Order) -> Self {
        Self { tasks: VecDeque::new(), order }
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Adds tasks, the oldest first.
    pub(crate) fn add(&mut self, set: impl IntoIterator<Item = *mut Queued>) {
        self.tasks.extend(set);
    }

    pub(crate) fn one(&mut self) -> Option<*mut Queued> {
        match self.order {
            Order::Lifo => self.tasks.pop_back(),
            Order::Fifo => self.tasks.pop_front(),
        }
    }

    /// Moves up to `wanted` tasks, the oldest of them first, to `out`; returns how many.
    pub(crate) fn set(&mut self, wanted: usize, out: &mut Vec<*mut Queued>) -> usize {
        let wanted = wanted.min(self.tasks.len());
        match self.order {
            Order::Lifo => out.extend(self.tasks.drain(..wanted)),
            Order::Fifo => out.extend(self.tasks.drain(self.tasks.len() - wanted..)),
        }
        wanted
    }

    /// Takes a task that is wanted, at any position.
    pub(crate) fn one_if(&mut self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        let place = self.tasks.iter().position(|&task| wanted(task))?;
        self.tasks.remove(place)
    }
}

/// The queue of a leaf.
#[expect(clippy::large_enum_variant, reason = "the large one is what runs")]
pub(crate) enum Local {
    /// The owner takes the youngest without a lock.
    Lifo(Deque),
    /// The owner takes the oldest task, at the same end as all other workers.
    Fifo {
        /// Length of the ring, for workers that do not hold the lock.
        len: AtomicUsize,
        ring: Mutex<Ring>,
    },
}

impl Local {
    pub(crate) fn new(order: Order) -> Self {
        match order {
            Order::Lifo => Self::Lifo(Deque::new()),
            Order::Fifo => {
                Self::Fifo { len: AtomicUsize::new(0), ring: Mutex::new(Ring::new(order)) }
            }
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Lifo(deque) => deque.len(),
            Self::Fifo { len, .. } => len.load(Ordering::Relaxed),
        }
    }

    /// Changes when the youngest task does; constant where the oldest is taken first.
    pub(crate) fn pushes(&self) -> usize {
        match self {
            Self::Lifo(deque) => deque.pushes(),
            Self::Fifo { .. } => 0,
        }
    }

    /// Adds the youngest task; returns the number of tasks.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    #[inline]
    pub(crate) unsafe fn push(&self, task: *mut Queued) -> usize {
        match self {
            // SAFETY: this thread is the leaf's worker.
            Self::Lifo(deque) => unsafe { deque.push(task) },
            Self::Fifo { len, ring } => {
                let mut ring = lock(ring);
                ring.add([task]);
                len.store(ring.len(), Ordering::Relaxed);
                ring.len()
            }
        }
    }

    /// Takes a single task.
    ///
    /// # Safety
    /// Only the leaf's worker may call this.
    #[inline]
    pub(crate) unsafe fn one(&self) -> Option<*mut Queued> {
        match self {
            // SAFETY: this thread is the leaf's worker.
            Self::Lifo(deque) => unsafe { deque.pop() },
            Self::Fifo { len, ring } => {
                if len.load(Ordering::Relaxed) == 0 {
                    return None;
                }
                let mut ring = lock(ring);
                let one = ring.one();
                len.store(ring.len(), Ordering::Relaxed);
                one
            }
        }
    }

    /// Moves up to `wanted` tasks to `out`; returns how many.
    pub(crate) fn set(&self, wanted: usize, out: &mut Vec<*mut Queued>) -> usize {
        match self {
            Self::Lifo(deque) => deque.take_oldest(wanted, out),
            Self::Fifo { len, ring } => {
                if wanted == 0 || len.load(Ordering::Relaxed) == 0 {
                    return 0;
                }
                let mut ring = lock(ring);
                let taken = ring.set(wanted, out);
                len.store(ring.len(), Ordering::Relaxed);
                taken
            }
        }
    }

    /// Moves up to `wanted` of the oldest tasks to `out`, and none where another worker holds the
    /// lock: for a worker that would rather look elsewhere.
    pub(crate) fn set_unless_taken(&self, wanted: usize, out: &mut Vec<*mut Queued>) {
        match self {
            Self::Lifo(deque) => deque.try_take_some(wanted, out),
            Self::Fifo { .. } => _ = self.set(wanted, out),
        }
    }

    /// Takes the oldest task if that one is wanted.
    pub(crate) fn oldest_if(&self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        match self {
            Self::Lifo(deque) => deque.take_oldest_if(wanted),
            Self::Fifo { len, ring } => {
                if len.load(Ordering::Relaxed) == 0 {
                    return None;
                }
                let mut ring = lock(ring);
                let one = ring.one_if(wanted);
                len.store(ring.len(), Ordering::Relaxed);
                one
            }
        }
    }
}
