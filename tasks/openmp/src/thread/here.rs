//! What nearly every call asks for first: two words of each thread.
//!
//! A thread local of Rust is found by a call in a shared library (`__tls_get_addr`): such a library
//! may be opened when threads are there. libgomp and libomp ask for room that each thread has from
//! its start (the initial-exec model), of which the C library keeps some for libraries that are
//! opened. rustc has that only as an unstable flag (`-Z tls-model`), so the words are declared and
//! found in assembly: their place from the thread's own address is in the library's table.

use std::cell::Cell;
#[cfg(not(target_arch = "x86_64"))]
use std::ptr;

use super::Thread;
use crate::region::Member;

/// Both null in a thread that has not called yet.
#[repr(C)]
pub(crate) struct Here {
    pub thread: Cell<*const Thread>,
    /// Its part in the innermost region.
    pub member: Cell<*const Member>,
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .tbss.evenkeel_omp_here, \"awT\", @nobits",
    ".globl evenkeel_omp_here",
    ".hidden evenkeel_omp_here",
    ".type evenkeel_omp_here, @object",
    ".size evenkeel_omp_here, {bytes}",
    ".balign 8",
    "evenkeel_omp_here:",
    ".zero {bytes}",
    ".popsection",
    bytes = const size_of::<Here>(),
);

/// The words of the calling thread.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn here() -> &'static Here {
    let here: *const Here;
    // SAFETY: it only reads where the words are (ELF Handling for Thread-Local Storage, 4.3.6).
    // They are this thread's as long as it lives, and nobody keeps them for longer.
    unsafe {
        core::arch::asm!(
            "mov {here}, qword ptr fs:[0]",
            "add {here}, qword ptr [rip + evenkeel_omp_here@GOTTPOFF]",
            here = out(reg) here,
            options(nostack, readonly),
        );
        &*here
    }
}

/// The words of the calling thread.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn here() -> &'static Here {
    thread_local! {
        static HERE: Here =
            const { Here { thread: Cell::new(ptr::null()), member: Cell::new(ptr::null()) } };
    }
    // SAFETY: they have no destructor, are this thread's as long as it lives, and nobody keeps them
    // for longer.
    HERE.with(|here| unsafe { &*ptr::from_ref(here) })
}
