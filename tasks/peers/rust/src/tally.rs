//! How many tasks ran, and how much did they find? `tally.h`.

use std::cell::Cell;
use std::ptr;

/// What one thread counted; the rest of it is C's.
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
            // SAFETY: It takes nothing, and what it gives lives as long as the process.
            mine.set(unsafe { tally_join() });
        }
        mine.get()
    })
}

/// Counts a task.
#[inline]
pub fn task() {
    // SAFETY: No other thread writes this one's tally, nor reads it while tasks run.
    unsafe { (*mine()).tasks += 1 };
}

/// Counts something that was looked for.
#[inline]
pub fn found() {
    // SAFETY: As above.
    unsafe { (*mine()).found += 1 };
}

/// Gives this thread its tally.
pub fn join() {
    mine();
}

/// All tasks; ask when none runs any more.
pub fn tasks() -> u64 {
    // SAFETY: It takes nothing.
    unsafe { tally_tasks() }
}
