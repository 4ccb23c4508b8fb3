//! Which mixes are looked at while a scheduler is developed, and which are not.

use random::fnv1a;

/// Seeds of the held-out half begin here; those of development are far below. All are below 2^53,
/// so that every reader of JSON has them exactly.
const HELD_OUT_FROM: u64 = 1 << 52;

/// Seed of a mix of the development half, by index from 0: 1, 2, 3 and so on.
#[must_use]
pub fn development_seed(index: u32) -> u64 {
    u64::from(index) + 1
}

/// Seed of a mix of the held-out half, by release tag (`v0.1.0`) and index from 0. The seed is a
/// hash of both, so that it cannot be chosen, and each release has mixes that no earlier release
/// was tuned on.
#[must_use]
pub fn held_out_seed(tag: &str, index: u32) -> u64 {
    let bytes = tag.bytes().chain(index.to_le_bytes());
    HELD_OUT_FROM | (fnv1a(bytes) >> 12)
}
