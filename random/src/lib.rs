//! Numbers that follow from a seed, the same on every machine.
//!
//! Committed figures, fingerprints and shipped scenarios depend on every number: no function here
//! ever changes its results.

/// 2^64 over the golden ratio, made odd: a product with it spreads a key over its upper bits
/// (Fibonacci hashing; Knuth, The Art of Computer Programming, volume 3, section 6.4).
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The generator SplitMix64 of Steele, Lea and Flood (OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator with this state.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number, uniform in all of `u64`.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        Self::mix(self.state)
    }

    /// The output function: a bijection that spreads every bit of its argument.
    #[inline]
    #[must_use]
    pub const fn mix(state: u64) -> u64 {
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in `0..bound` by the upper bits of a product; `bound` > 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `0..bound` by the remainder of a division; `bound` > 0. Its numbers are not those
    /// of [`Self::below`].
    #[inline]
    pub const fn remainder(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    /// Uniform from 0 up to 1, in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo).
#[must_use]
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference_implementation() {
        // First outputs of Vigna's splitmix64.c with state 1234567.
        let mut generator = SplitMix64::new(1_234_567);
        let numbers = [generator.next_u64(), generator.next_u64(), generator.next_u64()];
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn both_ways_to_draw_below_a_bound_have_every_number_and_no_other() {
        let mut generator = SplitMix64::new(1);
        let (mut by_product, mut by_remainder) = ([0_u32; 7], [0_u32; 7]);
        for _ in 0..7000 {
            by_product[generator.below(7) as usize] += 1;
            by_remainder[generator.remainder(7) as usize] += 1;
        }
        let all = by_product.iter().chain(&by_remainder);
        assert!(all.clone().all(|count| (850..1150).contains(count)), "{by_product:?}");
        assert!((0..1000).all(|_| (0.0..1.0).contains(&generator.unit())));
    }

    #[test]
    fn hash_is_fnv1a() {
        // Test vectors of the authors.
        assert_eq!(fnv1a("".bytes()), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("foobar".bytes()), 0x8594_4171_f739_67e8);
    }
}
