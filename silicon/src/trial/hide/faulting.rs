//! Does CPUID raise a signal here when it is asked to?

use std::process::Stdio;

use super::tracer::{Emulation, Traced};
use crate::machine::allowed_cpus;
use crate::trial::Command;

/// Whether CPUID can be made to fault, and programs be followed that it faults in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faulting {
    /// Yes.
    Offered,
    /// The CPU cannot, its hypervisor hides that it can, or the kernel does not know it.
    Absent,
    /// The kernel is older than 4.12.
    KernelTooOld,
    /// The kernel refuses it to this process.
    Refused,
}

/// `ARCH_SET_CPUID`, arch/x86/include/uapi/asm/prctl.h (Linux 6.18).
pub(super) const ARCH_SET_CPUID: u64 = 0x1012;

impl Faulting {
    /// What the kernel answered to `arch_prctl(ARCH_SET_CPUID, …)`: 0 or the negative error.
    ///
    /// `set_cpuid_mode` of arch/x86/kernel/process.c (6.18) says ENODEV where the CPU has no
    /// `cpuid_fault`; a kernel without it says EINVAL.
    pub(super) fn of(answer: i64) -> Self {
        match answer {
            0 => Self::Offered,
            answer if answer == -i64::from(libc::ENODEV) => Self::Absent,
            answer if answer == -i64::from(libc::EINVAL) => Self::KernelTooOld,
            _ => Self::Refused,
        }
    }
}

/// Asks the kernel, and tries it on a shell that does nothing.
#[must_use]
pub fn faulting() -> Faulting {
    // Allowing CPUID, which is allowed: only whether the kernel can forbid it shows.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_tells_what_is_missing() {
        assert_eq!(Faulting::of(0), Faulting::Offered);
        assert_eq!(Faulting::of(-19), Faulting::Absent);
        assert_eq!(Faulting::of(-22), Faulting::KernelTooOld);
        assert_eq!(Faulting::of(-1), Faulting::Refused);
    }
}
