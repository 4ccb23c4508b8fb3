//! Can CPUID be made to fault on this machine? The kernel's answer, then a trial with a shell.

use std::process::Stdio;

use super::faulting::{ARCH_SET_CPUID, Faulting};
use super::tracer::{Emulation, Traced};
use crate::machine::allowed_cpus;
use crate::trial::command::Command;

/// Asks the kernel, then traces a shell that does nothing.
#[must_use]
pub fn faulting() -> Faulting {
    // The call allows CPUID, which is allowed already: only the kernel's support shows.
    // SAFETY: the call takes no pointers and changes nothing.
    let result = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_CPUID, 1) };
    let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    let said = Faulting::of(if result == 0 { 0 } else { -i64::from(error) });
    if said != Faulting::Offered {
        return said;
    }
    let nothing =
        Command { words: ["sh", "-c", ":"].map(str::to_owned).to_vec(), environment: Vec::new() };
    let cpu = allowed_cpus().ok().and_then(|cpus| cpus.first().copied()).unwrap_or(0);
    let hides = Emulation { hides: true, stand_in: None };
    match Traced::start(&nothing, cpu, Stdio::null(), hides).map(Traced::wait) {
        Ok(Ok(status)) if status.success() => Faulting::Offered,
        _ => Faulting::Refused,
    }
}
