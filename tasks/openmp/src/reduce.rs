//! Reductions, as clang's programs do them.
//!
//! A program offers three ways to combine the threads' private copies; the runtime chooses. Here
//! each thread adds its copy under a lock, as soon as the copy is complete: no thread waits for
//! another that still works.

use std::ffi::c_void;

use crate::ident::Ident;
use crate::lock::Lock;
use crate::ompt::{self, At, Wait};
use crate::region::Member;
use crate::registration::member;

/// The answer by which a thread adds its copy itself, and then calls the end function.
const ADD_IT: i32 = 1;

/// # Safety
/// `name` points to the 32 bytes of the section's name.
unsafe fn begin(member: &Member, name: *mut [i32; 8]) -> i32 {
    if ompt::is_on() {
        ompt::reduces(At::Begin);
    }
    if member.region().size > 1 {
        // SAFETY: `name` points to the 32 bytes of the section's name; zero is a free lock.
        unsafe { (*name.cast::<Lock>()).set() };
    }
    ADD_IT
}

/// # Safety
/// `name` points to the 32 bytes of the section's name, which this thread has called.
unsafe fn end(member: &Member, name: *mut [i32; 8]) {
    if member.region().size > 1 {
        // SAFETY: `name` points to the 32 bytes of the section's name, which this thread has
        // called.
        unsafe { (*name.cast::<Lock>()).unset() };
    }
    if ompt::is_on() {
        ompt::reduces(At::End);
    }
}

/// A reduction without a barrier begins. Returns how the thread adds its copy.
///
/// # Safety
/// `name` points to the 32 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_reduce_nowait(
    _where: *mut Ident,
    _thread: i32,
    _number: i32,
    _bytes: usize,
    _parts: *mut c_void,
    _add: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    name: *mut [i32; 8],
) -> i32 {
    // SAFETY: `name` points to the 32 bytes of the section's name.
    unsafe { begin(member(), name) }
}

/// A reduction without a barrier ends.
///
/// # Safety
/// `name` points to the 32 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_reduce_nowait(
    _where: *mut Ident,
    _thread: i32,
    name: *mut [i32; 8],
) {
    // SAFETY: `name` points to the 32 bytes of the section's name.
    unsafe { end(member(), name) };
}

/// A reduction with a barrier begins. Returns how the thread adds its copy.
///
/// # Safety
/// `name` points to the 32 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_reduce(
    _where: *mut Ident,
    _thread: i32,
    _number: i32,
    _bytes: usize,
    _parts: *mut c_void,
    _add: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    name: *mut [i32; 8],
) -> i32 {
    // SAFETY: `name` points to the 32 bytes of the section's name.
    unsafe { begin(member(), name) }
}

/// A reduction with a barrier ends: the thread waits for the other threads.
///
/// # Safety
/// `name` points to the 32 bytes of the section's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_reduce(_where: *mut Ident, _thread: i32, name: *mut [i32; 8]) {
    let member = member();
    // SAFETY: `name` points to the 32 bytes of the section's name.
    unsafe { end(member, name) };
    ompt::waits(|| Wait::Implementation, || member.barrier());
}
