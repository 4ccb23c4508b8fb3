//! Which bits of CPUID tell of wide instructions, and its answers without them.

/// An answer of CPUID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// EAX.
    pub eax: u32,
    /// EBX.
    pub ebx: u32,
    /// ECX.
    pub ecx: u32,
    /// EDX.
    pub edx: u32,
}

/// A register of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// EAX.
    Eax,
    /// EBX.
    Ebx,
    /// ECX.
    Ecx,
    /// EDX.
    Edx,
}

impl Answer {
    /// One of its registers.
    pub fn register(&mut self, register: Register) -> &mut u32 {
        match register {
            Register::Eax => &mut self.eax,
            Register::Ebx => &mut self.ebx,
            Register::Ecx => &mut self.ecx,
            Register::Edx => &mut self.edx,
        }
    }
}

/// Bits of one register.
#[derive(Clone, Copy, Debug)]
pub struct CpuidBits {
    /// EAX when asking.
    pub leaf: u32,
    /// ECX when asking; `None` where ECX makes no difference.
    pub subleaf: Option<u32>,
    /// Where the answer is.
    pub register: Register,
    /// The bits, and the features that they stand for.
    pub bits: &'static [(u32, &'static str)],
}

/// Bits of features with registers wider than 128 bits, or with the same encodings (VEX, EVEX).
///
/// OSXSAVE, XCR0 and leaf 0xD stay: they say how large the saved state is, and the dynamic linker
/// saves the whole state. GFNI stays too, since SSE has an encoding of GFNI.
pub const WIDE_BITS: &[CpuidBits] = &[
    // Intel SDM volume 2A, CPUID, leaf 01H.
    CpuidBits {
        leaf: 1,
        subleaf: None,
        register: Register::Ecx,
        bits: &[(12, "FMA"), (28, "AVX"), (29, "F16C")],
    },
    // Intel SDM volume 2A, CPUID, leaf 07H, sub-leaf 0.
    CpuidBits {
        leaf: 7,
        subleaf: Some(0),
        register: Register::Ebx,
        bits: &[
            (5, "AVX2"),
            (16, "AVX512F"),
            (17, "AVX512DQ"),
            (21, "AVX512_IFMA"),
            (26, "AVX512PF"),
            (27, "AVX512ER"),
            (28, "AVX512CD"),
            (30, "AVX512BW"),
            (31, "AVX512VL"),
        ],
    },
    CpuidBits {
        leaf: 7,
        subleaf: Some(0),
        register: Register::Ecx,
        bits: &[
            (1, "AVX512_VBMI"),
            (6, "AVX512_VBMI2"),
            (9, "VAES"),
            (10, "VPCLMULQDQ"),
            (11, "AVX512_VNNI"),
            (12, "AVX512_BITALG"),
            (14, "AVX512_VPOPCNTDQ"),
        ],
    },
    CpuidBits {
        leaf: 7,
        subleaf: Some(0),
        register: Register::Edx,
        bits: &[
            (2, "AVX512_4VNNIW"),
            (3, "AVX512_4FMAPS"),
            (8, "AVX512_VP2INTERSECT"),
            (22, "AMX-BF16"),
            (23, "AVX512_FP16"),
            (24, "AMX-TILE"),
            (25, "AMX-INT8"),
        ],
    },
    // Intel SDM volume 2A, CPUID, leaf 07H, sub-leaf 1, and Instruction Set Extensions (319433).
    CpuidBits {
        leaf: 7,
        subleaf: Some(1),
        register: Register::Eax,
        bits: &[
            (0, "SHA512"),
            (1, "SM3"),
            (2, "SM4"),
            (4, "AVX-VNNI"),
            (5, "AVX512_BF16"),
            (21, "AMX-FP16"),
            (23, "AVX-IFMA"),
        ],
    },
    CpuidBits {
        leaf: 7,
        subleaf: Some(1),
        register: Register::Edx,
        bits: &[
            (4, "AVX-VNNI-INT8"),
            (5, "AVX-NE-CONVERT"),
            (8, "AMX-COMPLEX"),
            (10, "AVX-VNNI-INT16"),
            (19, "AVX10"),
        ],
    },
    // Intel's Instruction Set Extensions (319433), leaf 1EH, sub-leaf 1: tile products.
    CpuidBits {
        leaf: 0x1e,
        subleaf: Some(1),
        register: Register::Eax,
        bits: &[
            (0, "AMX-INT8"),
            (1, "AMX-BF16"),
            (2, "AMX-COMPLEX"),
            (3, "AMX-FP16"),
            (4, "AMX-FP8"),
            (5, "AMX-TRANSPOSE"),
            (6, "AMX-TF32"),
            (7, "AMX-AVX512"),
            (8, "AMX-MOVRS"),
        ],
    },
    // Intel AVX10.2 specification (361050), leaf 24H: version and widths.
    CpuidBits {
        leaf: 0x24,
        subleaf: Some(0),
        register: Register::Ebx,
        bits: &[
            (0, "AVX10 version"),
            (1, "AVX10 version"),
            (2, "AVX10 version"),
            (3, "AVX10 version"),
            (4, "AVX10 version"),
            (5, "AVX10 version"),
            (6, "AVX10 version"),
            (7, "AVX10 version"),
            (16, "AVX10/128"),
            (17, "AVX10/256"),
            (18, "AVX10/512"),
        ],
    },
    // AMD64 APM volume 3 (24594), appendix E, Fn8000_0001.
    CpuidBits {
        leaf: 0x8000_0001,
        subleaf: None,
        register: Register::Ecx,
        bits: &[(11, "XOP"), (16, "FMA4")],
    },
];

/// An answer without the bits of wide instructions.
#[must_use]
pub fn hidden(leaf: u32, subleaf: u32, mut answer: Answer) -> Answer {
    let concerns =
        |row: &&CpuidBits| row.leaf == leaf && row.subleaf.is_none_or(|of_row| of_row == subleaf);
    for row in WIDE_BITS.iter().filter(concerns) {
        for (bit, _) in row.bits {
            *answer.register(row.register) &= !(1 << bit);
        }
    }
    answer
}
