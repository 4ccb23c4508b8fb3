//! Calls with any number of arguments, which stable Rust can neither define nor make.
//!
//! clang passes the variables of a parallel region one by one: to `__kmpc_fork_call`, after `...`,
//! and to the function that it made of the region, the *microtask*. All of them are as wide as a
//! pointer. The stubs here turn the arguments into an array, and an array into arguments.

use std::ffi::c_void;

/// The body of a parallel region: numbers of the thread, global and in its team, then as many
/// pointers as the fork had.
pub(crate) type Microtask = unsafe extern "C" fn(*mut i32, *mut i32);

unsafe extern "C" {
    /// Calls a microtask with the `argc` arguments at `argv`, after the address of the frame that
    /// calls it was written to `exit`.
    pub(crate) fn evenkeel_omp_invoke(
        microtask: Microtask,
        global: *mut i32,
        bound: *mut i32,
        argc: usize,
        argv: *const *mut c_void,
        exit: *mut *mut c_void,
    );
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(include_str!("microtask/x86_64.s"), options(att_syntax));
#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(include_str!("microtask/aarch64.s"));

#[cfg(test)]
mod tests;
