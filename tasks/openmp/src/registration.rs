//! The first call of a thread: the thread gets a record, an OMPT tool hears of it, and it enters
//! its initial region. Every call of a program asks here for the calling thread or its innermost
//! region.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::here::here;
use crate::ident::Ident;
use crate::ompt;
use crate::region::alone::{enter_initial, leave_initial};
use crate::region::{Member, known_member};
use crate::registered::Registered;
use crate::thread::{Thread, numbers};
use crate::tool::lookup::lookup;

mod first;

pub(crate) use first::starting;

thread_local! {
    static OWNED: Cell<Option<Owned>> = const { Cell::new(None) };
}

/// Frees the record of a thread when the thread ends.
struct Owned(NonNull<Registered>);

impl Drop for Owned {
    fn drop(&mut self) {
        let member = known_member();
        here().thread.set(ptr::null());
        // SAFETY: `begin` made the box, and the thread, which alone has the pointer, ends.
        let registered = unsafe { Box::from_raw(self.0.as_ptr()) };
        registered.keep_pools();
        // A thread that leaves the program from inside a region or a task leaves its state to the
        // other threads of the region.
        if registered.thread.begun.get() > 0 || !member.is_some_and(Member::is_at_rest) {
            here().member.set(ptr::null());
            return std::mem::forget(registered);
        }
        leave_initial();
        numbers().push(registered.thread.number);
        drop(registered);
        if ompt::is_on() {
            ompt::thread_ends();
        }
    }
}

/// The calling thread, registered by its first call.
#[inline]
pub(crate) fn registered() -> &'static Registered {
    Registered::known().unwrap_or_else(begin)
}

/// The calling thread, registered by its first call.
#[inline]
pub(crate) fn current_thread() -> &'static Thread {
    Thread::known().unwrap_or_else(|| &begin().thread)
}

/// The part of the calling thread in its innermost region; its first call registers it.
#[inline]
pub(crate) fn member() -> &'static Member {
    known_member().unwrap_or_else(|| Member::of(&begin().thread))
}

#[cold]
fn begin() -> &'static Registered {
    let _starting = starting();
    ompt::find::start(lookup);
    if let Some(registered) = Registered::known() {
        // The tool has called the library while it began.
        if ompt::is_on() {
            ompt::thread_begins();
            Member::of(&registered.thread).tell_begin();
        }
        return registered;
    }
    let registered = Box::leak(Box::new(Registered::new()));
    here().thread.set(ptr::from_ref(registered).cast());
    // A thread that calls once more while its thread locals are destroyed keeps its record.
    let _ = OWNED.try_with(|owned| owned.set(Some(Owned(NonNull::from(&*registered)))));
    if ompt::is_on() {
        ompt::thread_begins();
    }
    enter_initial();
    first::has_started();
    registered
}

/// The number that clang's programs pass with each call.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_global_thread_num(_where: *mut Ident) -> i32 {
    current_thread().number
}

/// The number of threads that have called the library at one time.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_global_num_threads(_where: *mut Ident) -> i32 {
    numbers().most()
}

/// clang: the program begins to use the library. The first call that needs more does the rest.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_begin(_where: *mut Ident, _flags: i32) {}

/// clang: the program uses the library no more.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end(_where: *mut Ident) {}

/// Whether a region may have several threads.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_ok_to_fork(_where: *mut Ident) -> i32 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_live_at_once_have_different_numbers() {
        let here = __kmpc_global_thread_num(ptr::null_mut());
        let there = || __kmpc_global_thread_num(ptr::null_mut());
        let other = std::thread::spawn(there).join().unwrap();
        assert_ne!(here, other);
        assert_eq!(here, there());
    }
}
