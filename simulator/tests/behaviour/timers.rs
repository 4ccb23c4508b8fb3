//! Timers of threads fire by the clock, however late the thread comes to wait for them.

use cpu_model::Class;
use scenarios::{Role, Step};
use simulator::Compensation;
use trace::Event;

use crate::build::{MS, add, empty, fair, machine, run, work};

/// When a thread was woken that works 2 ms a round of 10 ms, but once 40 ms more.
fn wakes(absolute: bool) -> Vec<u64> {
    let round = |program: &mut Vec<Step>, times| {
        let to = program.len() as u32;
        program.push(Step::Compute(work(Class::Scalar, 2 * MS)));
        program.push(Step::Timer { timer: 0, period_ns: 10 * MS, absolute });
        program.push(Step::Loop { to, times: Some(times) });
    };
    let mut program = Vec::new();
    round(&mut program, 3);
    program.push(Step::Compute(work(Class::Scalar, 40 * MS)));
    round(&mut program, 4);
    let mut workload = empty(machine(1, 1));
    add(&mut workload, Role::Foreground, 1, &program);
    let mut config = fair(Compensation::None);
    config.history = true;
    let records = run(&workload, &config).history.unwrap().records;
    let wakes = records.iter().filter(|record| matches!(record.event, Event::Wake { .. }));
    wakes.map(|record| record.time_ns).collect()
}

#[test]
fn an_absolute_timer_keeps_to_its_times_whatever_was_missed() {
    // 40 ms of work at the reference frequency take 30 ms here: 40, 50 and 60 ms are missed.
    assert_eq!(wakes(true), [0, 10 * MS, 20 * MS, 30 * MS, 70 * MS]);
}

#[test]
fn a_relative_timer_begins_anew_after_a_miss() {
    let wakes = wakes(false);
    assert_eq!(wakes[..4], [0, 10 * MS, 20 * MS, 30 * MS]);
    assert_eq!(wakes.len(), 7);
    assert!(wakes[4] > 71 * MS && wakes[4] < 72 * MS, "{wakes:?}");
    assert_eq!((wakes[5] - wakes[4], wakes[6] - wakes[5]), (10 * MS, 10 * MS));
}
