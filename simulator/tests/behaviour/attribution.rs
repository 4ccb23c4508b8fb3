//! Losses are charged to culprits, and only while the culprits run.

use cpu_model::Class;
use scenarios::{Draw, Role, Spread, Step, Workload};
use simulator::{Compensation, Config, EvenParts, Outcome, SensorSet};

use crate::build::{MS, add, empty, fair, machine, run, saturating, work};

const VICTIM: u32 = 0;
const CULPRIT: u32 = 1;
const INNOCENT: u32 = 2;

const COMPENSATIONS: [Compensation; 2] =
    [Compensation::Isolation, Compensation::Even(EvenParts::ALL)];

fn config(compensation: Compensation) -> Config {
    Config { sensors: SensorSet::D7, ..fair(compensation) }
}

/// Victims beside culprits and innocents, that compute, sleep and compute again.
fn crowd(culprit: &[Step]) -> Workload {
    let mut workload = empty(machine(4, 2));
    let sleep = Step::Sleep(Draw { mean: MS, spread: Spread::Uniform(500) });
    let service =
        [Step::Compute(work(Class::Scalar, 2 * MS)), sleep, Step::Loop { to: 0, times: None }];
    add(&mut workload, Role::Foreground, 6, &saturating(Class::Scalar, Some(1500)));
    add(&mut workload, Role::Background, 4, culprit);
    add(&mut workload, Role::Background, 6, &service);
    workload
}

/// Losses of all other applications that were attributed to one, and that this one caused.
fn to(outcome: &Outcome, culprit: u32) -> (u64, u64) {
    let losses = outcome.losses.iter().filter(|loss| loss.victim != loss.culprit);
    losses.filter(|loss| loss.culprit == culprit).fold((0, 0), |(attributed, lost), loss| {
        (attributed + loss.repaid_ns + loss.idle_compensation_ns, lost + loss.lost_ns)
    })
}

#[test]
fn nearly_all_attributed_losses_were_caused_by_the_culprit_and_most_losses_are_found() {
    let workload = crowd(&saturating(Class::Avx512Heavy, None));
    for compensation in COMPENSATIONS {
        let outcome = run(&workload, &config(compensation));
        let (found, lost) = to(&outcome, CULPRIT);
        assert!(lost > 100 * MS, "{lost}");
        let wrong: u64 = [VICTIM, INNOCENT].map(|other| to(&outcome, other).0).iter().sum();
        let all = found + wrong;
        assert!(found.min(lost) * 100 >= all * 95, "{found} of {all}, {lost} lost");
        assert!(found * 100 >= lost * 80, "{found} of {lost}");
    }
}

/// A culprit ends: afterwards no task is charged, except for the 0.67 ms of its remaining hold.
#[test]
fn after_a_culprit_has_ended_no_other_task_is_billed_for_it() {
    let workload = crowd(&saturating(Class::Avx512Heavy, Some(50)));
    for compensation in COMPENSATIONS {
        let history = Config { history: true, ..config(compensation) };
        let outcome = run(&workload, &history);
        let tasks = workload.threads.iter().zip(&outcome.tasks);
        let ends = tasks
            .filter(|(thread, _)| thread.application == CULPRIT)
            .map(|(_, task)| task.completion_ns.expect("it ends"));
        let gone_ns = ends.max().unwrap();
        let mut before = 0;
        for record in &outcome.history.as_ref().unwrap().records {
            let trace::Event::Decision { bill_ns, refund_ns, .. } = record.event else { continue };
            before += u64::from(record.time_ns <= gone_ns);
            let is_late = record.time_ns > gone_ns + 20 * MS;
            assert!(!is_late || bill_ns + refund_ns == 0, "at {} ns", record.time_ns);
        }
        assert!(before > 10, "{before} decisions");
        assert!(outcome.simulated_ns > gone_ns + 500 * MS);
    }
}
