//! Threads from outside that run something as a worker.

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;
use std::thread::{self, Thread};

use crate::pool::{Runtime, Shared};
use crate::ready::Queued;
use crate::sync::{AtomicBool, Ordering};
use crate::worker::Worker;

/// The leaf that a thread from outside may have.
const SEAT: usize = 0;

impl Runtime {
    /// Runs a function as a worker.
    ///
    /// A thread that is one does it itself. Any other becomes one for that time; only one of them
    /// at once can, and the next leaves the function to the workers.
    pub(crate) fn as_worker<F, R>(&self, run: F) -> R
    where
        F: FnOnce(&Worker) -> R + Send,
        R: Send,
    {
        let shared = self.shared();
        if let Some(worker) = Worker::current() {
            // SAFETY: the worker of this thread is alive while the thread is in `enter`.
            let worker = unsafe { worker.as_ref() };
            if Arc::ptr_eq(&worker.shared, shared) {
                return run(worker);
            }
        }
        if shared.seat.take(self.workers() == 1) {
            return seated(shared, run);
        }
        by_others(shared, run)
    }
}

fn seated<R>(shared: &Arc<Shared>, run: impl FnOnce(&Worker) -> R) -> R {
    let worker = Worker::new(shared.clone(), SEAT);
    let result = catch_unwind(AssertUnwindSafe(|| worker.enter(|| run(&worker))));
    worker.leaves();
    drop(worker);
    shared.seat.leave();
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A function that a worker runs for a thread that sleeps meanwhile.
#[repr(C)]
struct Call<F, R> {
    queued: Queued,
    body: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<Option<thread::Result<R>>>,
    caller: Thread,
    is_done: AtomicBool,
}

fn by_others<F, R>(shared: &Shared, run: F) -> R
where
    F: FnOnce(&Worker) -> R + Send,
    R: Send,
{
    let call = Call {
        queued: Queued {
            run: answer::<F, R>,
            next: ptr::null_mut::<Queued>().into(),
            parent: ptr::null(),
        },
        body: UnsafeCell::new(ManuallyDrop::new(run)),
        result: UnsafeCell::new(None),
        caller: thread::current(),
        is_done: AtomicBool::new(false),
    };
    // SAFETY: it stays on this stack until it is done; the function is `Send`.
    unsafe { shared.ready.add_from_outside(ptr::from_ref(&call).cast_mut().cast()) };
    while !call.is_done.load(Ordering::Acquire) {
        thread::park();
    }
    // SAFETY: it is done, and so nobody else uses it.
    let result = unsafe { (*call.result.get()).take() };
    result
        .expect("a function that was run has a result")
        .unwrap_or_else(|panic| resume_unwind(panic))
}

unsafe fn answer<F, R>(queued: *mut Queued, worker: &Worker)
where
    F: FnOnce(&Worker) -> R,
{
    let call = queued.cast::<Call<F, R>>();
    // SAFETY: its caller waits until it is done; it is run once.
    unsafe {
        let body = ManuallyDrop::take(&mut *(*call).body.get());
        let around = worker.current.replace(ptr::null());
        *(*call).result.get() = Some(catch_unwind(AssertUnwindSafe(|| body(worker))));
        worker.current.set(around);
        let caller = (*call).caller.clone();
        // From here on the stack that it lies on may be gone.
        (*call).is_done.store(true, Ordering::Release);
        caller.unpark();
    }
}
