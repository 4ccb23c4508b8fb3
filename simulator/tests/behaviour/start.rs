//! When do threads begin, and what do rates of work leave out?

use std::collections::BTreeMap;

use cpu_model::Class;
use scenarios::{Role, Start, Workload};
use simulator::{Compensation, Config, Outcome};
use trace::Event;

use crate::build::{MS, SECOND, add, completion_ns, empty, fair, machine, run, saturating};

const WINDOW_NS: u64 = 20 * MS;
const WARM_UP_NS: u64 = 100 * MS;
const START: Start = Start { arrival_window_ns: WINDOW_NS, warm_up_ns: WARM_UP_NS };

/// Two programs beside eight threads on as many CPUs as there are threads.
fn workload() -> Workload {
    let mut workload = empty(machine(16, 1));
    add(&mut workload, Role::Foreground, 4, &saturating(Class::Scalar, Some(300)));
    add(&mut workload, Role::Foreground, 4, &saturating(Class::Scalar, Some(300)));
    add(&mut workload, Role::Background, 8, &saturating(Class::Scalar, None));
    workload
}

fn config(start: Start, seed: u64) -> Config {
    Config { start, seed, history: true, ..fair(Compensation::None) }
}

/// By thread: when it arrived.
fn arrivals(outcome: &Outcome) -> Vec<u64> {
    let mut first = BTreeMap::new();
    for record in &outcome.history.as_ref().unwrap().records {
        if let Event::Wake { task, .. } = record.event {
            first.entry(task).or_insert(record.time_ns);
        }
    }
    first.into_values().collect()
}

#[test]
fn background_threads_arrive_one_by_one_and_programs_as_a_whole_after_the_warm_up() {
    let workload = workload();
    let outcome = run(&workload, &config(START, 1));
    let found = arrivals(&outcome);
    let (programs, background) = found.split_at(8);
    for program in programs.chunks(4) {
        assert!(program.iter().all(|&arrival| arrival == program[0]), "{programs:?}");
        assert!((WARM_UP_NS..WARM_UP_NS + WINDOW_NS).contains(&program[0]), "{programs:?}");
    }
    assert_ne!(programs[0], programs[4]);
    let distinct: std::collections::BTreeSet<&u64> = background.iter().collect();
    assert_eq!(distinct.len(), 8, "{background:?}");
    assert!(background.iter().all(|&arrival| arrival < WINDOW_NS), "{background:?}");

    // A program takes as long as without a warm-up, since it has a CPU for each thread.
    let alone = run(&workload, &config(Start::default(), 1));
    for program in 0..2 {
        let [late, at_once] =
            [&outcome, &alone].map(|outcome| completion_ns(&workload, outcome, program));
        assert!(late.abs_diff(at_once) < 1000, "{late} {at_once}");
    }
}

#[test]
fn another_seed_gives_other_arrivals_and_another_scheduler_or_class_the_same() {
    let of = |config: &Config, workload: &Workload| arrivals(&run(workload, config));
    let expected = of(&config(START, 1), &workload());
    assert_ne!(of(&config(START, 2), &workload()), expected);
    let mut wide = workload();
    for thread in &mut wide.threads[8..] {
        thread.program = saturating(Class::Avx512Heavy, None);
    }
    let isolation = Config { ..fair(Compensation::Isolation) };
    let config = Config { scheduler: isolation.scheduler, ..config(START, 1) };
    assert_eq!(of(&config, &wide), expected);
}

#[test]
fn the_work_of_the_warm_up_is_kept_apart() {
    // One thread at a constant rate beside a program on another core.
    let mut workload = empty(machine(2, 1));
    add(&mut workload, Role::Foreground, 1, &saturating(Class::Scalar, Some(200)));
    add(&mut workload, Role::Background, 1, &saturating(Class::Scalar, None));
    let start = Start { arrival_window_ns: 0, warm_up_ns: WARM_UP_NS };
    let outcome = run(&workload, &config(start, 1));
    let warm_up = outcome.warm_up.unwrap();
    assert_eq!((warm_up.ended_ns, warm_up.ref_cycles[0]), (WARM_UP_NS, 0));
    let before = warm_up.ref_cycles[1] as f64 / warm_up.ended_ns as f64;
    let after = (outcome.tasks[1].ref_cycles - warm_up.ref_cycles[1]) as f64;
    let rate = after / (outcome.simulated_ns - warm_up.ended_ns) as f64;
    assert!((before / rate - 1.0).abs() < 1e-6, "{before} {rate}");
}

#[test]
fn a_run_that_ends_within_its_warm_up_leaves_nothing_out() {
    let start = Start { warm_up_ns: SECOND, ..START };
    let limited = |limit_ns| Config { limit_ns, ..config(start, 1) };
    let ended = |limit_ns| {
        let outcome = simulator::run(&crate::build::skylake(), &workload(), &limited(limit_ns));
        outcome.unwrap().warm_up.map(|warm_up| warm_up.ended_ns)
    };
    assert_eq!(ended(SECOND), None);
    assert_eq!(ended(SECOND + WINDOW_NS), Some(SECOND + WINDOW_NS));
}
