//! fork(2): a child has the memory of all its parent's threads, but only the thread that forked. A
//! lock that another thread held would never be released in the child, and the guarded data be half
//! changed. So the forking thread takes all locks of the library first.

use std::any::Any;
use std::cell::UnsafeCell;

use evenkeel_runtime::internal::forks;

use crate::registration::starting;
use crate::wait::oversubscription::forget_awake;
use crate::{affinity_format, icv, thread, threadprivate};

/// The locks, while a thread forks.
type Held = [Box<dyn Any>; 5];

struct Forking(UnsafeCell<Option<Held>>);

// SAFETY: only the thread that holds the locks reads and writes the cell.
unsafe impl Sync for Forking {}

static FORKING: Forking = Forking(UnsafeCell::new(None));

extern "C" fn take() {
    // No thread takes one of these while it holds another, except the first.
    let held: Held = [
        Box::new(starting()),
        Box::new(thread::numbers()),
        Box::new(icv::all()),
        Box::new(threadprivate::variables()),
        Box::new(affinity_format::chosen()),
    ];
    // SAFETY: this thread has the locks.
    unsafe { *FORKING.0.get() = Some(held) };
}

extern "C" fn give() {
    // SAFETY: this thread has taken the locks, in this process or in its parent.
    drop(unsafe { (*FORKING.0.get()).take() });
}

extern "C" fn give_in_child() {
    forget_awake();
    give();
}

/// Runs when the library is loaded: later, another thread might fork during the registration.
extern "C" fn begin() {
    // This registers the runtime's handlers, too.
    let _ = forks();
    // SAFETY: the handlers live as long as the process. Without memory to register them they are
    // not called.
    unsafe { libc::pthread_atfork(Some(take), Some(give), Some(give_in_child)) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
