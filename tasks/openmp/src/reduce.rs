//! Reductions, as clang's programs do them.
//!
//! A program offers three ways to bring the threads' parts together; the runtime chooses. Ours is
//! that each thread adds its part itself, under a lock, as soon as it has one: no thread waits for
//! another that still works.

use std::ffi::c_void;

use crate::ident::Ident;
use crate::lock::Lock;
use crate::ompt::{self, At, Wait};
use crate::region::Member;
use crate::registration::member;

/// What tells a thread to add its part itself, and then to say that it has.
const ADD_IT: i32 = 1;

/// # Safety
/// `name` points to the name's 32 bytes.
unsafe fn begin(member: &Member, name: *mut [i32; 8]) -> i32 {
    if ompt::is_on() {
        ompt::reduces(At::Begin);
    }
    if member.region().size > 1 {
        // SAFETY: the caller's promise; zero is a free lock.
        unsafe { (*name.cast::<Lock>()).set() };
    }
    ADD_IT
}

/// # Safety
/// As of [`begin`], which this thread has called.
unsafe fn end(member: &Member, name: *mut [i32; 8]) {
    if member.region().size > 1 {
        // SAFETY: the caller's promise.
        unsafe { (*name.cast::<Lock>()).unset() };
    }
    if ompt::is_on() {
        ompt::reduces(At::End);
    }
}

/// How this thread brings its part in, where it does not wait for the others.
///
/// # Safety
/// `name` points to the name's 32 bytes.
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
    // SAFETY: the caller's promise.
    unsafe { begin(member(), name) }
}

/// It has brought it in.
///
/// # Safety
/// As of [`__kmpc_reduce_nowait`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_reduce_nowait(
    _where: *mut Ident,
    _thread: i32,
    name: *mut [i32; 8],
) {
    // SAFETY: the caller's promise.
    unsafe { end(member(), name) };
}

/// How this thread brings its part in, where it waits for the others then.
///
/// # Safety
/// As of [`__kmpc_reduce_nowait`].
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
    // SAFETY: the caller's promise.
    unsafe { begin(member(), name) }
}

/// It has brought it in, and waits for the others.
///
/// # Safety
/// As of [`__kmpc_reduce`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_reduce(_where: *mut Ident, _thread: i32, name: *mut [i32; 8]) {
    let member = member();
    // SAFETY: the caller's promise.
    unsafe { end(member, name) };
    ompt::waits(|| Wait::Implementation, || member.barrier());
}
