//! Two functions in parallel: `join`, which allocates nothing.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;

use crate::children::{Children, Then, Until};
use crate::instrument::{OpenSlice, What};
use crate::panics::drop_panic;
use crate::pool::Runtime;
use crate::queued::{Queued, Runner};
use crate::wait::{Reason, Waiting};
use crate::worker::Worker;

/// The second function, on the stack of the caller of `join`.
#[repr(C)]
struct Second<B, RB> {
    queued: Queued,
    /// Counts one child: the second function.
    done: Children,
    /// The caller, to be resumed when the second function has ended.
    joiner: Cell<*const Waiting>,
    body: UnsafeCell<ManuallyDrop<B>>,
    result: UnsafeCell<Option<Result<RB, Box<dyn Any + Send>>>>,
}

/// `join` on a worker, for a line of the program.
pub(crate) fn join_on<A, B, RA, RB>(
    worker: &Worker,
    a: A,
    b: B,
    location: &'static Location<'static>,
) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if worker.has_enough() {
        return (a(), b());
    }
    let function = function::<B, RB>();
    if worker.are_fine(function) {
        let (first, mut second) = (a(), None);
        worker.run_sampled(function, || second = Some(b()));
        return (first, second.expect("it was run"));
    }
    let second = Second {
        queued: Queued::new(run_second::<B, RB>),
        done: Children::none(),
        joiner: Cell::new(ptr::null()),
        body: UnsafeCell::new(ManuallyDrop::new(b)),
        result: UnsafeCell::new(None),
    };
    let queued: *mut Queued = ptr::from_ref(&second).cast_mut().cast();
    // SAFETY: `second` stays on this stack until it was run or taken back; `b` is `Send`.
    unsafe { worker.add(queued) };
    let first = catch_unwind(AssertUnwindSafe(a));
    if worker.take_back(queued) {
        // SAFETY: no other worker has `second` any more, and its function was not run.
        let b = unsafe { ManuallyDrop::take(&mut *second.body.get()) };
        return match first {
            Ok(first) => (first, b()),
            Err(panic) => resume_unwind(panic),
        };
    }
    second.done.create();
    if !worker.comes_soon(|| second.done.unfinished() == 0) {
        let waiting = Waiting::at(worker.leaf, Reason::Join, location);
        second.joiner.set(&waiting);
        if second.done.wait(Until::Children(0)) {
            worker.block(&waiting);
        }
    }
    // SAFETY: the worker that ran `second` has written the result, and has stopped using the
    // struct.
    let result = unsafe { (*second.result.get()).take() };
    match (first, result.expect("a function that was run has a result")) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(panic), Err(other)) => {
            drop_panic(other);
            resume_unwind(panic)
        }
        (Err(panic), Ok(_)) | (Ok(_), Err(panic)) => resume_unwind(panic),
    }
}

/// The address that stands for the second function of a join.
fn function<B: FnOnce() -> RB, RB>() -> usize {
    run_second::<B, RB> as *const () as usize
}

/// Runs the second function on another worker, or here out of order.
unsafe fn run_second<B: FnOnce() -> RB, RB>(queued: *mut Queued, runner: Runner<'_>) {
    let second = queued.cast::<Second<B, RB>>();
    // SAFETY: the function is run once, and the caller of `join` waits for `second`.
    unsafe {
        let worker = Worker::of(runner);
        let body = ManuallyDrop::take(&mut *(*second).body.get());
        let around = worker.current.replace(ptr::null());
        worker.instrument.is_called::<B>(function::<B, RB>());
        let result = catch_unwind(AssertUnwindSafe(body));
        worker.current.set(around);
        *(*second).result.get() = Some(result);
        // From here on its stack may be gone, unless the caller waits to be resumed.
        if (*second).done.finished(1) == Then::Wake {
            worker.shared.resume((*second).joiner.get());
        }
    }
}

impl Runtime {
    /// Runs two functions, in parallel if a worker is free, and returns both results.
    ///
    /// # Panics
    /// With the panic of either, after both have ended.
    #[track_caller]
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let location = Location::caller();
        self.as_worker(|worker| {
            let slice = OpenSlice::new();
            let key = Self::join::<A, B, RA, RB> as *const () as usize;
            worker.instrument.scopes::<A>(key, location);
            let _ends = worker.instrument.begin(&slice, What::Code, key);
            join_on(worker, a, b, location)
        })
    }
}

/// [`Runtime::join`] of the runtime that runs this thread's task, or else of the global one.
///
/// # Panics
/// As [`Runtime::join`].
#[track_caller]
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match Worker::current() {
        // SAFETY: the worker of this thread is alive.
        Some(worker) => join_on(unsafe { worker.as_ref() }, a, b, Location::caller()),
        None => join_outside(a, b),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn join_outside<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    Runtime::global().join(a, b)
}

#[cfg(all(test, not(any(loom, evenkeel_model)), target_arch = "x86_64"))]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn function_of<B: FnOnce() -> RB, RB>(_: &B) -> usize {
        function::<B, RB>()
    }

    #[test]
    fn sides_that_are_over_at_once_stay_until_they_take_longer() {
        Runtime::builder().workers(2).build().unwrap().scope(|_| {
            // SAFETY: the worker of this thread is alive.
            let worker = unsafe { Worker::current().unwrap().as_ref() };
            let here = thread::current().id();
            let nap = |ms: u64| (ms > 0).then(|| thread::sleep(Duration::from_millis(ms)));
            let side = |ms: u64| {
                move || {
                    nap(ms);
                    thread::current().id()
                }
            };
            let is_given_away = |ms: u64| {
                // Meanwhile the other worker has time to come.
                join(|| nap(1), side(ms)).1 != here
            };
            worker.shared.grains.took(function_of(&side(0)), 100, false);
            assert!((0..12).filter(|_| is_given_away(0)).count() < 6);
            assert!((0..200).any(|_| is_given_away(1)));
        });
    }
}
