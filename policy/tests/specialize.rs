//! Core specialization (D 6.2): which cores are wide, which tasks they serve, when a wide phase
//! ends.

use policy::{
    CORE_CHANGE_INTERVAL_NS, KindVtimes, Kinds, Rank, TaskKind, WIDE_PHASE_TIMEOUT_NS, WidePhase,
    may_change_cores, prefers_core, rank,
};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn kinds(wide_tasks: u32, narrow_tasks: u32, wide_cores: u32, narrow_cores: u32) -> Kinds {
    Kinds { wide_tasks, narrow_tasks, wide_cores, narrow_cores }
}

#[test]
fn a_wide_core_is_added_where_wide_tasks_have_the_higher_load() {
    // 8 / 4 = 2 against 12 / 12 = 1.
    assert!(kinds(8, 12, 4, 12).adds(false));
    // 4 / 4 = 12 / 12: equal loads are fair.
    assert!(!kinds(4, 12, 4, 12).adds(false));
    assert!(kinds(4, 12, 4, 12).adds(true), "a narrow core has an idle CPU");
    assert!(!kinds(0, 12, 4, 12).adds(true), "no task needs a wide core");
    assert!(!kinds(99, 1, 15, 1).adds(true), "the last narrow core stays narrow");
}

#[test]
fn a_wide_core_is_removed_where_wide_tasks_would_keep_the_lower_load() {
    // 2 / 4 against 20 / 12: with three wide cores 2 / 3 against 20 / 13.
    assert!(kinds(2, 20, 4, 12).removes());
    // 4 / 3 would be above 16 / 13.
    assert!(!kinds(4, 16, 4, 12).removes());
    assert!(!kinds(0, 99, 1, 15).removes(), "the last wide core stays wide");
}

#[test]
fn cores_change_at_most_every_20_ms() {
    assert!(!may_change_cores(120 * MS, 100 * MS, CORE_CHANGE_INTERVAL_NS));
    assert!(may_change_cores(120 * MS + 1, 100 * MS, CORE_CHANGE_INTERVAL_NS));
}

#[test]
fn slow_cores_become_wide_before_others_and_narrow_after_them() {
    assert!(prefers_core(true, true) && !prefers_core(true, false));
    assert!(prefers_core(false, false) && !prefers_core(false, true));
}

#[test]
fn a_narrow_core_never_runs_a_wide_task_and_a_wide_one_runs_narrow_tasks_last() {
    use TaskKind::{Default, Narrow, Wide};
    let ranks = |core| [Default, Narrow, Wide].map(|task| rank(core, task));
    assert_eq!(ranks(true), [Rank::First, Rank::Second, Rank::First]);
    assert_eq!(ranks(false), [Rank::First, Rank::First, Rank::Never]);
}

#[test]
fn a_system_call_ends_a_wide_phase_unless_most_narrow_phases_were_short() {
    let mut phase = WidePhase::default();
    let mut ended = Vec::new();
    for _ in 0..8 {
        phase.ran(20_000);
        phase.begins();
        phase.ran(5_000);
        ended.push(phase.ends_by_call(true));
        phase.ends();
    }
    // By eighths the average passes one half with the sixth short phase.
    assert_eq!(ended, [true, true, true, true, true, false, false, false]);
    phase.begins();
    assert!(phase.ends_by_call(false), "without the rule every call ends it");
}

#[test]
fn long_narrow_phases_lift_the_rule_again() {
    let mut phase = WidePhase { short_q16: 65_536, ..WidePhase::default() };
    let mut ended = Vec::new();
    for _ in 0..6 {
        phase.ran(100_000);
        phase.begins();
        ended.push(phase.ends_by_call(true));
        phase.ends();
    }
    assert_eq!(ended, [false, false, false, false, false, true]);
}

#[test]
fn after_the_timeout_the_phase_ends_in_any_case() {
    let mut phase = WidePhase::default();
    phase.begins();
    phase.ran(9 * MS);
    assert_eq!(phase.left_ns(WIDE_PHASE_TIMEOUT_NS), MS);
    phase.ran(2 * MS);
    assert_eq!(phase.left_ns(WIDE_PHASE_TIMEOUT_NS), 0);
    phase.times_out(true);
    assert!(phase.is_wide() && phase.left_ns(WIDE_PHASE_TIMEOUT_NS) == WIDE_PHASE_TIMEOUT_NS);
    phase.times_out(false);
    assert!(!phase.is_wide());
}

#[test]
fn cores_follow_the_kind_that_is_behind_by_a_slice() {
    let vtimes = |wide_ns, narrow_ns| KindVtimes { wide_ns, narrow_ns };
    let now = kinds(1, 1, 2, 2);
    let none = KindVtimes::NONE_NS;
    assert!(now.adds_by_lag(vtimes(10 * MS, 20 * MS), 0));
    assert!(!now.adds_by_lag(vtimes(15 * MS, 20 * MS), 0), "less than a slice");
    assert!(!now.adds_by_lag(vtimes(none, 20 * MS), 9 * MS), "no wide task waits");
    assert!(now.adds_by_lag(vtimes(90 * MS, none), 4 * MS), "a narrow CPU idles");
    assert!(!now.adds_by_lag(vtimes(10 * MS, 8 * MS), 2 * MS), "not for long");
    assert!(now.removes_by_lag(vtimes(20 * MS, 10 * MS)));
    assert!(!now.removes_by_lag(vtimes(20 * MS, none)), "no narrow task waits");
    assert!(!kinds(1, 1, 1, 3).removes_by_lag(vtimes(20 * MS, 10 * MS)), "the last wide core");
}

#[test]
fn wide_cores_run_narrow_tasks_that_no_other_core_can_serve() {
    let vtimes = KindVtimes { wide_ns: 20 * MS, narrow_ns: 10 * MS };
    assert!(kinds(1, 1, 1, 3).narrow_first(vtimes), "the last wide core cannot become narrow");
    assert!(!kinds(1, 1, 2, 2).narrow_first(vtimes), "a core becomes narrow instead");
    let close = KindVtimes { wide_ns: 11 * MS, narrow_ns: 10 * MS };
    assert!(kinds(1, 1, 4, 0).narrow_first(close), "no narrow core is left");
    assert!(!kinds(1, 1, 1, 3).narrow_first(close));
}

proptest! {
    /// Whatever the numbers of tasks are, a core that was just added is not removed, and neither
    /// kind of core ever runs out: the two rules do not fight.
    #[test]
    fn adding_and_removing_agree(
        wide_tasks in 0_u32..300,
        narrow_tasks in 0_u32..300,
        cores in 2_u32..129,
        wide in any::<prop::sample::Index>(),
    ) {
        let wide_cores = 1 + wide.index(cores as usize - 1) as u32;
        let now = kinds(wide_tasks, narrow_tasks, wide_cores, cores - wide_cores);
        if now.adds(false) {
            prop_assert!(now.narrow_cores > 1);
            let then = kinds(wide_tasks, narrow_tasks, wide_cores + 1, now.narrow_cores - 1);
            prop_assert!(!then.removes());
        }
        if now.removes() {
            prop_assert!(now.wide_cores > 1);
            let then = kinds(wide_tasks, narrow_tasks, wide_cores - 1, now.narrow_cores + 1);
            prop_assert!(!then.adds(false));
        }
    }

    /// By virtual time as well, at most one of the two rules applies.
    #[test]
    fn adding_and_removing_by_lag_agree(
        wide_ns in prop_oneof![any::<u64>(), 0_u64..100_000_000, Just(u64::MAX)],
        narrow_ns in prop_oneof![any::<u64>(), 0_u64..100_000_000, Just(u64::MAX)],
        cores in 1_u32..10,
    ) {
        let now = kinds(3, 3, cores, 10 - cores);
        let vtimes = KindVtimes { wide_ns, narrow_ns };
        let both = now.adds_by_lag(vtimes, 0) && now.removes_by_lag(vtimes);
        prop_assert!(!both, "{vtimes:?}");
    }

    /// At rest, loads differ by less than what one core changes.
    #[test]
    fn the_rules_settle_where_loads_are_nearest(
        wide_tasks in 1_u32..200,
        narrow_tasks in 1_u32..200,
        cores in 2_u32..65,
    ) {
        let mut now = kinds(wide_tasks, narrow_tasks, 1, cores - 1);
        for _ in 0..2 * cores {
            if now.adds(false) {
                now = kinds(wide_tasks, narrow_tasks, now.wide_cores + 1, now.narrow_cores - 1);
            } else if now.removes() {
                now = kinds(wide_tasks, narrow_tasks, now.wide_cores - 1, now.narrow_cores + 1);
            }
        }
        prop_assert!(!now.adds(false) && !now.removes(), "{now:?}");
        let load = |tasks: u32, cores: u32| f64::from(tasks) / f64::from(cores);
        if now.narrow_cores > 1 {
            prop_assert!(load(wide_tasks, now.wide_cores) <= load(narrow_tasks, now.narrow_cores));
        }
        if now.wide_cores > 1 {
            let fewer = load(wide_tasks, now.wide_cores - 1);
            prop_assert!(fewer >= load(narrow_tasks, now.narrow_cores + 1));
        }
    }
}
