//! The earlier prototype (M): CFS that gives back time after AVX-512 code.

use std::collections::BTreeMap;

use cpu_model::{CpuModel, CpuTable, TurboMode};
use scenarios::{Case, MachineDefaults, Scenario};
use simulator::{CfsKernel, Config, Outcome, Scheduler, SensorSet, TaskOutcome};

use crate::build::SECOND;

/// A run of `pingpong`: two scalar tasks, then two with AVX-512 on the same core, then others.
fn pingpong(scheduler: Scheduler, turbo: TurboMode) -> Outcome {
    let scenario = Scenario::shipped("pingpong").unwrap().unwrap();
    let cpu: CpuModel = CpuTable::by_name("xeon-silver-4108").unwrap().model(turbo).unwrap();
    let case = Case { foreground: Some(0), background: 1 };
    let machine = MachineDefaults::from(&cpu);
    let mut workload = scenario.workload(case, Some(0), &BTreeMap::new(), &machine).unwrap();
    workload.machine.turbo = turbo == TurboMode::On;
    let config = Config { sensors: SensorSet::D7, ..Config::plain(scheduler, 30 * SECOND) };
    simulator::run(&cpu, &workload, &config).unwrap()
}

fn machauer(applies: bool) -> Scheduler {
    Scheduler::Machauer { kernel: CfsKernel::V5_9, applies }
}

fn scalar_ns(outcome: &Outcome) -> u64 {
    outcome.tasks[0].completion_ns.unwrap()
}

/// Time that tasks lost, and that they got back.
fn sums(tasks: &[TaskOutcome]) -> [u64; 2] {
    [tasks.iter().map(|task| task.lost_ns).sum(), tasks.iter().map(|task| task.refunded_ns).sum()]
}

#[test]
fn scalar_tasks_get_back_what_the_hold_took() {
    let cfs = pingpong(Scheduler::Cfs(CfsKernel::V5_9), TurboMode::Off);
    let applied = pingpong(machauer(true), TurboMode::Off);
    let gain = scalar_ns(&applied) as f64 / scalar_ns(&cfs) as f64 - 1.0;
    assert!((-0.20..-0.10).contains(&gain), "{gain:.3}");
    let (scalar, wide) = applied.tasks.split_at(2);
    let [lost_ns, refunded_ns] = sums(scalar);
    let of_loss = refunded_ns as f64 / lost_ns as f64;
    assert!((0.8..1.2).contains(&of_loss), "refunded {of_loss:.3} of the loss");
    assert!(wide.iter().all(|task| task.refunded_ns == 0 && task.billed_ns == 0));
}

/// M's measure of the overhead: everything is computed, and nothing is given back.
#[test]
fn computing_alone_changes_no_order() {
    let cfs = pingpong(Scheduler::Cfs(CfsKernel::V5_9), TurboMode::Off);
    let computed = pingpong(machauer(false), TurboMode::Off);
    let overhead = scalar_ns(&computed) as f64 / scalar_ns(&cfs) as f64 - 1.0;
    assert!(overhead.abs() < 0.015, "{overhead:.4}");
    assert!(computed.tasks.iter().all(|task| task.refunded_ns == 0));
}

/// With turbo the mean frequency is above the base frequency, to which M compares (M 3.1.2).
#[test]
fn with_turbo_it_gives_back_less_than_is_lost() {
    let outcome = pingpong(machauer(true), TurboMode::On);
    let [lost, refunded] = sums(&outcome.tasks[..2]);
    assert!(refunded < lost / 10 * 8, "{refunded} of {lost} ns");
}
