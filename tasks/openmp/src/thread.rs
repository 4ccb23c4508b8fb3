//! The thread that calls: its number, and the regions that it is in.

mod here;

use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard};

use evenkeel_runtime::internal::forks;
use evenkeel_runtime::internal::lock_std;

pub(crate) use here::here;

use crate::environment::Bind;
use crate::place::NOWHERE;
use crate::region::{Crew, Member};
use crate::{fork, ompt};

/// What belongs to a thread that has called this library.
pub(crate) struct Thread {
    /// Small, and nobody else's as long as the thread lives. libomp calls it global.
    pub number: i32,
    /// What the `num_threads` clause of the next region says; 0 if it has none.
    pub num_threads: Cell<u32>,
    /// The same of its `proc_bind` clause.
    pub proc_bind: Cell<Option<Bind>>,
    /// The place that it is bound to; [`NOWHERE`] if it is bound to none.
    pub place: Cell<u32>,
    /// Threads that help in regions that it begins: one crew for each region around another.
    pub crews: RefCell<Vec<Crew>>,
    /// Levels of regions in which it was alone and has said where it is: a bit each.
    shown_alone: Cell<u64>,
    /// Regions that it began and that have not ended.
    pub begun: Cell<usize>,
    /// [`forks`] when it was asked last: the threads of crews from before are gone.
    forks: Cell<u32>,
}

thread_local! {
    static OWNED: Cell<Option<Owned>> = const { Cell::new(None) };
}

/// Ends what belongs to a thread together with it.
struct Owned(NonNull<Thread>);

impl Drop for Owned {
    fn drop(&mut self) {
        here().thread.set(ptr::null());
        // SAFETY: it came from a box, and nobody has it any more: the thread ends.
        let thread = unsafe { Box::from_raw(self.0.as_ptr()) };
        thread.keep_crews();
        // Who leaves the program from inside a region or a task leaves that to the others.
        if thread.begun.get() > 0 || !thread.member().is_at_rest() {
            here().member.set(ptr::null());
            return std::mem::forget(thread);
        }
        Member::leave_initial();
        numbers().push(thread.number);
        drop(thread);
        if ompt::is_on() {
            ompt::thread_ends();
        }
    }
}

/// Numbers of threads that have ended, below the lowest that was never used.
pub(crate) struct Numbers {
    free: Vec<i32>,
    next: i32,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { free: Vec::new(), next: 0 });

/// The numbers of threads.
pub(crate) fn numbers() -> MutexGuard<'static, Numbers> {
    lock_std(&NUMBERS)
}

impl Numbers {
    fn pop(&mut self) -> i32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn push(&mut self, number: i32) {
        self.free.push(number);
    }
}

impl Thread {
    /// The thread that calls; known from its first call on.
    #[inline]
    pub(crate) fn current() -> &'static Self {
        // SAFETY: it is alive until its thread ends, and nobody keeps it for longer.
        unsafe { here().thread.get().as_ref() }.unwrap_or_else(Self::begin)
    }

    #[cold]
    fn begin() -> &'static Self {
        let _starting = fork::starting();
        ompt::start();
        // SAFETY: as of `current`.
        if let Some(thread) = unsafe { here().thread.get().as_ref() } {
            // A tool has called while it began.
            if ompt::is_on() {
                ompt::thread_begins();
                ompt::implicit_begins(thread.member());
            }
            return thread;
        }
        let thread = Box::leak(Box::new(Self {
            number: numbers().pop(),
            num_threads: Cell::new(0),
            proc_bind: Cell::new(None),
            place: Cell::new(NOWHERE),
            crews: RefCell::default(),
            shown_alone: Cell::new(0),
            begun: Cell::new(0),
            forks: Cell::new(forks()),
        }));
        here().thread.set(thread);
        // A thread that ends, and calls once more, has it for ever.
        let _ = OWNED.try_with(|owned| owned.set(Some(Owned(NonNull::from(&*thread)))));
        if ompt::is_on() {
            ompt::thread_begins();
        }
        Member::enter_initial();
        fork::has_started();
        thread
    }

    /// Lets the threads go that help it in regions, of which it is in none.
    pub(crate) fn dismiss(&self) {
        self.keep_crews();
        self.crews.take();
    }

    /// Forgets crews whose threads did not come along into this process.
    pub(crate) fn keep_crews(&self) {
        if self.forks.replace(forks()) != forks() {
            std::mem::forget(self.crews.take());
        }
    }

    /// Whether it has not said yet where it is in a region of this level and one thread.
    pub(crate) fn shows_alone(&self, level: i32) -> bool {
        let before = self.shown_alone.get();
        self.shown_alone.set(before | 1 << (level % 64));
        self.shown_alone.get() != before
    }

    /// Its part in the innermost region.
    #[inline]
    pub(crate) fn member(&self) -> &Member {
        // SAFETY: from its first call on a thread is in a region, and it leaves it itself.
        unsafe { &*here().member.get() }
    }
}

/// The part of the calling thread in its innermost region.
#[inline]
pub(crate) fn member() -> &'static Member {
    known_member().unwrap_or_else(|| Thread::begin().member())
}

/// The same, if the thread has called before.
#[inline(always)]
pub(crate) fn known_member() -> Option<&'static Member> {
    // SAFETY: it is alive until the thread leaves that region.
    unsafe { here().member.get().as_ref() }
}

/// The number that clang's programs pass with each call.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_global_thread_num(_where: *mut crate::ident::Ident) -> i32 {
    Thread::current().number
}

/// How many threads have called this library at one time.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_global_num_threads(_where: *mut crate::ident::Ident) -> i32 {
    numbers().next
}

/// clang: the program begins to use the library, which needs no word of that.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_begin(_where: *mut crate::ident::Ident, _flags: i32) {}

/// It does not use it any more.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end(_where: *mut crate::ident::Ident) {}

/// Whether a region may have several threads.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_ok_to_fork(_where: *mut crate::ident::Ident) -> i32 {
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
