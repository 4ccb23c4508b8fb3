//! Whether the code that just ran used 512-bit registers.
//!
//! XGETBV with 1 returns which registers are not in their initial state. The upper halves of zmm0
//! to zmm15 (bit 6) leave that state with any write, and `vzeroupper` brings them back: so a worker
//! that clears them before a task knows afterwards whether the task has written any without
//! clearing them itself. zmm16 to zmm31 and the mask registers (bits 7 and 5) stay in use for ever
//! once the C library has used them, and show nothing.

/// The registers that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    mask: u32,
}

#[cfg(target_arch = "x86_64")]
impl Registers {
    /// The upper halves of zmm0 to zmm15, where this machine has them and tells.
    pub(crate) fn of_machine() -> Option<Self> {
        const UPPER: u32 = 1 << 6;
        (std::is_x86_feature_detected!("avx512f") && can_tell()).then_some(Self { mask: UPPER })
    }

    /// Brings the registers back to their initial state.
    #[inline]
    pub(crate) fn clear(self) {
        if self.are_used() {
            // SAFETY: a machine with these registers has AVX; the changed registers are declared as
            // clobbered.
            unsafe { std::arch::asm!("vzeroupper", clobber_abi("C"), options(nomem, nostack)) };
        }
    }

    /// Whether code has used the registers since.
    #[inline]
    pub(crate) fn are_used(self) -> bool {
        let low: u32;
        // SAFETY: `of_machine` has checked that the CPU has this instruction.
        unsafe {
            std::arch::asm!(
                "xgetbv", in("ecx") 1, out("eax") low, out("edx") _,
                options(nomem, nostack, preserves_flags)
            );
        }
        low & self.mask != 0
    }
}

/// Whether XGETBV takes 1.
#[cfg(target_arch = "x86_64")]
fn can_tell() -> bool {
    const TELLS: u32 = 1 << 2;
    // SAFETY: every processor of this architecture has the instruction.
    #[allow(unused_unsafe, reason = "older compilers call the intrinsic unsafe")]
    let leaf = unsafe { std::arch::x86_64::__cpuid_count(0xd, 1) };
    std::is_x86_feature_detected!("xsave") && leaf.eax & TELLS != 0
}

#[cfg(not(target_arch = "x86_64"))]
impl Registers {
    /// No other machine has them.
    pub(crate) fn of_machine() -> Option<Self> {
        None
    }

    /// Does nothing.
    pub(crate) fn clear(self) {}

    /// Never.
    pub(crate) fn are_used(self) -> bool {
        self.mask == 0
    }
}

#[cfg(all(test, target_arch = "x86_64", not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    /// The instruction also covers the upper halves of ymm registers, which more machines have.
    const YMM: Registers = Registers { mask: 1 << 2 };

    #[test]
    fn a_write_is_seen_and_is_forgotten_when_cleared() {
        if !std::is_x86_feature_detected!("avx2") || !can_tell() {
            return;
        }
        // SAFETY: the machine has the instruction; the register is declared as an output.
        let write = || unsafe {
            std::arch::asm!("vpcmpeqd ymm0, ymm0, ymm0", out("ymm0") _, options(nomem, nostack));
        };
        write();
        assert!(YMM.are_used());
        // Some machines never forget, and nothing can be learned on those.
        YMM.clear();
        let forgets = !YMM.are_used();
        write();
        assert!(YMM.are_used());
        YMM.clear();
        assert_eq!(!YMM.are_used(), forgets);
    }
}
