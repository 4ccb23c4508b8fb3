//! Threads from outside that run something as a worker.

use std::mem::swap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use crate::memory::{Chunks, Memory};
use crate::notice::tell;
use crate::pool::Runtime;
use crate::sync::{Condvar, Instant, Mutex, lock, wait_for};
use crate::task::Task;
use crate::worker::Worker;

/// Leaves for threads from outside, beyond the first, which has a CPU of its own.
///
/// What a scope's code borrows may be bound to its thread, so it cannot be left to others.
pub(crate) const SEATS_MORE: usize = 7;

/// Who waits so long for a leaf may do so for ever.
const LONG: Duration = Duration::from_secs(1);

/// A leaf, and the free chunks that the last thread on it has left: they would be lost with it.
struct Seat {
    leaf: usize,
    chunks: Box<Chunks>,
}

/// The leaves that threads from outside may have.
pub(crate) struct Seats {
    free: Mutex<Vec<Seat>>,
    left: Condvar,
}

impl Seats {
    /// These leaves, of which the first is taken first.
    pub(crate) fn new(leaves: impl DoubleEndedIterator<Item = usize>, memory: Memory) -> Self {
        let seat = |leaf| Seat { leaf, chunks: Box::new(Chunks::new(memory)) };
        Self { free: Mutex::new(leaves.rev().map(seat).collect()), left: Condvar::new() }
    }

    /// Waits until one is free, and tells if that takes long.
    fn take(&self) -> Seat {
        let mut free = lock(&self.free);
        let (mut is_told, mut begin) = (false, None);
        loop {
            if let Some(seat) = free.pop() {
                return seat;
            }
            let begin = *begin.get_or_insert_with(Instant::now);
            free = wait_for(&self.left, &self.free, free, LONG);
            if !is_told && begin.elapsed() >= LONG {
                is_told = true;
                tell(&format!(
                    "a thread waits to begin a scope: {} others are in scopes of the same runtime \
                     that is none of theirs; scopes of two runtimes in turn, inside each other on \
                     one thread, are as many, and may wait for themselves",
                    1 + SEATS_MORE
                ));
            }
        }
    }

    fn leave(&self, seat: Seat) {
        lock(&self.free).push(seat);
        self.left.notify_one();
    }
}

impl Runtime {
    /// Runs a function as a worker: this thread is one, or becomes one for that time.
    pub(crate) fn as_worker<R>(&self, run: impl FnOnce(&Worker) -> R) -> R {
        let shared = self.shared();
        // SAFETY: the worker of this thread is alive while the thread is in `enter`.
        let around = Worker::current().map(|worker| unsafe { worker.as_ref() });
        if let Some(worker) = around.filter(|worker| Arc::ptr_eq(&worker.shared, shared)) {
            return run(worker);
        }
        let mut seat = shared.seats.take();
        let mut worker = Worker::new(shared.clone(), seat.leaf);
        swap(&mut worker.chunks, &mut seat.chunks);
        // The tasks of both are on one stack: their data is looked up in both.
        let current = around.map_or(ptr::null(), |around| around.current.get());
        let border = Task::border(current, (&raw const worker).cast());
        if let Some(around) = around {
            worker.is_inside(around, &border);
        }
        worker.seen.uses(true);
        worker.seen.enters();
        let result = catch_unwind(AssertUnwindSafe(|| worker.enter(|| run(&worker))));
        worker.leaves();
        worker.seen.exits();
        worker.seen.uses(false);
        swap(&mut worker.chunks, &mut seat.chunks);
        drop(worker);
        if let Some(around) = around {
            around.current.set(current);
        }
        shared.seats.leave(seat);
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}
