//! Integer arithmetic that never wraps: `evenkeel/fixed.h`.

/// The fraction 1 in Q30; `EK_ONE`.
pub const ONE: u32 = 1 << 30;

/// `a * num / den` rounded down, exact; saturates, also when `den` is 0.
#[must_use]
pub fn mul_div(a: u64, num: u32, den: u32) -> u64 {
    ekp_mul_div(a, num, den)
}

/// `a` times a fraction in Q30, rounded down; a fraction above 1 is read as 1.
#[must_use]
pub fn mul_q30(a: u64, q30: u32) -> u64 {
    ekp_mul_q30(a, q30)
}

/// `part / whole` in Q30, at most 1; 0 without a whole.
#[must_use]
pub fn share_q30(part: u64, whole: u64) -> u32 {
    ekp_share_q30(part, whole)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_mul_div(a: u64, num: u32, den: u32) -> u64;
    safe fn ekp_mul_q30(a: u64, q30: u32) -> u64;
    safe fn ekp_share_q30(part: u64, whole: u64) -> u32;
}
