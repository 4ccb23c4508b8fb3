//! Two words of each thread, which nearly every call of a program reads first.
//!
//! A shared library reaches a Rust thread local by a call (`__tls_get_addr`), since such a library
//! may be opened after threads have started. libgomp and libomp use the initial-exec model instead:
//! each thread has the room from its start, and the C library keeps some for libraries opened
//! later. rustc offers that model only as an unstable flag (`-Z tls-model`), so the words are
//! declared and found in assembly: the library's global offset table has their distance from the
//! thread pointer.

use std::cell::Cell;
#[cfg(not(target_arch = "x86_64"))]
use std::ptr;

/// Two pointers, both null in a thread that has not called the library yet. The modules that set
/// them own their types: this file is below both.
#[repr(C)]
pub(crate) struct Here {
    /// The thread's record, of `registered`.
    pub thread: Cell<*const ()>,
    /// The thread's part in its innermost region, of `region`.
    pub member: Cell<*const ()>,
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
    // SAFETY: the code only computes the address of the words (ELF Handling for Thread-Local
    // Storage, 4.3.6), which are this thread's as long as the thread lives; no caller keeps the
    // reference for longer.
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
    // SAFETY: the words have no destructor and live as long as the thread; no caller keeps the
    // reference for longer.
    HERE.with(|here| unsafe { &*ptr::from_ref(here) })
}
