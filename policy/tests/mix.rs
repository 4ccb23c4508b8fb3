//! The cost of mixing levels, by the published turbo table of the Xeon Gold 6130.

mod examples;

use examples::xeon_gold_6130;
use policy::{CoreState, mix_idle_cost_permille, mix_loss_permille, mix_price_ns, mix_swaps};
use proptest::prelude::*;

/// 13 to 16 active cores: 2.8, 2.4 and 1.9 GHz (D Table 3.1).
const FULL_ROW: usize = 4;
const SHARE: u32 = 625;

#[test]
fn the_lower_level_loses_by_the_table_whichever_is_named_first() {
    let turbo = xeon_gold_6130();
    let loss = |a, b| mix_loss_permille(&turbo, FULL_ROW, a, b);
    assert_eq!((loss(0, 0), loss(1, 1), loss(2, 2)), (0, 0, 0));
    assert_eq!((loss(0, 1), loss(1, 0)), (142, 142));
    assert_eq!((loss(0, 2), loss(2, 0)), (321, 321));
    assert_eq!(loss(1, 2), 208);
    // With one active core the levels hardly differ.
    assert_eq!(mix_loss_permille(&turbo, 0, 0, 2), 54);
}

#[test]
fn a_price_goes_by_the_loss_and_ends() {
    assert_eq!(mix_price_ns(0), 0);
    assert_eq!(mix_price_ns(321), 1_926_000);
    assert_eq!(mix_price_ns(1000), 6_000_000);
    assert_eq!(mix_price_ns(u32::MAX), 6_000_000);
}

#[test]
fn an_idle_core_is_best_and_an_equal_sibling_better_than_another() {
    let turbo = xeon_gold_6130();
    let cost = |level, core| mix_idle_cost_permille(&turbo, FULL_ROW, level, &core, SHARE);
    let idle = CoreState::default();
    let held = CoreState { held: 2, ..idle };
    let busy = |sibling_level| CoreState { is_busy: 1, sibling_level, held: sibling_level };
    let scalar = [cost(0, idle), cost(0, held), cost(0, busy(0)), cost(0, busy(2))];
    assert_eq!(scalar, [0, 80, 375, 375 + 642]);
    let wide = [cost(2, idle), cost(2, held), cost(2, busy(2)), cost(2, busy(0))];
    assert_eq!(wide, [0, 0, 375, 375 + 642]);
}

#[test]
fn places_are_changed_for_more_than_a_twentieth_of_a_cpu() {
    assert!(!mix_swaps(642, 642) && !mix_swaps(0, 642) && !mix_swaps(50, 0));
    assert!(mix_swaps(51, 0) && mix_swaps(642, 321));
}

proptest! {
    #[test]
    fn a_loss_is_symmetrical_grows_with_the_distance_and_is_below_one(
        row in 0_usize..5, a in 0_u8..3, b in 0_u8..3, c in 0_u8..3,
    ) {
        let turbo = xeon_gold_6130();
        let mut levels = [a, b, c];
        levels.sort_unstable();
        let loss = |a, b| mix_loss_permille(&turbo, row, a, b);
        prop_assert_eq!(loss(a, b), loss(b, a));
        prop_assert!(loss(levels[0], levels[1]) <= loss(levels[0], levels[2]));
        prop_assert!(loss(a, b) < 1000);
    }
}
