//! What a child of fork(2) finds: it has the memory of its parent's threads, and of these only the
//! one that forked. A lock that another one had would be taken for ever there, and what it guards
//! half changed. So who forks takes all locks of the library first.

use std::any::Any;
use std::cell::UnsafeCell;

use evenkeel_runtime::internal::forks;

use crate::registration::starting;
use crate::wait::crowd::forget_awake;
use crate::{affinity_format, icv, thread, threadprivate};

/// The locks, while a thread forks.
type Held = [Box<dyn Any>; 5];

struct Forking(UnsafeCell<Option<Held>>);

// SAFETY: only who has the locks looks at it.
unsafe impl Sync for Forking {}

static FORKING: Forking = Forking(UnsafeCell::new(None));

extern "C" fn take() {
    // Nobody takes one while it has another, but after the first.
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
    // SAFETY: this thread, or that which it was in the parent, has taken the locks.
    drop(unsafe { (*FORKING.0.get()).take() });
}

extern "C" fn give_in_child() {
    forget_awake();
    give();
}

/// When the library is loaded: later another thread might fork while this one says it.
extern "C" fn begin() {
    // It says so to the C library, too.
    let _ = forks();
    // SAFETY: the handlers live as long as the process. Without memory for them nobody calls them.
    unsafe { libc::pthread_atfork(Some(take), Some(give), Some(give_in_child)) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
