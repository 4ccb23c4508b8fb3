//! The promises of `even` beyond isolation, each compared with isolation.

use cpu_model::Class;
use scenarios::Workload;
use simulator::{Compensation, Config, EvenParts, Newcomers, Outcome, SensorSet};

use crate::build::{
    MS, busy, completion_ns, fair, half_load, pinned_half_load, placed, run, skylake, slowdown_pct,
};

const EVEN: Compensation = Compensation::Even(EvenParts::ALL);

fn without(change: impl FnOnce(&mut EvenParts)) -> Compensation {
    let mut parts = EvenParts::ALL;
    change(&mut parts);
    Compensation::Even(parts)
}

fn history_of(workload: &Workload, compensation: Compensation) -> Outcome {
    let config = Config { history: true, ..placed(compensation, Newcomers::Floor) };
    simulator::run(&skylake(), workload, &config).unwrap()
}

#[test]
fn without_wide_tasks_even_equals_fair_to_the_last_switch() {
    for workload in [half_load(Class::Scalar), busy(Class::Scalar)] {
        let [fair, even] = [Compensation::None, EVEN].map(|one| history_of(&workload, one));
        assert!(fair.switches > 30);
        assert_eq!(fair.tasks, even.tasks);
        let (fair, even) = (fair.history.unwrap(), even.history.unwrap());
        assert_eq!(fair.records, even.records);
    }
}

#[test]
fn with_every_part_left_out_it_is_isolation() {
    let nothing = EvenParts {
        without_matching: true,
        without_placing: true,
        without_swaps: true,
        without_repayment: true,
        without_forced_switch_out: true,
    };
    for workload in [half_load(Class::Avx512Heavy), busy(Class::Avx512Heavy)] {
        let [isolation, bare] = [Compensation::Isolation, Compensation::Even(nothing)]
            .map(|one| history_of(&workload, one));
        assert_eq!(isolation.tasks, bare.tasks);
        assert_eq!(isolation.history.unwrap().records, bare.history.unwrap().records);
    }
}

#[test]
fn where_no_task_waits_cores_are_unmixed() {
    let slowdown = |compensation| slowdown_pct(half_load, Class::Avx512Heavy, &fair(compensation));
    assert!(slowdown(Compensation::Isolation) > 40.0);
    let found = slowdown(EVEN);
    assert!(found.abs() < 1.0, "{found:.2} %");
    // Without swaps, the forced idle of siblings repays the loss.
    let mixed = slowdown(without(|parts| parts.without_swaps = true));
    assert!(mixed.abs() < 5.0, "{mixed:.2} %");
    let neither = without(|parts| (parts.without_swaps, parts.without_repayment) = (true, true));
    assert!(slowdown(neither) > 40.0);
}

#[test]
fn a_forced_switch_out_shows_the_registers_of_a_task_that_never_waits() {
    let slowdown = |compensation| {
        let config = Config { sensors: SensorSet::Xinuse, ..fair(compensation) };
        slowdown_pct(half_load, Class::Avx512Heavy, &config)
    };
    let found = slowdown(EVEN);
    assert!(found.abs() < 5.0, "{found:.2} %");
    assert!(slowdown(without(|parts| parts.without_forced_switch_out = true)) > 40.0);
}

#[test]
fn a_pinned_victim_is_repaid_by_forced_idle_and_no_lag_grows() {
    let slowdown =
        |compensation| slowdown_pct(pinned_half_load, Class::Avx512Heavy, &fair(compensation));
    assert!(slowdown(Compensation::Isolation) > 40.0);
    let found = slowdown(EVEN);
    assert!(found.abs() < 5.0, "{found:.2} %");
    let outcome = run(&pinned_half_load(Class::Avx512Heavy), &fair(EVEN));
    // Banked refunds move victim and culprit apart: by 18 ms, and one slice.
    for task in &outcome.tasks[..16] {
        assert!(task.refunded_ns > 0 && task.refunded_ns < 25 * MS, "{}", task.refunded_ns);
    }
}

#[test]
fn the_culprit_keeps_more_than_under_isolation() {
    let rate = |compensation| {
        let workload = busy(Class::Avx512Heavy);
        let outcome = run(&workload, &fair(compensation));
        let work: u64 = outcome.tasks[9..].iter().map(|task| task.ref_cycles).sum();
        work as f64 / outcome.simulated_ns as f64
    };
    let (isolation, even) = (rate(Compensation::Isolation), rate(EVEN));
    assert!(even > isolation, "{even:.3} and {isolation:.3} cycles a ns");
}

#[test]
fn levels_kept_apart_meet_less() {
    let mixed_ns = |compensation| {
        let outcome = run(&busy(Class::Avx512Heavy), &fair(compensation));
        outcome.tasks.iter().map(|task| task.lost_ns).sum::<u64>()
    };
    let apart = mixed_ns(EVEN);
    let matching = mixed_ns(without(|parts| parts.without_matching = true));
    assert!(apart * 10 < matching * 9, "{apart} and {matching} ns lost");
}

#[test]
fn everyone_ends_in_time() {
    let end_ns = |compensation| {
        let workload = busy(Class::Avx512Heavy);
        let outcome = run(&workload, &fair(compensation));
        completion_ns(&workload, &outcome, 0).max(completion_ns(&workload, &outcome, 1))
    };
    let (none, even) = (end_ns(Compensation::None), end_ns(EVEN));
    assert!(even < none, "{even} and {none} ns");
}

#[test]
fn with_private_licenses_no_victim_is_slowed_and_wide_tasks_are_as_slow() {
    let rates = |private_licenses| {
        let config = simulator::Config { private_licenses, ..fair(Compensation::None) };
        let outcome = run(&pinned_half_load(Class::Avx512Heavy), &config);
        assert_eq!(outcome.tasks.iter().all(|task| task.lost_ns == 0), private_licenses);
        [0, 16].map(|task| {
            let done = &outcome.tasks[task];
            done.ref_cycles as f64 / done.cpu_time_ns as f64
        })
    };
    let ([victim, culprit], [slowed, same]) = (rates(true), rates(false));
    // 2.8 GHz instead of 1.9 (D Table 3.1).
    assert!((victim / slowed - 2.8 / 1.9).abs() < 0.01, "{victim} and {slowed}");
    assert!((culprit / same - 1.0).abs() < 0.01, "{culprit} and {same}");
}
