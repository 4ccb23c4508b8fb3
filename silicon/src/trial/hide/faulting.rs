//! Does CPUID raise a signal on this machine when the kernel is asked for that?

/// Whether CPUID can be made to fault, and programs be traced in which CPUID faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faulting {
    /// Yes.
    Offered,
    /// The CPU cannot, its hypervisor hides the feature, or the kernel does not know the feature.
    Absent,
    /// The kernel is older than 4.12.
    KernelTooOld,
    /// The kernel refuses the feature to this process.
    Refused,
}

/// `ARCH_SET_CPUID`, arch/x86/include/uapi/asm/prctl.h (Linux 6.18).
pub(super) const ARCH_SET_CPUID: u64 = 0x1012;

impl Faulting {
    /// Reads the kernel's answer to `arch_prctl(ARCH_SET_CPUID, …)`: 0 or the negative error.
    ///
    /// `set_cpuid_mode` of arch/x86/kernel/process.c (6.18) says ENODEV where the CPU has no
    /// `cpuid_fault`; a kernel without the call says EINVAL.
    pub(super) fn of(answer: i64) -> Self {
        match answer {
            0 => Self::Offered,
            answer if answer == -i64::from(libc::ENODEV) => Self::Absent,
            answer if answer == -i64::from(libc::EINVAL) => Self::KernelTooOld,
            _ => Self::Refused,
        }
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
