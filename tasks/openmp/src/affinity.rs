//! Where threads are bound: those of the next region, and a thread of which a program asks.

pub(crate) mod calls;

use std::ffi::c_int;

use crate::environment::Bind;
use crate::icv::Icvs;
use crate::place::{Binding, NOWHERE};
use crate::region::Member;
use crate::thread::Thread;

/// Binds the process's first thread, which asks for its place, as the begin of a region would.
///
/// Loading the library does not bind: a preloaded library is also in programs that never call it,
/// and the programs that they start would inherit the binding.
pub(crate) fn find(thread: &Thread) {
    // SAFETY: neither call has conditions.
    let is_first = unsafe { libc::gettid() == libc::getpid() };
    if is_first && Icvs::initial().bind != Bind::False {
        go_somewhere(thread);
    }
}

/// Binds a thread that begins regions, and is bound to no place, to the first.
fn go_somewhere(thread: &Thread) {
    if thread.place.get() == NOWHERE {
        thread.go(0);
    }
}

/// The number of the place that the calling thread is bound to; -1 for a thread that is not bound.
pub(crate) fn place_number(thread: &Thread) -> c_int {
    find(thread);
    // `NOWHERE` is -1 as a number with a sign.
    thread.place.get() as c_int
}

/// The binding of the threads of a region that this thread begins, by the `proc_bind` clause or
/// else by `bind-var`; `None` where threads are not bound.
#[inline]
pub(crate) fn binding(thread: &Thread, clause: Option<Bind>, threads: u32) -> Option<Binding> {
    let member = Member::of(thread);
    let how = member.task().icvs.get().bind;
    if how == Bind::False {
        return None;
    }
    go_somewhere(thread);
    let (how, primary) = (clause.unwrap_or(how), thread.place.get());
    Some(Binding { how, threads, primary, partition: member.partition })
}
