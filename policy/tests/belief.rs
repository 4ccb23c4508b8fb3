//! The belief about tasks and cores: against a core watched step by step, and closed forms.

mod examples;

use cpu_model::LEVELS_MAX;
use examples::xeon_gold_6130;
use policy::{
    Belief, Learned, LevelTimes, NO_TASK, Rates, Slice, Users, active_row, counted_times, infer,
    retired_level, time_lost,
};
use proptest::prelude::*;

const US: u64 = 1000;
const HOLD_NS: u64 = 670 * US;

/// Skylake holds each level for as long (D 3.2.3).
fn skylake() -> LevelTimes {
    LevelTimes { ns: [0, HOLD_NS, HOLD_NS, 0, 0, 0] }
}

/// Two hardware threads whose demand changes at times; time at each level, counted step by step.
fn watched(changes: &[(u64, usize, u8)], hold: &LevelTimes, end: u64) -> [u64; LEVELS_MAX] {
    let mut demanded = [0u8; 2];
    let mut held_until = [0; LEVELS_MAX];
    let mut at = [0; LEVELS_MAX];
    for now in 0..end {
        for &(time, thread, level) in changes {
            if time == now {
                let held = 1..usize::from(demanded[thread]) + 1;
                for (until, hold) in held_until[held.clone()].iter_mut().zip(&hold.ns[held]) {
                    *until = (*until).max(now + hold);
                }
                demanded[thread] = level;
            }
        }
        let held = (1..LEVELS_MAX).rev().find(|&level| held_until[level] > now).unwrap_or(0);
        let level = held.max(demanded.into_iter().max().unwrap_or(0).into());
        at[level] += 1;
    }
    at
}

proptest! {
    #[test]
    fn time_at_each_level_is_that_of_a_core_watched_step_by_step(
        steps in prop::collection::vec((0..40u64, 0..2usize, 0..6u8), 0..12),
        holds in prop::array::uniform6(0..60u64),
    ) {
        let hold = LevelTimes { ns: holds };
        let mut changes = Vec::new();
        let (mut belief, mut demanded, mut now) = (Belief::default(), [0; 2], 0);
        for (wait, thread, level) in steps {
            now += wait;
            belief.change(&hold, demanded[thread], level, now);
            demanded[thread] = level;
            changes.push((now, thread, level));
        }
        let end = now + 50;
        belief.change(&hold, 0, 0, end);
        let since = belief.since(&LevelTimes::default(), end);
        prop_assert_eq!(since.ns, watched(&changes, &hold, end));
    }

    #[test]
    fn garbage_books_no_more_than_the_time_that_passed(
        since_ns: u64,
        now_ns: u64,
        held_until_ns: [u64; LEVELS_MAX],
        running: [u32; LEVELS_MAX],
        ns: [u64; LEVELS_MAX],
        from: u8,
        to: u8,
    ) {
        let before = Belief { since_ns, held_until_ns, running, ..Belief::default() };
        let mut belief = before;
        belief.change(&LevelTimes { ns }, from, to, now_ns);
        let passed_ns = now_ns.saturating_sub(since_ns);
        let since = belief.since(&before.booked, passed_ns);
        prop_assert_eq!(since.ns.iter().sum::<u64>(), passed_ns);
    }
}

#[test]
fn a_core_is_busy_while_somebody_demands_a_level_and_until_its_hold_ends() {
    let mut belief = Belief::default();
    assert_eq!(belief.wide_until_ns(), 0);
    belief.change(&skylake(), 0, 2, US);
    assert_eq!(belief.wide_until_ns(), u64::MAX);
    belief.change(&skylake(), 2, 0, 2 * US);
    assert_eq!(belief.wide_until_ns(), 2 * US + HOLD_NS);
    belief.change(&skylake(), 0, 0, 9 * US + HOLD_NS);
    assert_eq!(belief.wide_until_ns(), 2 * US + HOLD_NS);
    assert_eq!(belief.booked.ns, [0, 0, US + HOLD_NS, 0, 0, 0]);
}

#[test]
fn evidence_counts_for_two_seconds_and_the_highest_level_of_it() {
    const S: u64 = 1_000_000_000;
    let mut learned = Learned::default();
    learned.learn(0, S);
    assert_eq!(learned.level(S), 0);
    learned.learn(2, S);
    learned.learn(1, 2 * S);
    assert_eq!([2 * S, 3 * S - 1, 3 * S, 4 * S].map(|now| learned.level(now)), [2, 2, 1, 0]);
    learned.learn(200, 5 * S);
    assert_eq!(learned.level(5 * S), 0);
}

#[test]
fn a_scalar_slice_in_the_hold_of_heavy_code_lost_what_the_table_says() {
    let turbo = xeon_gold_6130();
    let row = active_row(&turbo, 16);
    let believed = LevelTimes { ns: [0, 0, 6_000_000, 0, 0, 0] };
    let mut slice = Slice { time_ns: 6_000_000, ..Slice::default() };
    infer(&turbo, row, &believed, &mut slice);
    // 1.9 instead of 2.8 GHz with all cores active.
    assert_eq!((slice.cycles, slice.ref_cycles), (11_400_000, 12_600_000));
    let lost = time_lost(&turbo, &slice, 0).lost_ns;
    assert!(lost.abs_diff(6_000_000 * 9 / 28) < 10, "{lost}");
}

#[test]
fn counted_cycles_hold_and_are_divided_like_the_inferred_ones() {
    let turbo = xeon_gold_6130();
    let believed = LevelTimes { ns: [28, 0, 19, 0, 0, 0] };
    let mut slice = Slice { time_ns: 1000, cycles: 4000, ref_cycles: 2000, ..Slice::default() };
    infer(&turbo, active_row(&turbo, 16), &believed, &mut slice);
    assert_eq!((slice.cycles, slice.ref_cycles), (4000, 2000));
    let share = slice.level_cycles[2] as f64 / 4000.0;
    let expected = 19.0 * 1.9 / (28.0 * 2.8 + 19.0 * 1.9);
    assert!((share - expected).abs() < 1e-3, "{share} {expected}");
}

#[test]
fn counted_cycles_take_the_time_that_the_table_says_and_give_the_same_slice_back() {
    let turbo = xeon_gold_6130();
    let row = active_row(&turbo, 16);
    let believed = LevelTimes { ns: [3_000_000, 1_000_000, 2_000_000, 0, 0, 0] };
    let mut slice = Slice { time_ns: 6_000_000, ..Slice::default() };
    infer(&turbo, row, &believed, &mut slice);
    let times = counted_times(&turbo, row, &slice);
    for (time, expected) in times.ns.iter().zip(&believed.ns) {
        assert!(time.abs_diff(*expected) < 10, "{times:?}");
    }
    // More cycles than fit: all of the time, and no more.
    let slice = Slice { time_ns: 1000, level_cycles: [0, 0, u64::MAX, 0, 0, 0], ..slice };
    assert_eq!(counted_times(&turbo, row, &slice).ns.iter().sum::<u64>(), 1000);
}

#[test]
fn cycles_at_level_0_leave_no_more_time_above_it_than_there_was() {
    let mut turbo = xeon_gold_6130();
    let row = active_row(&turbo, 16);
    // Of 6 ms 2 in level 2, with all cores active, and 1 of them halted.
    let slice = Slice {
        time_ns: 6_000_000,
        cycles: 3_000 * 2_800 + 2_000 * 1_900,
        ref_cycles: 5_000 * 2_100,
        level_cycles: [0, 0, 2_000 * 1_900, 0, 0, 0],
        first_row: row as u64,
        ..Slice::default()
    };
    assert_eq!(counted_times(&turbo, row, &slice).ns[2], 1_999_999);
    turbo.khz[row][2] = 1_710_000;
    assert_eq!(counted_times(&turbo, row, &slice).ns[2], 1_999_999);
    // Without counted cycles, and where few cores may have been active, the table has to tell.
    let uncounted = Slice { cycles: 0, ..slice };
    assert_eq!(counted_times(&turbo, row, &uncounted).ns[2], 2_222_222);
    let unknown = Slice { first_row: 0, ..slice };
    assert_eq!(counted_times(&turbo, row, &unknown).ns[2], 2_222_222);
}

#[test]
fn a_row_holds_up_to_so_many_active_cores() {
    let turbo = xeon_gold_6130();
    for cores in 0..40 {
        assert_eq!(active_row(&turbo, cores), turbo.row(cores), "{cores} cores");
    }
}

#[test]
fn who_demanded_a_level_answers_for_it_and_all_below() {
    let mut users = Users::default();
    let seen = |level: usize| {
        let mut slice = Slice::default();
        slice.level_cycles[level] = 1;
        slice
    };
    assert_eq!(users.above(&seen(2), 0), NO_TASK);
    users.note(2, 7);
    assert_eq!((users.above(&seen(1), 0), users.above(&seen(2), 1)), (7, 7));
    users.note(1, 9);
    assert_eq!((users.above(&seen(1), 0), users.above(&seen(2), 1)), (9, 7));
    // Nothing above its own level.
    assert_eq!(users.above(&seen(2), 2), NO_TASK);
    users.note(0, 11);
    assert_eq!(users.above(&seen(1), 0), 9);
}

#[test]
fn skylake_demands_by_width_and_rate() {
    const NEVER: u32 = u32::MAX;
    // D 3.2.1: dense heavy 256-bit code 1; heavy 512-bit code 1, and 2 from one in two cycles on.
    let rates = Rates {
        min_permille: [[0, 500, NEVER, NEVER, NEVER, NEVER], [0, 1, 500, NEVER, NEVER, NEVER]],
    };
    let level = |narrow, wide| retired_level(&rates, [narrow, wide], 1000);
    assert_eq!((level(0, 0), level(499, 0), level(500, 0)), (0, 0, 1));
    assert_eq!((level(0, 1), level(0, 499), level(0, 500), level(2000, 1500)), (1, 1, 2, 2));
    assert_eq!(retired_level(&rates, [5, 5], 0), 0);
}
