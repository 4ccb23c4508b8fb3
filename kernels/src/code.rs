//! The instructions themselves, in assembly, so that no compiler merges, hoists or widens them.
//!
//! Each function runs `blocks` blocks of [`INSTRUCTIONS`] instructions of its class on independent
//! registers, each block followed by `gaps` gaps. A gap is a chain of as many dependent additions,
//! one a cycle; the chain goes on through all blocks, so that a block takes at least as many cycles
//! as its gaps have additions, whatever else the core does meanwhile.
//!
//! The additions add a register: Golden Cove and later drop the addition of a small constant when
//! they rename registers, which takes no cycle at all.
//!
//! Only registers 0 to 15 are written and the upper halves are zeroed at the end, so that neither
//! the register file stays powered nor later code of this thread is marked by what ran here.

use std::arch::asm;

/// Instructions of the class in a block.
pub(crate) const INSTRUCTIONS: u64 = 12;

/// Runs blocks of instructions, each followed by gaps.
///
/// # Safety
/// `blocks` is not 0, and CPU and kernel allow the class.
pub(crate) type Code = unsafe fn(blocks: u64, gaps: u64);

/// A tile configuration (Intel SDM, LDTILECFG): palette 1, eight tiles of 16 rows of 64 bytes.
#[repr(C, align(64))]
struct TileConfig {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static TILE_CONFIG: TileConfig = TileConfig {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// The factors in the tiles; any numbers but zeros.
#[repr(C, align(64))]
struct Tile([u8; 1024]);

static TILE: Tile = Tile([0x5a; 1024]);

macro_rules! code {
    ($name:ident, $begin:expr, $block:expr, $end:expr) => {
        pub(crate) unsafe fn $name(blocks: u64, gaps: u64) {
            // SAFETY: the CPU and the kernel allow the class and `blocks` is not 0, as this
            // function requires; the code only reads memory, from the two statics, and declares
            // every register that it writes as clobbered.
            unsafe {
                asm!(
                    $begin,
                    "2:",
                    $block,
                    "mov r11, rdx",
                    "test r11, r11",
                    "jz 4f",
                    "3:",
                    ".rept 12",
                    "add rax, rsi",
                    ".endr",
                    "dec r11",
                    "jnz 3b",
                    "4:",
                    "dec rcx",
                    "jnz 2b",
                    $end,
                    inout("rcx") blocks => _,
                    in("rdx") gaps,
                    in("rsi") 7u64,
                    in("r8") &raw const TILE_CONFIG,
                    in("r9") &raw const TILE,
                    clobber_abi("C"),
                    options(nostack),
                );
            }
        }
    };
}

/// Fills the registers 0 to 11 and 13 with 1.7 and register 12 with -1.0 in single precision, so
/// that products change their bits and never become denormal.
macro_rules! begin {
    ($load:literal, $widen:literal) => {
        concat!(
            "mov eax, 0x3fd9999a\n",
            ".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13\n",
            $load,
            " xmm\\r, eax\n",
            $widen,
            "\n",
            ".endr\n",
            "mov eax, 0xbf800000\n",
            ".irp r, 12\n",
            $load,
            " xmm\\r, eax\n",
            $widen,
            "\n",
            ".endr",
        )
    };
}

/// An instruction on each of the twelve registers.
macro_rules! block {
    ($instruction:literal) => {
        concat!(".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n", $instruction, "\n", ".endr",)
    };
}

// 128-bit floating point, which every x86-64 CPU has, is the control: D 5.2.1 starts from it.
code!(scalar, begin!("movd", "shufps xmm\\r, xmm\\r, 0"), block!("mulps xmm\\r, xmm12"), "");
code!(
    avx2_light,
    begin!("vmovd", "vbroadcastss ymm\\r, xmm\\r"),
    block!("vpor ymm\\r, ymm\\r, ymm12"),
    "vzeroupper"
);
code!(
    avx2_heavy,
    begin!("vmovd", "vbroadcastss ymm\\r, xmm\\r"),
    block!("vfmadd213ps ymm\\r, ymm12, ymm13"),
    "vzeroupper"
);
code!(
    avx512_light,
    begin!("vmovd", "vbroadcastss zmm\\r, xmm\\r"),
    block!("vpord zmm\\r, zmm\\r, zmm12"),
    "vzeroupper"
);
code!(
    avx512_heavy,
    begin!("vmovd", "vbroadcastss zmm\\r, xmm\\r"),
    block!("vfmadd213ps zmm\\r, zmm12, zmm13"),
    "vzeroupper"
);
code!(
    amx,
    concat!(
        "ldtilecfg [r8]\n",
        "mov eax, 64\n",
        ".irp r, 0, 1, 2, 3, 4, 5\n",
        "tileloadd tmm\\r, [r9 + rax]\n",
        ".endr"
    ),
    concat!(
        ".irp r, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3\n",
        "tdpbssd tmm\\r, tmm4, tmm5\n",
        ".endr"
    ),
    "tilerelease"
);

/// Dependent operations, `blocks` times as many as [`OPERATIONS`].
macro_rules! dependent {
    ($name:ident, $operation:literal) => {
        /// # Safety
        /// `blocks` is not 0.
        pub(crate) unsafe fn $name(blocks: u64) {
            // SAFETY: arithmetic on declared registers; the loop begins with at least one block.
            unsafe {
                asm!(
                    "2:",
                    ".rept 64",
                    $operation,
                    ".endr",
                    "dec {blocks}",
                    "jnz 2b",
                    blocks = inout(reg) blocks => _,
                    one = inout(reg) 3u64 => _,
                    other = in(reg) 7u64,
                    options(nomem, nostack),
                );
            }
        }
    };
}

/// Operations in a block of a chain.
pub(crate) const OPERATIONS: u64 = 64;

dependent!(additions, "add {one}, {other}");
dependent!(multiplications, "imul {one}, {other}");
