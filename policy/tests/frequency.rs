//! Frequencies and time lost: the worked examples of the sources and closed forms.

mod examples;

use examples::{slice, table, xeon_gold_6130};
use policy::{
    Active, ONE, Shares, Slice, TurboRow, actual_frequency_hz, ideal_frequency_hz,
    mean_frequency_hz, stall_perf_q30, time_lost, turbo_row,
};

const MS: u64 = 1_000_000;

/// Shares in thousandths.
fn shares(permille: [u64; 3]) -> Shares {
    Shares::of(&slice(&xeon_gold_6130(), 1000 * MS, 1_000_000, permille))
}

fn permille(factor_q30: u32) -> u64 {
    (u64::from(factor_q30) * 1000 + u64::from(ONE) / 2) / u64::from(ONE)
}

#[test]
fn at_one_level_the_mean_is_the_tables_frequency() {
    let turbo = xeon_gold_6130();
    for row in 0..turbo.rows {
        for level in 0..3 {
            let mut all_there = [0; 3];
            all_there[level] = 1000;
            assert_eq!(
                mean_frequency_hz(&turbo, row, &shares(all_there)),
                u64::from(turbo.khz[row as usize][level]) * 1000
            );
        }
    }
}

#[test]
fn three_tenths_at_level_2_give_2452_and_2712_mhz() {
    let turbo = xeon_gold_6130();
    let at = shares([700, 0, 300]);
    assert!(mean_frequency_hz(&turbo, 4, &at).abs_diff(2_451_612_903) <= 3);
    assert!(mean_frequency_hz(&turbo, 3, &at).abs_diff(2_712_500_000) <= 3);
}

#[test]
fn the_slides_example_lies_81_to_19_between_the_last_rows() {
    let turbo = xeon_gold_6130();
    let at = turbo_row(&turbo, &shares([700, 0, 300]), 2_500_000_000, 0);
    assert_eq!(at.slow, 4);
    assert_eq!((permille(at.factor_q30) + 5) / 10, 19);
}

#[test]
fn half_of_the_time_in_each_of_two_rows_gives_the_mean_of_their_ideals() {
    let turbo = xeon_gold_6130();
    let at_512 = shares([600, 0, 400]);
    let halfway_hz =
        (mean_frequency_hz(&turbo, 4, &at_512) + mean_frequency_hz(&turbo, 3, &at_512)) / 2;
    let at = turbo_row(&turbo, &at_512, halfway_hz, 0);
    assert_eq!((at.slow, permille(at.factor_q30)), (4, 500));
    let ideal_hz = ideal_frequency_hz(&turbo, &at_512, 0, at);
    assert!(ideal_hz.abs_diff(2_950_000_000) <= 1, "{ideal_hz}");
}

#[test]
fn frequencies_beyond_the_table_mean_its_ends() {
    let turbo = xeon_gold_6130();
    let all_512 = shares([0, 0, 1000]);
    assert_eq!(turbo_row(&turbo, &all_512, 1, 0), TurboRow { slow: 4, factor_q30: 0 });
    assert_eq!(turbo_row(&turbo, &all_512, 9_000_000_000, 0), TurboRow { slow: 0, factor_q30: 0 });
}

#[test]
fn every_row_of_the_table_is_found_by_its_own_frequency() {
    let turbo = xeon_gold_6130();
    for row in 0..turbo.rows {
        for at in [shares([1000, 0, 0]), shares([200, 300, 500]), shares([0, 1000, 0])] {
            let found = turbo_row(&turbo, &at, mean_frequency_hz(&turbo, row, &at), 0);
            assert_eq!(found, TurboRow { slow: row, factor_q30: 0 });
        }
    }
}

#[test]
fn of_rows_that_do_not_differ_the_one_with_fewest_cores_is_meant() {
    let flat = table(2_000_000, &[(2, &[3_000_000]), (4, &[2_500_000]), (8, &[2_500_000])]);
    let found = turbo_row(&flat, &shares([1000, 0, 0]), 2_500_000_000, 0);
    assert_eq!(found, TurboRow { slow: 1, factor_q30: 0 });
}

#[test]
fn a_row_of_fewer_cores_than_were_active_is_not_meant() {
    let turbo = xeon_gold_6130();
    let all_512 = shares([0, 0, 1000]);
    // 2.2 GHz lies between rows 2 and 3.
    let found = |first_row| turbo_row(&turbo, &all_512, 2_200_000_000, first_row);
    assert_eq!([0, 2, 3, 4, 9].map(|first_row| found(first_row).slow), [3, 3, 3, 4, 4]);
    assert_eq!(found(2), found(0));
    assert_eq!(found(3), TurboRow { slow: 3, factor_q30: 0 });
}

#[test]
fn where_a_table_is_too_slow_active_cores_tell_what_was_lost() {
    let mut turbo = xeon_gold_6130();
    // All cores are active, at 1.9 instead of 2.8 GHz.
    let measured = slice(&turbo, 28 * MS, 1_900_000, [0, 0, 1000]);
    for row in &mut turbo.khz {
        row[2] = row[2] * 9 / 10;
    }
    let counted = Slice { first_row: 4, ..measured };
    assert!(time_lost(&turbo, &counted, 0).lost_ns.abs_diff(9 * MS) <= 2);
    assert!(time_lost(&turbo, &measured, 0).lost_ns > 10 * MS);
}

#[test]
fn the_first_row_since_a_time_is_that_of_the_fewest_active_cores() {
    let mut rows = Active::always(4);
    assert_eq!(rows.since(0), 4);
    rows.note(2, 10);
    rows.note(4, 20);
    rows.note(3, 30);
    assert_eq!([0, 19, 20, 29, 30].map(|since_ns| rows.since(since_ns)), [2, 2, 3, 3, 3]);
    rows.note(4, 40);
    assert_eq!([19, 20, 39, 40].map(|since_ns| rows.since(since_ns)), [2, 3, 3, 4]);
}

#[test]
fn a_level_1_task_keeps_level_1_in_its_ideal() {
    let turbo = xeon_gold_6130();
    let last_row = TurboRow { slow: 4, factor_q30: 0 };
    let mixed = shares([500, 200, 300]);
    assert_eq!(ideal_frequency_hz(&turbo, &mixed, 0, last_row), 2_800_000_000);
    assert_eq!(
        ideal_frequency_hz(&turbo, &mixed, 1, last_row),
        mean_frequency_hz(&turbo, 4, &shares([500, 500, 0]))
    );
    assert_eq!(
        ideal_frequency_hz(&turbo, &mixed, 2, last_row),
        mean_frequency_hz(&turbo, 4, &mixed)
    );
}

#[test]
fn the_actual_frequency_is_the_reference_clocks_multiple() {
    assert_eq!(actual_frequency_hz(2_100_000, 19_000_000, 21_000_000), 1_900_000_000);
    assert_eq!(actual_frequency_hz(2_100_000, 5, 0), 0);
    assert_eq!(actual_frequency_hz(2_100_000, u64::MAX, u64::MAX), 2_100_000_000);
}

#[test]
fn a_scalar_slice_wholly_at_level_2_loses_9_of_28_parts() {
    let turbo = xeon_gold_6130();
    let lost = time_lost(&turbo, &slice(&turbo, 28 * MS, 1_900_000, [0, 0, 1000]), 0);
    assert_eq!((lost.actual_hz, lost.ideal_hz), (1_900_000_000, 2_800_000_000));
    assert!(lost.lost_ns.abs_diff(9 * MS) <= 1, "{lost:?}");
}

#[test]
fn a_few_cores_lose_2_of_37_parts() {
    let turbo = xeon_gold_6130();
    let lost = time_lost(&turbo, &slice(&turbo, 37 * MS, 3_500_000, [0, 0, 1000]), 0);
    // 3.5 GHz at level 2 is the row of 1-2 cores.
    assert_eq!((lost.actual_hz / 1000, lost.ideal_hz / 1000), (3_500_000, 3_700_000));
    assert!(lost.lost_ns.abs_diff(2 * MS) <= 1, "{lost:?}");
}

#[test]
fn stalled_cycles_lose_nothing() {
    let turbo = xeon_gold_6130();
    let mut stalled = slice(&turbo, 28 * MS, 1_900_000, [0, 0, 1000]);
    stalled.stall_cycles = stalled.cycles / 2;
    assert!(time_lost(&turbo, &stalled, 0).lost_ns.abs_diff(9 * MS / 2) <= 1);
    stalled.stall_cycles = stalled.cycles;
    assert_eq!(time_lost(&turbo, &stalled, 0).lost_ns, 0);
}

#[test]
fn a_task_of_the_top_level_is_never_a_victim() {
    let turbo = xeon_gold_6130();
    let slowest = slice(&turbo, 28 * MS, 1_000_000, [0, 0, 1000]);
    assert_eq!(time_lost(&turbo, &slowest, 2).lost_ns, 0);
    assert_eq!(time_lost(&turbo, &slowest, 255).lost_ns, 0);
    assert!(time_lost(&turbo, &slowest, 1).lost_ns > 0);
}

#[test]
fn without_cycles_above_the_own_level_nothing_is_lost_however_slow_the_clock() {
    let turbo = xeon_gold_6130();
    let throttled = slice(&turbo, 28 * MS, 800_000, [0, 1000, 0]);
    let lost = time_lost(&turbo, &throttled, 1);
    assert_eq!((lost.lost_ns, lost.ideal_hz), (0, lost.actual_hz));
    assert!(time_lost(&turbo, &throttled, 0).lost_ns > 0);
}

#[test]
fn counters_that_cannot_tell_lose_nothing() {
    let turbo = xeon_gold_6130();
    let mut dead = slice(&turbo, 28 * MS, 1_900_000, [0, 0, 1000]);
    dead.ref_cycles = 0;
    for slice in [dead, Slice::default()] {
        let lost = time_lost(&turbo, &slice, 0);
        assert_eq!((lost.lost_ns, lost.actual_hz, lost.ideal_hz), (0, 0, 0));
    }
}

#[test]
fn counters_that_claim_too_much_still_share_one_whole() {
    let mut greedy = Slice { cycles: 100, ..Slice::default() };
    greedy.level_cycles = [0, 80, 70, 0, 0, 0];
    let shares = Shares::of(&greedy);
    assert_eq!(shares.q30.iter().sum::<u32>(), ONE);
    assert_eq!(permille(shares.q30[2]), 700);
    assert_eq!(permille(shares.q30[1]), 300);
}

#[test]
fn speed_follows_the_frequency_without_stalls_and_ignores_it_with_nothing_else() {
    let one = u64::from(ONE);
    assert_eq!(stall_perf_q30(0, 2_000_000_000, 3_000_000_000), one * 3 / 2);
    assert_eq!(stall_perf_q30(0, 3_000_000_000, 1_500_000_000), one / 2);
    assert_eq!(stall_perf_q30(ONE, 2_000_000_000, 3_000_000_000), one);
    // Half stalled: 3 / (0.5 * 1 + 2) = 1.2.
    assert_eq!(stall_perf_q30(ONE / 2, 2_000_000_000, 3_000_000_000), one * 6 / 5);
    assert_eq!(stall_perf_q30(0, 0, 3_000_000_000), one);
}

#[test]
fn time_lost_is_what_the_stall_model_says() {
    let turbo = xeon_gold_6130();
    let mut victim = slice(&turbo, 10 * MS, 1_900_000, [0, 0, 1000]);
    victim.stall_cycles = victim.cycles * 3 / 10;
    let perf = stall_perf_q30(
        policy::share_q30(victim.stall_cycles, victim.cycles),
        1_900_000_000,
        2_800_000_000,
    );
    // Eq. D 7.2: dt = t (1 - 1 / perf).
    let ideal_ns = policy::mul_div(10 * MS, ONE, u32::try_from(perf).unwrap());
    assert!(time_lost(&turbo, &victim, 0).lost_ns.abs_diff(10 * MS - ideal_ns) <= 2);
}
