//! A lock and a semaphore go to the task that tries first, as in glibc, not to the one that waits
//! longest: with a handover each use by another task costs a switch.

use cpu_model::Class;
use scenarios::{Role, Step, Workload};
use simulator::{CfsKernel, Config, Scheduler};

use crate::build::{SECOND, add, empty, machine, run, work};

const ROUNDS: u64 = 500;

/// Two tasks on one CPU, each with rounds of 10 us between `enter` and `leave` and 10 us outside.
fn taking_turns(enter: Step, leave: Step) -> Workload {
    let mut workload = empty(machine(1, 1));
    workload.locks = 1;
    workload.semaphores = 1;
    let part = Step::Compute(work(Class::Scalar, 10_000));
    let again = Step::Loop { to: 0, times: Some(ROUNDS) };
    add(&mut workload, Role::Foreground, 2, &[enter, part, leave, part, again]);
    workload
}

fn switches(workload: &Workload) -> u64 {
    let config = Config::plain(Scheduler::Cfs(CfsKernel::V5_9), SECOND);
    let outcome = run(workload, &config);
    assert!(
        outcome.tasks.iter().all(|task| task.completion_ns.is_some()),
        "not all came to an end"
    );
    outcome.switches
}

#[test]
fn a_task_that_runs_takes_a_free_lock_before_one_that_was_woken_for_it() {
    let switches = switches(&taking_turns(Step::Lock(0), Step::Unlock(0)));
    assert!(switches < ROUNDS / 5, "{switches} switches");
}

#[test]
fn a_task_that_runs_takes_from_a_semaphore_before_one_that_was_woken_for_it() {
    let mut workload = taking_turns(Step::Wait(0), Step::Wake(0));
    // The first task brings the one token.
    workload.threads[0].program.insert(0, Step::Wake(0));
    for step in &mut workload.threads[0].program {
        if let Step::Loop { to, .. } = step {
            *to += 1;
        }
    }
    let switches = switches(&workload);
    assert!(switches < ROUNDS / 5, "{switches} switches");
}
