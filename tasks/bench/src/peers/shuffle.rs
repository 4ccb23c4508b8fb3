//! An order that no runtime profits from, and that a seed repeats.

/// The numbers below `count` in the order of one round.
pub fn order(count: usize, seed: u64, round: u32) -> Vec<usize> {
    let mut state = seed.wrapping_mul(1 << 32).wrapping_add(u64::from(round));
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, (next(&mut state) % (last as u64 + 1)) as usize);
    }
    order
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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
