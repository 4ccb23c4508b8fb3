//! Parallel regions, by one thread for now.

use std::ffi::{c_int, c_void};

use crate::microtask::{Microtask, evenkeel_omp_invoke};
use crate::unsupported::abort_with;

/// Where in the program a call is, as clang describes it.
pub(crate) type Ident = c_void;

/// What `__kmpc_fork_call` becomes.
///
/// # Safety
/// `argv` has `argc` arguments, which the microtask takes.
#[unsafe(no_mangle)]
unsafe extern "C" fn evenkeel_omp_fork_call(
    _where: *mut Ident,
    argc: c_int,
    microtask: Microtask,
    argv: *const *mut c_void,
) {
    let (mut global, mut bound) = (0, 0);
    let argc = usize::try_from(argc).unwrap_or_default();
    // SAFETY: As the caller promises.
    unsafe { evenkeel_omp_invoke(microtask, &mut global, &mut bound, argc, argv) };
}

/// What `__kmpc_fork_teams` becomes.
///
/// # Safety
/// None needed; it does not return.
#[unsafe(no_mangle)]
unsafe extern "C" fn evenkeel_omp_fork_teams(
    _where: *mut Ident,
    _argc: c_int,
    _microtask: Microtask,
    _argv: *const *mut c_void,
) {
    abort_with(b"evenkeel: __kmpc_fork_teams is not supported\n")
}
