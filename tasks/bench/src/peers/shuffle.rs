//! An order that no runtime profits from, and that a seed repeats.

use seeded::SplitMix64;

/// The numbers below `count` in the order of one round.
pub fn order(count: usize, seed: u64, round: u32) -> Vec<usize> {
    let mut random = SplitMix64::new(seed.wrapping_mul(1 << 32).wrapping_add(u64::from(round)));
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn an_order_has_every_number_once() {
        let mut all = order(100, 1, 1);
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_seed_repeats_an_order_and_another_round_does_not() {
        assert_eq!(order(100, 1, 1), order(100, 1, 1));
        assert_ne!(order(100, 1, 1), order(100, 1, 2));
        assert_ne!(order(100, 1, 1), order(100, 2, 1));
    }
}
