//! The same of the kernel scheduler's own source.

use cpu_model::Class;
use simulator::{Config, EvenParts, KernelMode, Outcome, Scheduler, SensorFaults, SensorSet};

use crate::build::{
    MS, busy, completion_ns, fair, half_load, pinned_half_load, run, skylake, slowdown_pct,
};

fn scx(mode: KernelMode, sensors: SensorSet) -> Config {
    Config {
        scheduler: Scheduler::Scx(mode),
        sensors,
        hz: 1000,
        ..fair(simulator::Compensation::None)
    }
}

const EVEN: KernelMode = KernelMode::Even(EvenParts::ALL);

fn without(change: impl FnOnce(&mut EvenParts)) -> KernelMode {
    let mut parts = EvenParts::ALL;
    change(&mut parts);
    KernelMode::Even(parts)
}

fn history_of(workload: &scenarios::Workload, config: Config) -> Outcome {
    let config = Config { history: true, ..config };
    simulator::run(&skylake(), workload, &config).unwrap()
}

#[test]
fn without_wide_tasks_even_equals_fair_to_the_last_switch() {
    // A forced switch-out is one more switch.
    let even = without(|parts| parts.without_forced_switch_out = true);
    for sensors in [SensorSet::D7, SensorSet::Xinuse, SensorSet::FpRetired, SensorSet::Rules] {
        for workload in [half_load(Class::Scalar), busy(Class::Scalar)] {
            let [fair, even] =
                [KernelMode::Fair, even].map(|mode| history_of(&workload, scx(mode, sensors)));
            assert!(fair.switches > 30);
            assert_eq!(fair.tasks, even.tasks);
            assert_eq!(fair.history.unwrap().records, even.history.unwrap().records);
        }
    }
}

#[test]
fn where_no_task_waits_cores_are_unmixed() {
    let slowdown = |mode| {
        let config = scx(mode, SensorSet::Rules);
        slowdown_pct(half_load, Class::Avx512Heavy, &config)
    };
    assert!(slowdown(KernelMode::Isolation) > 40.0);
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
    let slowdown =
        |mode| slowdown_pct(half_load, Class::Avx512Heavy, &scx(mode, SensorSet::Xinuse));
    let found = slowdown(EVEN);
    assert!(found.abs() < 5.0, "{found:.2} %");
    assert!(slowdown(without(|parts| parts.without_forced_switch_out = true)) > 40.0);
}

#[test]
fn a_pinned_victim_is_repaid_by_forced_idle_and_no_lag_grows() {
    let config = |mode| scx(mode, SensorSet::Rules);
    let slowdown = |mode| slowdown_pct(pinned_half_load, Class::Avx512Heavy, &config(mode));
    assert!(slowdown(KernelMode::Isolation) > 40.0);
    let found = slowdown(EVEN);
    assert!(found.abs() < 5.0, "{found:.2} %");
    let outcome = run(&pinned_half_load(Class::Avx512Heavy), &config(EVEN));
    for task in &outcome.tasks[..16] {
        assert!(task.refunded_ns > 0 && task.refunded_ns < 25 * MS, "{}", task.refunded_ns);
    }
}

#[test]
fn everyone_ends_in_time() {
    let end_ns = |mode| {
        let workload = busy(Class::Avx512Heavy);
        let outcome = run(&workload, &scx(mode, SensorSet::Rules));
        completion_ns(&workload, &outcome, 0).max(completion_ns(&workload, &outcome, 1))
    };
    let (none, even) = (end_ns(KernelMode::Fair), end_ns(EVEN));
    assert!(even < none, "{even} and {none} ns");
}

#[test]
fn it_detects_levels_itself() {
    let sensor_faults = SensorFaults { false_detections_permille: 1, ..Default::default() };
    let config = Config { sensor_faults, ..scx(EVEN, SensorSet::D7) };
    let workload = half_load(Class::Avx512Heavy);
    let error = simulator::run(&skylake(), &workload, &config).unwrap_err();
    assert!(error.to_string().contains("detects levels itself"), "{error}");
}
