//! How far apart virtual times may be: claims and properties.

use policy::{Anchor, lag_bound_ns, lag_limit_ns, rate_above_ns, rate_ns};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

#[test]
fn the_limit_is_cpu_time_of_the_task_so_that_light_tasks_may_be_further_apart() {
    assert_eq!(lag_limit_ns(6 * MS, 1024), 96 * MS);
    assert_eq!(lag_limit_ns(6 * MS, 512), 192 * MS);
    assert_eq!(lag_limit_ns(6 * MS, 4096), 24 * MS);
}

#[test]
fn a_task_is_pulled_forward_to_the_limit_and_never_back() {
    assert_eq!(lag_bound_ns(10 * MS, 100 * MS, 30 * MS), 70 * MS);
    assert_eq!(lag_bound_ns(80 * MS, 100 * MS, 30 * MS), 80 * MS);
    assert_eq!(lag_bound_ns(200 * MS, 100 * MS, 30 * MS), 200 * MS);
}

#[test]
fn within_the_limit_an_anchor_stays_and_beyond_it_moves() {
    let mut anchor = Anchor { vtime_ns: 100 * MS, clock_ns: 500 * MS };
    let before = anchor;
    assert_eq!(anchor.bound_ns(130 * MS, 500 * MS, 30 * MS), 530 * MS);
    assert_eq!(anchor.bound_ns(40 * MS, 500 * MS, 30 * MS), 440 * MS);
    assert_eq!(anchor, before);
    // Served elsewhere for long: only the limit remains of the group's lead.
    assert_eq!(anchor.bound_ns(900 * MS, 500 * MS, 30 * MS), 530 * MS);
    assert_eq!(anchor, Anchor { vtime_ns: 900 * MS, clock_ns: 530 * MS });
    // The CPU's clock went on while the group was served elsewhere.
    assert_eq!(anchor.bound_ns(910 * MS, 700 * MS, 30 * MS), 640 * MS);
    assert_eq!(anchor.clock_ns(911 * MS), 641 * MS);
}

#[test]
fn what_passed_is_forgotten_within_about_a_second() {
    assert_eq!(rate_ns(800 * MS, 0), 800 * MS);
    assert_eq!(rate_ns(800 * MS, 1 << 29), 400 * MS);
    assert_eq!(rate_ns(800 * MS, 1 << 30), 0);
    assert_eq!(rate_above_ns(800), 900);
}

proptest! {
    /// The order of a group's tasks is the same on every CPU, whatever its anchor.
    #[test]
    fn an_anchor_keeps_the_order(vtime_ns: u64, clock_ns: u64, a: u64, b: u64) {
        let anchor = Anchor { vtime_ns, clock_ns };
        let (first, second) = (a.min(b), a.max(b));
        prop_assert!(anchor.clock_ns(first) <= anchor.clock_ns(second));
    }

    /// After a look the least of the group is where the look said, and within the limits.
    #[test]
    fn a_look_leaves_the_anchor_at_its_answer(
        vtime_ns: u64,
        clock_ns: u64,
        least_ns: u64,
        now_clock_ns in 0..u64::MAX / 4,
        limit_ns in 0..u64::MAX / 8,
    ) {
        let mut anchor = Anchor { vtime_ns, clock_ns };
        let answer_ns = anchor.bound_ns(least_ns, now_clock_ns, limit_ns);
        prop_assert_eq!(anchor.clock_ns(least_ns), answer_ns);
        prop_assert!(answer_ns <= now_clock_ns + limit_ns);
        prop_assert!(answer_ns >= now_clock_ns.saturating_sub(2 * limit_ns));
        prop_assert_eq!(anchor.bound_ns(least_ns, now_clock_ns, limit_ns), answer_ns);
    }
}
