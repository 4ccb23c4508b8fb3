//! Which CPU this is, by CPUID.

use std::arch::x86_64::{__cpuid, __cpuid_count, CpuidResult};

/// Vendor, family, model and name of the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Such as `GenuineIntel`.
    pub vendor: String,
    /// Family, with its extension.
    pub family: u32,
    /// Model, with its extension.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
    /// The name of the CPU, as CPUID or the hypervisor reports the string.
    pub name: String,
    /// Whether CPUID reports a hypervisor.
    pub is_virtual: bool,
}

/// The CPU that this thread runs on.
#[must_use]
pub fn identity() -> Identity {
    let first = __cpuid(0);
    let version = __cpuid(1);
    let base_family = version.eax >> 8 & 0xf;
    let family = base_family + if base_family == 0xf { version.eax >> 20 & 0xff } else { 0 };
    let extended = if matches!(base_family, 6 | 0xf) { version.eax >> 16 & 0xf } else { 0 };
    Identity {
        vendor: text(&[first.ebx, first.edx, first.ecx]),
        family,
        model: (extended << 4) + (version.eax >> 4 & 0xf),
        stepping: version.eax & 0xf,
        name: name(),
        is_virtual: version.ecx & (1 << 31) != 0,
    }
}

/// Place in the machine of the CPU that this thread runs on, as CPUID reports the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Package.
    pub package: u32,
    /// Core, unique in the machine.
    pub core: u32,
}

/// Where this thread runs now, by the x2APIC id; `None`: the CPU does not say.
#[must_use]
pub fn place() -> Option<Place> {
    const LEAF: u32 = 0xb;
    const THREADS: u32 = 1;
    if __cpuid(0).eax < LEAF {
        return None;
    }
    let (threads, cores) = (__cpuid_count(LEAF, 0), __cpuid_count(LEAF, 1));
    if threads.ecx >> 8 & 0xff != THREADS {
        return None;
    }
    let id = threads.edx;
    let package_shift = (cores.eax & 0x1f).max(threads.eax & 0x1f);
    Some(Place { package: id >> package_shift, core: id >> (threads.eax & 0x1f) })
}

fn name() -> String {
    if __cpuid(0x8000_0000).eax < 0x8000_0004 {
        return String::new();
    }
    let registers = |CpuidResult { eax, ebx, ecx, edx }| [eax, ebx, ecx, edx];
    let words: Vec<u32> =
        (0x8000_0002..=0x8000_0004).flat_map(|leaf| registers(__cpuid(leaf))).collect();
    text(&words)
}

fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let printable = bytes[..end].iter().map(|&byte| match byte {
        b' '..=b'~' => char::from(byte),
        _ => ' ',
    });
    printable.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_the_first_zero_and_lose_their_padding() {
        assert_eq!(text(&[u32::from_le_bytes(*b"  In"), u32::from_le_bytes(*b"tel\0")]), "Intel");
        assert_eq!(identity().vendor.len(), 12);
    }
}
