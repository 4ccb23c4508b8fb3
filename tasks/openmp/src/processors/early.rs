//! The CPUs of the process before any library has bound its first thread.
//!
//! Where this library is preloaded, libgomp, which stays idle, is initialised before. If the
//! environment asks for places, libgomp binds the first thread then, and the CPUs from before are
//! lost. Only code that runs while the loader still resolves names comes earlier: indirect
//! functions. Such code may call no library, so the function here asks the kernel itself.

use std::arch::global_asm;

use super::{Mask, WORDS};

/// The mask from the kernel; zeros without one. Written by the loader's call alone.
static mut CPUS: [u64; WORDS] = [0; WORDS];

unsafe extern "C" {
    /// An indirect function, which is never called.
    fn evenkeel_omp_early();
}

/// Lets the loader ask where that is.
#[used]
static EARLY: unsafe extern "C" fn() = evenkeel_omp_early;

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .text.evenkeel_omp_early,\"ax\",@progbits",
    ".globl evenkeel_omp_early",
    ".hidden evenkeel_omp_early",
    ".type evenkeel_omp_early, @gnu_indirect_function",
    "evenkeel_omp_early:",
    "mov eax, {call}",
    "xor edi, edi",
    "mov esi, {bytes}",
    "lea rdx, [rip + {cpus}]",
    "syscall",
    "mov eax, 1",
    "ret",
    ".size evenkeel_omp_early, . - evenkeel_omp_early",
    ".popsection",
    call = const libc::SYS_sched_getaffinity,
    bytes = const WORDS * 8,
    cpus = sym CPUS,
);
#[cfg(target_arch = "aarch64")]
global_asm!(
    ".pushsection .text.evenkeel_omp_early,\"ax\",%progbits",
    ".globl evenkeel_omp_early",
    ".hidden evenkeel_omp_early",
    ".type evenkeel_omp_early, %gnu_indirect_function",
    "evenkeel_omp_early:",
    "mov x8, {call}",
    "mov x0, xzr",
    "mov x1, {bytes}",
    "adrp x2, {cpus}",
    "add x2, x2, :lo12:{cpus}",
    "svc 0",
    "mov x0, 1",
    "ret",
    ".size evenkeel_omp_early, . - evenkeel_omp_early",
    ".popsection",
    call = const libc::SYS_sched_getaffinity,
    bytes = const WORDS * 8,
    cpus = sym CPUS,
);

/// The CPUs that the first thread could use, if known.
pub(super) fn mask() -> Option<Mask> {
    // SAFETY: the loader is done.
    let cpus = unsafe { CPUS };
    cpus.iter().any(|&word| word != 0).then_some(Mask(cpus))
}
