//! Which virtual time do tasks get that are new, and does a late arrival win by it?

use std::collections::BTreeMap;

use cpu_model::Class;
use scenarios::{Case, MachineDefaults, Role, Scenario, Workload};
use simulator::{Compensation, Config, EvenParts, Newcomers};

use crate::build::{
    MS, SECOND, add, completion_ns, empty, machine, placed, run, saturating, skylake,
};

const EVEN: Compensation = Compensation::Even(EvenParts::ALL);
/// Seeds of a figure, each with a parameter set of the encoder.
const SEEDS: u64 = 3;
/// Worth 9.3 times a thread of nice 0, and thus more than a CPU: such a thread falls behind all
/// others, as no CPU can give it more time.
const NICE: i8 = -10;

/// `swaptions`, of 32 threads, which begins so long after four encoders and a thread that is worth
/// more than a CPU.
fn beside_encoders(background: &str, seed: u64, late_ns: u64) -> Workload {
    let (file, text) = scenarios::by_name("parsec-x265").unwrap();
    let scenario = Scenario::parse(text, file).unwrap();
    let background = scenario.background_names().position(|name| name == background).unwrap();
    let program = scenario.foreground_names().position(|name| name == "swaptions");
    let is_meant = |case: &Case| (case.foreground, case.background) == (program, background);
    let case = scenario.cases().into_iter().find(is_meant).unwrap();
    let (fit, defaults) = (Some(seed as usize), MachineDefaults::from(&skylake()));
    let mut workload = scenario.workload(case, fit, &BTreeMap::new(), &defaults).unwrap();
    for thread in &mut workload.threads {
        if workload.applications[thread.application as usize].role == Role::Foreground {
            thread.arrival_ns = late_ns;
        }
    }
    add(&mut workload, Role::Background, 1, &saturating(Class::Scalar, None));
    workload.threads.last_mut().unwrap().nice = NICE;
    workload
}

/// Completion of the program, in ns; mean over seeds.
fn mean_completion_ns(background: &str, late_ns: u64, config: &Config) -> f64 {
    let completion = |seed| {
        let workload = beside_encoders(background, seed, late_ns);
        let config = Config { seed, ..config.clone() };
        completion_ns(&workload, &run(&workload, &config), 0) as f64
    };
    (1..=SEEDS).map(completion).sum::<f64>() / SEEDS as f64
}

/// How a program that begins later differs from one that begins with the encoders.
#[derive(Debug)]
struct Late {
    /// Its completion beside the control, in percent of the other one's.
    longer_pct: f64,
    /// Its slowdown by AVX2, in points.
    slowed_points: f64,
}

/// Programs that begin 0.3 and 1 s after the encoders.
fn late(newcomers: Newcomers) -> [Late; 2] {
    let config = placed(EVEN, newcomers);
    let measure = |late_ns| {
        let control_ns = mean_completion_ns("sse4", late_ns, &config);
        (control_ns, 100.0 * mean_completion_ns("avx2", late_ns, &config) / control_ns)
    };
    let at_once = measure(0);
    [300 * MS, SECOND].map(measure).map(|late| Late {
        longer_pct: 100.0 * (late.0 / at_once.0 - 1.0),
        slowed_points: late.1 - at_once.1,
    })
}

#[test]
fn under_even_a_late_arrival_takes_as_long_and_is_slowed_as_one_that_comes_at_once() {
    let is_alike = |late: &Late| late.longer_pct.abs() < 5.0 && late.slowed_points.abs() < 1.0;
    let found = late(Newcomers::Floor);
    assert!(found.iter().all(is_alike), "{found:.2?}");
    // The same check must fail where no lag is bounded: the late program runs nearly alone.
    let unbounded = late(Newcomers::Least);
    assert!(!unbounded.iter().any(is_alike), "{unbounded:.2?}");
}

/// CPU time of three threads within 0.5 s after a thread has come that is worth more than a CPU,
/// as another one that has been there for a second.
fn left_ms(newcomers: Newcomers) -> u64 {
    let mut workload = empty(machine(2, 1));
    add(&mut workload, Role::Foreground, 3, &saturating(Class::Scalar, None));
    add(&mut workload, Role::Background, 2, &saturating(Class::Scalar, None));
    workload.threads[3..].iter_mut().for_each(|thread| thread.nice = NICE);
    workload.threads[4].arrival_ns = SECOND;
    let until = |limit_ns| {
        let config = Config { limit_ns, ..placed(Compensation::None, newcomers) };
        let outcome = simulator::run(&skylake(), &workload, &config).unwrap();
        outcome.tasks[..3].iter().map(|task| task.cpu_time_ns).sum::<u64>()
    };
    (until(SECOND + 500 * MS) - until(SECOND)) / MS
}

#[test]
fn a_newcomer_is_not_owed_what_another_task_could_not_use() {
    // By their weights the three have a seventh of both CPUs, 139 ms; the older heavy thread
    // may be behind by 16 of its slices.
    let [least, floor] = [Newcomers::Least, Newcomers::Floor].map(left_ms);
    assert!(floor >= 70, "{floor} ms");
    assert!(least <= 15, "{least} ms: the check above must be able to fail");
}
