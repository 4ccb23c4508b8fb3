//! How many tasks ran, and how much did they find? `tally.h`.

use std::cell::Cell;
use std::ptr;

/// The counters of one thread; the C structure has more fields behind.
#[repr(C)]
struct Tally {
    tasks: u64,
    found: u64,
}

unsafe extern "C" {
    fn tally_join() -> *mut Tally;
    fn tally_tasks() -> u64;
}

thread_local! {
    static MINE: Cell<*mut Tally> = const { Cell::new(ptr::null_mut()) };
}

#[inline]
fn mine() -> *mut Tally {
    MINE.with(|mine| {
        if mine.get().is_null() {
            // SAFETY: The function has no precondition, and tallies live as long as the process.
            mine.set(unsafe { tally_join() });
        }
        mine.get()
    })
}

/// Counts a task.
#[inline]
pub fn task() {
    // SAFETY: No other thread writes this thread's tally, or reads one while tasks run.
    unsafe { (*mine()).tasks += 1 };
}

/// Counts a solution.
#[inline]
pub fn found() {
    // SAFETY: No other thread writes this thread's tally, or reads one while tasks run.
    unsafe { (*mine()).found += 1 };
}

/// Gives this thread its tally.
pub fn join() {
    mine();
}

/// The tasks of all threads; to be called when no task runs any more.
pub fn tasks() -> u64 {
    // SAFETY: The function has no arguments and no precondition.
    unsafe { tally_tasks() }
}
