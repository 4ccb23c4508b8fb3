//! The classes of instructions that may run here: present in the CPU, and enabled by the kernel.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::sync::OnceLock;

use cpu_model::Class;
use thiserror::Error;

/// Why a class cannot run here.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Unsupported {
    /// The CPU has no such instructions.
    #[error("not on this CPU")]
    Cpu,
    /// The CPU has them; the kernel does not save their registers.
    #[error("on this CPU, but not enabled by its kernel")]
    Kernel,
}

/// Bits of XCR0: the registers that the kernel saves (Intel SDM vol. 1, 13.3).
const XCR0_AVX: u64 = 0b110;
const XCR0_AVX512: u64 = XCR0_AVX | (0b111 << 5);
const XCR0_AMX: u64 = XCR0_AVX | (0b11 << 17);

/// Asks for the right to use a register state (Linux Documentation/arch/x86/xstate.rst).
const ARCH_REQ_XCOMP_PERM: libc::c_int = 0x1023;
/// The state of AMX tiles.
const XFEATURE_XTILE_DATA: libc::c_ulong = 18;

/// Whether instructions of a class may run in this process. The first question about AMX asks the
/// kernel for its permission, which holds for all threads.
///
/// # Errors
/// The CPU or the kernel, by [`Unsupported`].
pub fn allowed(class: Class) -> Result<(), Unsupported> {
    let features = features();
    let (present, needed) = match class {
        Class::Scalar => return Ok(()),
        Class::Avx2Light => (features.avx2, XCR0_AVX),
        Class::Avx2Heavy => (features.avx2 && features.fma, XCR0_AVX),
        Class::Avx512Light | Class::Avx512Heavy => (features.avx512f, XCR0_AVX512),
        Class::Amx => (features.amx_int8, XCR0_AMX),
    };
    if !present {
        return Err(Unsupported::Cpu);
    }
    if features.xcr0 & needed != needed || (class == Class::Amx && !amx_permitted()) {
        return Err(Unsupported::Kernel);
    }
    Ok(())
}

/// The answers of CPUID and XCR0, which never change while a process runs.
struct Features {
    avx2: bool,
    fma: bool,
    avx512f: bool,
    amx_int8: bool,
    xcr0: u64,
}

fn features() -> &'static Features {
    static FEATURES: OnceLock<Features> = OnceLock::new();
    FEATURES.get_or_init(|| {
        let bit = |register: u32, bit: u32| register & (1 << bit) != 0;
        let has_leaf_7 = __cpuid(0).eax >= 7;
        let leaf_7 = __cpuid_count(7, 0);
        let (ebx, edx) = if has_leaf_7 { (leaf_7.ebx, leaf_7.edx) } else { (0, 0) };
        let ecx = __cpuid(1).ecx;
        let xsave_enabled = bit(ecx, 27);
        Features {
            avx2: bit(ebx, 5),
            fma: bit(ecx, 12),
            avx512f: bit(ebx, 16),
            amx_int8: bit(edx, 24) && bit(edx, 25),
            // SAFETY: XGETBV is valid, since CPUID reports OSXSAVE.
            xcr0: if xsave_enabled { unsafe { xcr0() } } else { 0 },
        }
    })
}

/// The register states that the kernel has enabled.
///
/// # Safety
/// The kernel has enabled XSAVE (CPUID 1, ECX bit 27).
unsafe fn xcr0() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: with XSAVE enabled XGETBV of register 0 is an unprivileged read.
    unsafe {
        asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack));
    }
    u64::from(high) << 32 | u64::from(low)
}

fn amx_permitted() -> bool {
    static PERMITTED: OnceLock<bool> = OnceLock::new();
    *PERMITTED.get_or_init(|| {
        // SAFETY: the call takes two numbers and touches no memory of this process.
        unsafe {
            libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA) == 0
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_standard_library_detects_is_allowed_and_nothing_else() {
        let avx2 = is_x86_feature_detected!("avx2");
        assert_eq!(allowed(Class::Avx2Light).is_ok(), avx2);
        assert_eq!(allowed(Class::Avx2Heavy).is_ok(), avx2 && is_x86_feature_detected!("fma"));
        assert_eq!(allowed(Class::Avx512Heavy).is_ok(), is_x86_feature_detected!("avx512f"));
        assert_eq!(allowed(Class::Scalar), Ok(()));
    }
}
