//! What remains of this CPU's and of any answers.

use std::arch::x86_64::__cpuid_count;
use std::fs;

use silicon::trial::hide::{Answer, Register, WIDE_BITS, hidden};

fn asked(leaf: u32, subleaf: u32) -> Answer {
    let found = __cpuid_count(leaf, subleaf);
    Answer { eax: found.eax, ebx: found.ebx, ecx: found.ecx, edx: found.edx }
}

/// Names of Linux with the bits they stand for, arch/x86/include/asm/cpufeatures.h (6.18); written
/// down apart from the table that is tested.
const FLAGS: &[(&str, u32, u32, Register, u32)] = &[
    ("fma", 1, 0, Register::Ecx, 12),
    ("avx", 1, 0, Register::Ecx, 28),
    ("f16c", 1, 0, Register::Ecx, 29),
    ("avx2", 7, 0, Register::Ebx, 5),
    ("avx512f", 7, 0, Register::Ebx, 16),
    ("avx512dq", 7, 0, Register::Ebx, 17),
    ("avx512ifma", 7, 0, Register::Ebx, 21),
    ("avx512cd", 7, 0, Register::Ebx, 28),
    ("avx512bw", 7, 0, Register::Ebx, 30),
    ("avx512vl", 7, 0, Register::Ebx, 31),
    ("avx512vbmi", 7, 0, Register::Ecx, 1),
    ("avx512_vbmi2", 7, 0, Register::Ecx, 6),
    ("vaes", 7, 0, Register::Ecx, 9),
    ("vpclmulqdq", 7, 0, Register::Ecx, 10),
    ("avx512_vnni", 7, 0, Register::Ecx, 11),
    ("avx512_bitalg", 7, 0, Register::Ecx, 12),
    ("avx512_vpopcntdq", 7, 0, Register::Ecx, 14),
    ("avx512_vp2intersect", 7, 0, Register::Edx, 8),
    ("amx_bf16", 7, 0, Register::Edx, 22),
    ("avx512_fp16", 7, 0, Register::Edx, 23),
    ("amx_tile", 7, 0, Register::Edx, 24),
    ("amx_int8", 7, 0, Register::Edx, 25),
    ("avx_vnni", 7, 1, Register::Eax, 4),
    ("avx512_bf16", 7, 1, Register::Eax, 5),
    ("amx_fp16", 7, 1, Register::Eax, 21),
    ("avx_ifma", 7, 1, Register::Eax, 23),
    ("avx_vnni_int8", 7, 1, Register::Edx, 4),
    ("avx_ne_convert", 7, 1, Register::Edx, 5),
    ("xop", 0x8000_0001, 0, Register::Ecx, 11),
    ("fma4", 0x8000_0001, 0, Register::Ecx, 16),
    ("pni", 1, 0, Register::Ecx, 0),
    ("pclmulqdq", 1, 0, Register::Ecx, 1),
    ("ssse3", 1, 0, Register::Ecx, 9),
    ("sse4_1", 1, 0, Register::Ecx, 19),
    ("sse4_2", 1, 0, Register::Ecx, 20),
    ("popcnt", 1, 0, Register::Ecx, 23),
    ("aes", 1, 0, Register::Ecx, 25),
    ("xsave", 1, 0, Register::Ecx, 26),
    ("sse2", 1, 0, Register::Edx, 26),
    ("bmi1", 7, 0, Register::Ebx, 3),
    ("bmi2", 7, 0, Register::Ebx, 8),
    ("erms", 7, 0, Register::Ebx, 9),
    ("adx", 7, 0, Register::Ebx, 19),
    ("sha_ni", 7, 0, Register::Ebx, 29),
    ("gfni", 7, 0, Register::Ecx, 8),
    ("fsrm", 7, 0, Register::Edx, 4),
    ("abm", 0x8000_0001, 0, Register::Ecx, 5),
];

/// Whether Linux counts a flag among the wide ones by its name.
fn is_wide(flag: &str) -> bool {
    const OTHERS: [&str; 6] = ["fma", "f16c", "vaes", "vpclmulqdq", "xop", "fma4"];
    flag.starts_with("avx") || flag.starts_with("amx") || OTHERS.contains(&flag)
}

#[test]
fn this_cpu_loses_its_wide_flags_and_keeps_all_others() {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap();
    let has = |name: &str| flags.split_whitespace().any(|flag| flag == name);
    let mut seen = [0, 0];
    for &(name, leaf, subleaf, register, bit) in FLAGS.iter().filter(|flag| has(flag.0)) {
        let mut answer = asked(leaf, subleaf);
        assert!(*answer.register(register) & 1 << bit != 0, "CPUID does not say {name}");
        let remains = *hidden(leaf, subleaf, answer).register(register) & 1 << bit != 0;
        assert_eq!(remains, !is_wide(name), "{name}");
        seen[usize::from(is_wide(name))] += 1;
    }
    // Every CPU of 64 bits has SSE2; one without AVX has nothing to hide.
    assert!(seen[0] > 0 && (seen[1] > 0) == has("avx"), "{seen:?}");
    for flag in flags.split_whitespace().filter(|flag| is_wide(flag)) {
        assert!(FLAGS.iter().any(|known| known.0 == flag), "{flag} is wide and not looked at");
    }
}

#[test]
fn bits_are_only_taken_away_and_those_of_the_table_alone() {
    const ALL: Answer = Answer { eax: !0, ebx: !0, ecx: !0, edx: !0 };
    for leaf in (0..=0x30).chain(0x4000_0000..=0x4000_0010).chain(0x8000_0000..=0x8000_0030) {
        for subleaf in 0..4 {
            let mut expected = ALL;
            for row in WIDE_BITS {
                if row.leaf == leaf && row.subleaf.is_none_or(|of_row| of_row == subleaf) {
                    for (bit, _) in row.bits {
                        *expected.register(row.register) ^= 1 << bit;
                    }
                }
            }
            let rest = hidden(leaf, subleaf, ALL);
            assert_eq!(rest, expected, "{leaf:x} {subleaf}");
            assert_eq!(hidden(leaf, subleaf, rest), rest, "{leaf:x} {subleaf}");
            assert_eq!(hidden(leaf, subleaf, Answer::default()), Answer::default());
        }
    }
}

#[test]
fn the_size_of_the_saved_state_stays_true() {
    for subleaf in 0..20 {
        assert_eq!(hidden(0xd, subleaf, asked(0xd, subleaf)), asked(0xd, subleaf));
    }
    const OSXSAVE: u32 = 1 << 27;
    assert_eq!(hidden(1, 0, asked(1, 0)).ecx & OSXSAVE, asked(1, 0).ecx & OSXSAVE);
}
