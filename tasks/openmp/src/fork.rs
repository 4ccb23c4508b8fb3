//! What a child of fork(2) finds: it has the memory of its parent's threads, and of these only the
//! one that forked. A lock that another one had would be taken for ever there, and what it guards
//! half changed. So who forks takes all locks of the library first.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use evenkeel_runtime::internal::forks;
use evenkeel_runtime::internal::lock_std;

use crate::wait::crowd::forget_awake;
use crate::{affinity_format, icv, thread, threadprivate};

/// Whether a thread has begun, and so all is known that is found out once.
static STARTED: AtomicBool = AtomicBool::new(false);
/// Until then a thread has this while it begins: it is a lock of what is not known yet.
static STARTING: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether this thread has it.
    static STARTS: Cell<bool> = const { Cell::new(false) };
}

/// No other thread is the first to begin.
pub(crate) struct Starting(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, ()>);

impl Drop for Starting {
    fn drop(&mut self) {
        STARTS.set(false);
    }
}

/// A thread begins; nothing if others have, or it does already and a tool calls us meanwhile.
pub(crate) fn starting() -> Option<Starting> {
    if STARTED.load(Ordering::Acquire) || STARTS.replace(true) {
        return None;
    }
    Some(Starting(lock_std(&STARTING)))
}

/// A thread has begun.
pub(crate) fn has_started() {
    STARTED.store(true, Ordering::Release);
}

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
