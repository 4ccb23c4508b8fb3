//! Tasks that run without a level show which one demanded it: on cores whose truth is known.

use cpu_model::LEVELS_MAX;
use policy::{CLEARED_NS, Demanded, LevelTimes, SiblingLevels, Tests};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const HOLD_NS: u64 = 670_000;
const HOLD: LevelTimes = LevelTimes { ns: [0, HOLD_NS, HOLD_NS, 0, 0, 0] };
const ALONE: SiblingLevels = SiblingLevels { runs: 0, possible: 0, believed: 0 };
/// A sibling of which nothing is known, and one that is cleared of everything.
const UNKNOWN: SiblingLevels = SiblingLevels { runs: 1, possible: 5, believed: 0 };
const CLEARED: SiblingLevels = SiblingLevels { runs: 1, possible: 0, believed: 0 };

/// A slice of 6 ms, of which `ns` was at level 2.
fn at_2(ns: u64) -> LevelTimes {
    LevelTimes { ns: [6 * MS - ns, 0, ns, 0, 0, 0] }
}

fn cleared() -> Tests {
    Tests { without_ns: [CLEARED_NS; LEVELS_MAX], hits: [0; LEVELS_MAX] }
}

fn levels(demanded: Demanded) -> (u32, u32) {
    (demanded.own_level, demanded.shown_level)
}

#[test]
fn alone_on_its_core_a_task_demanded_what_was_not_held_from_before() {
    let judge = |ns, held_ns| levels(Tests::default().judge(&at_2(ns), &HOLD, held_ns, &ALONE, 0));
    assert_eq!(judge(3 * MS, HOLD_NS), (2, 2));
    assert_eq!(judge(3 * MS, 0), (2, 2));
    // The rest of the slice clears the task.
    assert_eq!(judge(HOLD_NS, HOLD_NS), (0, 0));
    assert_eq!(judge(0, 0), (0, 0));
}

#[test]
fn what_may_be_of_a_demand_just_before_the_slice_shows_a_level_the_second_time() {
    let mut task = Tests::default();
    assert_eq!(levels(task.judge(&at_2(HOLD_NS), &HOLD, 0, &ALONE, 0)), (2, 0));
    // A slice without the level in between begins the count again.
    assert_eq!(levels(task.judge(&at_2(0), &HOLD, 0, &ALONE, 0)), (0, 0));
    assert_eq!(levels(task.judge(&at_2(HOLD_NS), &HOLD, 0, &ALONE, 0)), (2, 0));
    assert_eq!(levels(task.judge(&at_2(HOLD_NS), &HOLD, 0, &ALONE, 0)), (2, 2));
}

#[test]
fn running_without_a_level_clears_a_task_and_the_other_is_shown() {
    let mut scalar = Tests::default();
    assert_eq!(scalar.possible_level(), 5);
    assert_eq!(levels(scalar.judge(&at_2(0), &HOLD, 0, &UNKNOWN, 0)), (0, 0));
    assert_eq!(scalar.possible_level(), 0);
    // On siblings: the cleared task lost time, the other one demanded the level.
    assert_eq!(levels(scalar.judge(&at_2(6 * MS), &HOLD, 0, &UNKNOWN, 0)), (0, 0));
    let mut wide = Tests::default();
    assert_eq!(levels(wide.judge(&at_2(6 * MS), &HOLD, 0, &CLEARED, 0)), (2, 2));
    assert_eq!((wide.without_ns[1], wide.without_ns[2]), (0, 0));
}

/// A task whose registers showed wide code is cleared in a phase without wide code.
#[test]
fn beside_one_that_is_believed_to_demand_it_no_task_is_suspected() {
    let siblings = SiblingLevels { believed: 2, ..CLEARED };
    let mut new = Tests::default();
    new.judge(&at_2(6 * MS), &HOLD, 0, &siblings, 0);
    assert_eq!(levels(new.judge(&at_2(6 * MS), &HOLD, 0, &siblings, 0)).1, 0);
    let mut scalar = cleared();
    assert_eq!(levels(scalar.judge(&at_2(6 * MS), &HOLD, 0, &siblings, 0)), (0, 0));
    assert_eq!(scalar.possible_level(), 0);
}

#[test]
fn a_gap_as_short_as_the_hold_clears_of_nothing() {
    let mut bursts = Tests::default();
    for _ in 0..100 {
        bursts.judge(&at_2(6 * MS - HOLD_NS), &HOLD, 0, &UNKNOWN, 0);
    }
    assert_eq!(bursts.without_ns[2], 0);
    // A suspected task is cleared only by more time without the level than with the level.
    let mut scalar = Tests::default();
    for ns in [3 * MS, 3 * MS - MS / 4, 4 * MS] {
        scalar.judge(&at_2(ns), &HOLD, 0, &UNKNOWN, 0);
    }
    assert_eq!(scalar.without_ns[2], MS / 2);
}

#[test]
fn nothing_is_given_back_to_who_is_not_cleared() {
    let mut task = Tests::default();
    assert_eq!(levels(task.judge(&at_2(6 * MS), &HOLD, 0, &UNKNOWN, 0)), (2, 0));
    // Held from before.
    assert_eq!(levels(task.judge(&at_2(6 * MS), &HOLD, 6 * MS, &UNKNOWN, 0)), (2, 0));
    let (wide, mut task) = (SiblingLevels { believed: 2, ..UNKNOWN }, cleared());
    assert_eq!(levels(task.judge(&at_2(6 * MS), &HOLD, 0, &wide, 0)), (0, 0));
    assert_eq!(levels(task.judge(&at_2(6 * MS), &HOLD, 0, &wide, 1)), (1, 0));
}

#[test]
fn two_that_are_cleared_contradict_each_other_and_then_no_longer_are() {
    let mut task = cleared();
    assert_eq!(levels(task.judge(&at_2(6 * MS), &HOLD, 0, &CLEARED, 0)), (2, 0));
    let more = CLEARED_NS + 6 * MS;
    assert_eq!(task.without_ns, [CLEARED_NS, 0, 0, more, more, more]);
}

#[test]
fn what_runs_beside_is_the_worst_of_it() {
    let mut siblings = SiblingLevels { runs: 0, possible: 2, believed: 1 };
    siblings.note(&SiblingLevels { runs: 1, possible: 1, believed: 2 });
    assert_eq!(siblings, SiblingLevels { runs: 1, possible: 2, believed: 2 });
}

/// Slices of pairs of four tasks on two hardware threads; task `wide` demands level 2.
fn run_pairs(slices: &[(usize, usize)], wide: usize) -> Vec<(usize, Demanded)> {
    let mut tests = [Tests::default(); 4];
    let mut shown = Vec::new();
    let mut believed = [0u8; 4];
    let mut held_ns = 0;
    for &(one, other) in slices.iter().filter(|(one, other)| one != other) {
        let demands = one == wide || other == wide;
        let at = at_2(if demands { 5 * MS } else { held_ns });
        let before = tests;
        for (task, sibling) in [(one, other), (other, one)] {
            let siblings = SiblingLevels {
                runs: 1,
                possible: before[sibling].possible_level().into(),
                believed: believed[sibling].into(),
            };
            let demanded = tests[task].judge(&at, &HOLD, held_ns, &siblings, believed[task]);
            believed[task] = believed[task].max(demanded.shown_level as u8);
            shown.push((task, demanded));
        }
        held_ns = if demands { HOLD_NS } else { 0 };
    }
    shown
}

proptest! {
    #[test]
    fn a_task_that_demands_nothing_is_never_shown(
        slices in prop::collection::vec((0..4usize, 0..4usize), 0..60),
        wide in 0..4usize,
    ) {
        for (task, demanded) in run_pairs(&slices, wide) {
            prop_assert!(task == wide || demanded.shown_level == 0, "{task} {demanded:?}");
        }
    }

    #[test]
    fn a_slice_never_says_more_than_it_ran_at(
        at: [u64; LEVELS_MAX],
        hold: [u64; LEVELS_MAX],
        held_ns: u64,
        siblings: [u32; 3],
        believed: u8,
        without_ns: [u64; LEVELS_MAX],
        hits: [u32; LEVELS_MAX],
    ) {
        let [runs, possible, siblings_believed] = siblings;
        let siblings = SiblingLevels { runs, possible, believed: siblings_believed };
        let (at, hold) = (LevelTimes { ns: at }, LevelTimes { ns: hold });
        let before = Tests { without_ns, hits };
        let mut tests = before;
        let demanded = tests.judge(&at, &hold, held_ns, &siblings, believed);
        let highest = (1..LEVELS_MAX).rev().find(|&level| at.ns[level] > 0).unwrap_or(0) as u32;
        prop_assert!(demanded.own_level <= highest && demanded.shown_level <= highest);
        prop_assert!(demanded.shown_level <= demanded.own_level);
        for level in 1..LEVELS_MAX {
            let (now, before) = (tests.without_ns[level], before.without_ns[level]);
            prop_assert!(now == 0 || now >= before);
        }
    }
}

#[test]
fn the_demanding_task_is_found_among_four_that_change_places() {
    let pairs = [(0, 1), (2, 3), (1, 2), (0, 3), (1, 3), (0, 2)];
    for wide in 0..4 {
        let slices: Vec<_> = pairs.iter().copied().cycle().take(24).collect();
        let shown = run_pairs(&slices, wide);
        let own = |task, demanded: &Demanded| task == wide && demanded.shown_level == 2;
        assert!(shown.iter().any(|(task, demanded)| own(*task, demanded)), "{wide}");
    }
}
