//! Threads begin and end.

use std::cell::Cell;

use super::callbacks::{THREAD_BEGIN, THREAD_END};
use super::records::ThreadRecord;

/// `ompt_thread_initial`.
const INITIAL: i32 = 1;
/// `ompt_thread_worker`.
const WORKER: i32 = 2;

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread belongs to a pool, and has not called before.
pub(crate) fn becomes_worker() {
    IS_WORKER.set(true);
}

/// A thread begins.
#[cold]
pub(crate) fn thread_begins() {
    if ThreadRecord::known().is_some() {
        return;
    }
    let is_worker = IS_WORKER.get();
    let thread = ThreadRecord::begin(is_worker);
    let kind = if is_worker { WORKER } else { INITIAL };
    // SAFETY: the tool's function takes this.
    THREAD_BEGIN.tell(|function| unsafe { function(kind, thread.data.get()) });
}

/// A thread ends.
#[cold]
pub(crate) fn thread_ends() {
    if let Some(thread) = ThreadRecord::known() {
        // SAFETY: the tool's function takes this.
        THREAD_END.tell(|function| unsafe { function(thread.data.get()) });
        ThreadRecord::end();
    }
}
