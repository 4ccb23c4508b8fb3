//! Every task gets a share by weight, and the culprit of each loss is named.

use cpu_model::Class;
use scenarios::{Draw, Role, Spread, Step, Workload};
use simulator::{
    CfsKernel, Compensation, Config, EevdfKernel, KernelMode, Outcome, Queues, RqSharing, Scheduler,
};

use crate::build::{SECOND, add, empty, fair, machine, run, saturating, skylake, work};

fn run_for(workload: &Workload, config: &Config, ns: u64) -> Outcome {
    let config = Config { limit_ns: ns, ..config.clone() };
    simulator::run(&skylake(), workload, &config).unwrap()
}

/// Two CPUs, and tasks of nice 0, 0, 3 and 5 (weights 1024, 1024, 526, 335).
#[test]
fn shares_of_fair_follow_the_weights() {
    let mut workload = empty(machine(2, 1));
    add(&mut workload, Role::Foreground, 4, &saturating(Class::Scalar, None));
    for (thread, nice) in workload.threads.iter_mut().zip([0, 0, 3, 5]) {
        thread.nice = nice;
    }
    let outcome = run_for(&workload, &fair(Compensation::None), 20 * SECOND);
    for (task, weight) in outcome.tasks.iter().zip([1024.0, 1024.0, 526.0, 335.0]) {
        let share = task.cpu_time_ns as f64 / (40 * SECOND) as f64;
        let right = weight / (1024.0 + 1024.0 + 526.0 + 335.0);
        assert!((share - right).abs() < 0.005, "{share:.3} instead of {right:.3}");
    }
}

#[test]
fn no_task_starves_among_equals() {
    let schedulers = [
        fair(Compensation::None).scheduler,
        Scheduler::Cfs(CfsKernel::V5_9),
        Scheduler::Eevdf(EevdfKernel::V6_12),
        Scheduler::Eevdf(EevdfKernel::V6_18),
        Scheduler::Muqss { rq_sharing: RqSharing::Mc, interactive: true },
    ];
    for scheduler in schedulers {
        let mut workload = empty(machine(2, 1));
        add(&mut workload, Role::Foreground, 8, &saturating(Class::Scalar, None));
        let config = Config { scheduler, ..fair(Compensation::None) };
        let outcome = run_for(&workload, &config, 10 * SECOND);
        for task in &outcome.tasks {
            let share = task.cpu_time_ns as f64 / (20 * SECOND) as f64;
            let name = config.scheduler.name();
            assert!((0.11..0.14).contains(&share), "{name}: {share:.3} instead of 0.125");
        }
    }
}

/// Light 256-bit code demands no level, yet waking the wide registers throttles the sibling.
/// A waking task waits until the running one has run for some time, and not for ever.
#[test]
fn tasks_of_short_bursts_get_their_share_beside_tasks_that_never_sleep() {
    let mut workload = empty(machine(3, 1));
    let pause = Draw { mean: 20_000, spread: Spread::Fixed };
    let burst = [
        Step::Compute(work(Class::Scalar, 20_000)),
        Step::Sleep(pause),
        Step::Loop { to: 0, times: None },
    ];
    add(&mut workload, Role::Foreground, 2, &burst);
    add(&mut workload, Role::Foreground, 5, &saturating(Class::Scalar, None));
    let newcomers = Compensation::None.newcomers();
    let model =
        Scheduler::Fair { compensation: Compensation::None, newcomers, queues: Queues::PerLlc };
    let schedulers = [
        Some(model),
        Some(fair(Compensation::None).scheduler),
        cfg!(feature = "scx").then_some(Scheduler::Scx(KernelMode::Fair)),
    ];
    for scheduler in schedulers.into_iter().flatten() {
        let config = Config { scheduler, hz: 1000, ..fair(Compensation::None) };
        let outcome = run_for(&workload, &config, 5 * SECOND);
        for task in &outcome.tasks {
            let share = task.cpu_time_ns as f64 / (15 * SECOND) as f64;
            let name = config.scheduler.name();
            assert!((0.12..0.16).contains(&share), "{name}: {share:.3} instead of 1/7");
        }
    }
}

#[test]
fn a_widening_without_a_change_of_level_is_attributed_to_the_widening_task() {
    let mut workload = empty(machine(1, 2));
    add(&mut workload, Role::Foreground, 1, &saturating(Class::Scalar, Some(100)));
    add(&mut workload, Role::Background, 1, &saturating(Class::Avx2Light, None));
    let outcome = run(&workload, &fair(Compensation::None));
    assert!(outcome.tasks[0].lost_ns > 0);
    let blamed: Vec<(u32, u32)> =
        outcome.losses.iter().map(|loss| (loss.victim, loss.culprit)).collect();
    assert_eq!(blamed, [(0, 1)]);
}
