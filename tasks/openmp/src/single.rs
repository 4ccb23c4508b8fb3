//! Parts of a region that one of its threads runs.

use std::ffi::c_void;
use std::ptr;

use crate::ident::Ident;
use crate::ompt::{self, At, Wait, Work};
use crate::region::Member;
use crate::registration::member;

/// Waits at the barrier of a construct. Returns whether the region was cancelled instead.
fn barrier(member: &Member) -> bool {
    ompt::waits(|| Wait::Implementation, || member.barrier())
}

/// The thread that has run a `single` gives these data to the other threads.
fn give(member: &Member, data: *mut c_void) {
    member.gives(data);
    if barrier(member) {
        member.waits_for_copies();
    }
}

/// Whether this thread runs the next `single`; for a tool the construct ends right here where the
/// compiler marks no end.
fn takes(member: &Member, has_end: bool) -> bool {
    let takes = member.takes_single();
    let work = || (if takes { Work::SingleExecutor } else { Work::SingleOther }, 1);
    ompt::works(At::Begin, work);
    if !(takes && has_end) {
        ompt::works(At::End, work);
    }
    takes
}

/// gcc: whether this thread runs the next `single`.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_single_start() -> bool {
    takes(member(), false)
}

/// gcc: null if this thread runs the next `single` with `copyprivate`, else the data of the thread
/// that does.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_single_copy_start() -> *mut c_void {
    let member = member();
    if takes(member, true) {
        return ptr::null_mut();
    }
    let is_cancelled = barrier(member);
    let given = member.given(is_cancelled);
    if !is_cancelled {
        // No thread gives other data before all have copied these.
        barrier(member);
    }
    given
}

/// gcc: the thread that has run the `single` gives its data to the other threads.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_single_copy_end(data: *mut c_void) {
    let member = member();
    ompt::works(At::End, || (Work::SingleExecutor, 1));
    give(member, data);
    barrier(member);
}

/// clang: whether this thread runs the next `single`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_single(_where: *mut Ident, _thread: i32) -> i32 {
    takes(member(), true).into()
}

/// clang: the thread has run the `single`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_single(_where: *mut Ident, _thread: i32) {
    ompt::works(At::End, || (Work::SingleExecutor, 1));
}

/// clang: the thread that ran a `single` (`did_it`) gives its variables to the other threads.
///
/// # Safety
/// `copy` copies from its second argument's variables to those of its first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_copyprivate(
    _where: *mut Ident,
    _thread: i32,
    _size: usize,
    data: *mut c_void,
    copy: unsafe extern "C" fn(*mut c_void, *mut c_void),
    did_it: i32,
) {
    let member = member();
    if did_it != 0 {
        give(member, data);
    } else {
        let is_cancelled = barrier(member);
        // SAFETY: `copy` copies from its second argument's variables to those of its first; the
        // other thread waits.
        unsafe { copy(data, member.given(is_cancelled)) };
    }
    barrier(member);
}

/// clang: `copyprivate` where the program copies: the thread that ran the `single` passes data, the
/// other threads null. Returns the data; the program waits once more.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_copyprivate_light(
    _where: *mut Ident,
    _thread: i32,
    data: *mut c_void,
) -> *mut c_void {
    let member = member();
    if !data.is_null() {
        give(member, data);
        return data;
    }
    let is_cancelled = barrier(member);
    member.given(is_cancelled)
}

/// clang: waits for all threads; then the primary thread goes on alone until
/// [`__kmpc_end_barrier_master`]. Returns whether this is the primary thread.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_barrier_master(_where: *mut Ident, _thread: i32) -> i32 {
    let member = member();
    barrier(member);
    if member.number > 0 {
        barrier(member);
    }
    (member.number == 0).into()
}

/// clang: the primary thread's part ends, and the other threads go on.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_barrier_master(_where: *mut Ident, _thread: i32) {
    barrier(member());
}

/// clang: waits for all threads. Returns whether this is the primary thread, for which the other
/// threads do not wait.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_barrier_master_nowait(_where: *mut Ident, _thread: i32) -> i32 {
    barrier(member());
    (member().number == 0).into()
}

/// clang: a `scope` begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_scope(_where: *mut Ident, _thread: i32, _reserved: *mut c_void) {
    ompt::works(At::Begin, || (Work::Scope, 0));
}

/// clang: the `scope` ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_scope(_where: *mut Ident, _thread: i32, _reserved: *mut c_void) {
    ompt::works(At::End, || (Work::Scope, 0));
}

/// clang: whether this thread is the first of the region.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_master(_where: *mut Ident, _thread: i32) -> i32 {
    ompt::masked(At::Begin, member().number == 0).into()
}

/// clang: the primary thread has run its part.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_master(_where: *mut Ident, _thread: i32) {
    ompt::masked(At::End, true);
}

/// clang: whether this thread is the one of this number.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_masked(_where: *mut Ident, _thread: i32, number: i32) -> i32 {
    ompt::masked(At::Begin, member().number as i32 == number).into()
}

/// clang: the thread has run its part.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_masked(_where: *mut Ident, _thread: i32) {
    ompt::masked(At::End, true);
}
