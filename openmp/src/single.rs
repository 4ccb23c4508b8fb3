//! Parts of a region that one of its threads runs.

use std::ffi::c_void;
use std::ptr;

use crate::parallel::Ident;
use crate::thread::member;

/// gcc: whether this thread runs the next `single`.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_single_start() -> bool {
    member().takes_single()
}

/// gcc: the same, and if not, what the thread that does gives the others.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_single_copy_start() -> *mut c_void {
    let member = member();
    if member.takes_single() {
        return ptr::null_mut();
    }
    member.barrier();
    let given = member.region().broadcast.get();
    // Nobody gives anything else before all have this.
    member.barrier();
    given
}

/// gcc: the thread that runs it gives this to the others.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_single_copy_end(data: *mut c_void) {
    let member = member();
    member.region().broadcast.set(data);
    member.barrier();
    member.barrier();
}

/// clang: whether this thread runs the next `single`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_single(_where: *mut Ident, _thread: i32) -> i32 {
    member().takes_single().into()
}

/// It has run it.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_single(_where: *mut Ident, _thread: i32) {}

/// clang: the thread that ran a `single` (`did_it`) gives its variables to the others.
///
/// # Safety
/// `copy` copies to what the first points to what the second does.
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
    let broadcast = &member.region().broadcast;
    if did_it != 0 {
        broadcast.set(data);
    }
    member.barrier();
    if did_it == 0 {
        // SAFETY: the caller's promise; the other thread waits below.
        unsafe { copy(data, broadcast.get()) };
    }
    member.barrier();
}

/// clang: the same, where the program copies: the thread that ran it gives this, the others
/// nothing. Returns what was given; the program waits once more.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_copyprivate_light(
    _where: *mut Ident,
    _thread: i32,
    data: *mut c_void,
) -> *mut c_void {
    let member = member();
    let broadcast = &member.region().broadcast;
    if !data.is_null() {
        broadcast.set(data);
    }
    member.barrier();
    broadcast.get()
}

/// clang: waits for all; then the first thread goes on alone, until it says that its part ends.
/// Returns whether this is the one.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_barrier_master(_where: *mut Ident, _thread: i32) -> i32 {
    let member = member();
    member.barrier();
    if member.number > 0 {
        member.barrier();
    }
    (member.number == 0).into()
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_barrier_master(_where: *mut Ident, _thread: i32) {
    member().barrier();
}

/// clang: waits for all. Returns whether this is the first thread; the others do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_barrier_master_nowait(_where: *mut Ident, _thread: i32) -> i32 {
    member().barrier();
    (member().number == 0).into()
}

/// clang: a `scope` begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_scope(_where: *mut Ident, _thread: i32, _reserved: *mut c_void) {}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_scope(_where: *mut Ident, _thread: i32, _reserved: *mut c_void) {}

/// clang: whether this thread is the first of the region.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_master(_where: *mut Ident, _thread: i32) -> i32 {
    (member().number == 0).into()
}

/// It has run its part.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_master(_where: *mut Ident, _thread: i32) {}

/// clang: whether this thread is the one of this number.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_masked(_where: *mut Ident, _thread: i32, number: i32) -> i32 {
    (member().number as i32 == number).into()
}

/// It has run its part.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_masked(_where: *mut Ident, _thread: i32) {}
