//! Fibonacci hashing: spreads addresses over the slots of a table (Knuth, The Art of Computer
//! Programming, volume 3, section 6.4).

/// 2^64 over the golden ratio, made odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The slot of an address in a table of `SLOTS`, a power of two above 1.
#[inline]
pub(crate) const fn slot<const SLOTS: usize>(address: usize) -> usize {
    const { assert!(SLOTS.is_power_of_two() && SLOTS > 1) };
    ((address as u64).wrapping_mul(GOLDEN) >> (u64::BITS - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::slot;

    #[test]
    fn addresses_of_neighbours_have_slots_apart() {
        let mut taken = [0_u32; 64];
        for address in (0x7f00_0000_0000..).step_by(16).take(6400) {
            taken[slot::<64>(address)] += 1;
        }
        assert!(taken.iter().all(|count| (90..=110).contains(count)), "{taken:?}");
    }
}
