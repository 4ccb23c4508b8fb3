//! The same program without its wide instructions: what each library listens to, and what CPUID
//! says to those that listen to nothing else.

mod faulting;
mod mask;
mod probe;
mod tracee;
mod tracer;

pub use faulting::Faulting;
pub use mask::{Answer, CpuidBits, Register, WIDE_BITS, hidden};
pub use probe::faulting;
pub use tracer::{Emulation, Traced};

/// A variable of the environment that keeps one library from wide instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The library that reads the variable.
    pub library: &'static str,
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: &'static str,
}

/// Variables that disable AVX-512 and AMX, and AVX2 too where a library has no step between. Other
/// libraries, and programs compiled for one CPU, keep their wide instructions.
pub const LIBRARY_SWITCHES: &[Switch] = &[
    // glibc manual 2.36, "Hardware Capability Tunables"; unknown names are ignored.
    Switch {
        library: "glibc",
        variable: "GLIBC_TUNABLES",
        value: "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-AVX2",
    },
    // OpenSSL 3.0 OPENSSL_ia32cap(3): the second pair of words is leaf 7; AVX2 (bit 5) and
    // AVX512F, DQ, IFMA, CD, BW, VL (bits 16, 17, 21, 28, 30, 31) off.
    Switch { library: "OpenSSL", variable: "OPENSSL_ia32cap", value: ":~0xd0230020" },
    // oneDNN 3, "CPU Dispatcher Control"; older versions listen to the second name.
    Switch { library: "oneDNN", variable: "ONEDNN_MAX_CPU_ISA", value: "SSE41" },
    Switch { library: "oneDNN", variable: "DNNL_MAX_CPU_ISA", value: "SSE41" },
    // Intel oneMKL developer guide, "Instruction Set Specific Dispatching".
    Switch { library: "oneMKL", variable: "MKL_ENABLE_INSTRUCTIONS", value: "SSE4_2" },
    // OpenBLAS user manual: Nehalem is the newest core without AVX.
    Switch { library: "OpenBLAS", variable: "OPENBLAS_CORETYPE", value: "Nehalem" },
    // NumPy reference, "CPU/SIMD Optimizations", names of features.
    Switch {
        library: "NumPy",
        variable: "NPY_DISABLE_CPU_FEATURES",
        value: "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
    },
    // OpenJDK HotSpot: UseAVX=0 keeps to SSE.
    Switch { library: "OpenJDK", variable: "JDK_JAVA_OPTIONS", value: "-XX:UseAVX=0" },
    // .NET 8 runtime configuration knobs.
    Switch { library: ".NET", variable: "DOTNET_EnableAVX", value: "0" },
];
