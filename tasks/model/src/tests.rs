//! The model itself: small cases by hand, and that a run is a function of its inputs.

use evenkeel_runtime::Config;
use evenkeel_runtime::internal::virtual_workers::Use;

use crate::lines::{Lines, Took};
use crate::{Costs, Outcome, PROGRAMS, Program, Setting, Spent, run};

const WORDS: [&str; 6] = [
    "tree",
    "tree-nocutoff",
    "tree-fifo-static20-give-system-nocutoff",
    "tree-lifo-dynamic-rebalance-nocutoff",
    "central-lifo-nocutoff",
    "central-priority-system-nocutoff",
];

fn setting(program: Program, config: &str, workers: usize) -> Setting {
    let config: Config = config.parse().unwrap();
    let costs = Costs::default();
    Setting { program, workers, tasks: 300, body_ns: 400, config, costs, warm: 1 }
}

/// Round costs of moving a cache line, in picoseconds.
fn costs() -> Costs {
    Costs {
        near_ps: 50_000,
        far_ps: 130_000,
        share_ps: 5_000,
        memory_ps: 80_000,
        ..Costs::default()
    }
}

#[test]
fn a_line_comes_from_memory_then_is_here_then_goes_on() {
    let mut lines = Lines::new(vec![0, 0, 1]);
    let took = |queued_ps, moved_ps| Took { queued_ps, moved_ps };
    let mut access = |how, worker, now_ps| lines.access(0x1000, how, worker, now_ps, &costs());
    assert_eq!(access(Use::Store, 0, 0), took(0, 80_000));
    assert_eq!(access(Use::Change, 0, 90_000), took(0, 0));
    // Two workers want the line at once: the second waits for the first.
    assert_eq!(access(Use::Change, 1, 100_000), took(0, 50_000));
    assert_eq!(access(Use::Change, 2, 100_000), took(50_000, 130_000));
    // Readers share the line, and the next writer takes the line from all of them.
    assert_eq!(access(Use::Load, 1, 300_000), took(0, 130_000));
    assert_eq!(access(Use::Load, 0, 500_000), took(0, 50_000));
    assert_eq!(access(Use::Load, 1, 500_000), took(0, 0));
    assert_eq!(access(Use::Store, 0, 600_000), took(0, 130_000));
}

#[test]
fn every_task_runs_once_under_every_scheduler() {
    for (name, program) in PROGRAMS {
        for config in WORDS {
            for workers in [1, 2, 7] {
                let outcome = run(&setting(program, config, workers));
                assert!(outcome.tasks >= 300, "{name} {config} {workers}");
            }
        }
    }
}

#[test]
fn equal_inputs_give_equal_results() {
    for config in WORDS {
        let setting = setting(Program::Cholesky, config, 9);
        let first: Outcome = run(&setting);
        // Other allocations of the process must not show.
        let _between: Vec<Vec<u8>> = (1..100).map(|n| vec![0; n * 7]).collect();
        assert_eq!(run(&setting), first, "{config}");
    }
}

#[test]
fn workers_time_is_all_accounted_for() {
    for workers in [1, 5, 48] {
        let outcome = run(&setting(Program::Multiaxpy, "tree-nocutoff", workers));
        let all_ps: u64 = outcome.ledger.spent_ps.iter().sum();
        let expected_ps = outcome.makespan_ps * workers as u64;
        // A worker that sleeps, or is within a step, may be past the end of the measured time.
        assert!(all_ps.abs_diff(expected_ps) < expected_ps / 20, "{all_ps} {expected_ps}");
        assert_eq!(outcome.ledger.spent_ps[Spent::Body as usize], outcome.bodies * 400_000);
    }
}

/// One worker that inlines each task: no line moves, and no worker is notified.
#[test]
fn one_worker_alone_costs_its_bodies_and_its_own_steps() {
    let free = Costs { code_ps: 0, hit_ps: 0, atomic_ps: 0, memory_ps: 0, ..Costs::default() };
    let tasks = Setting { costs: free, ..setting(Program::Independent, "tree-nocutoff", 1) };
    let outcome = run(&tasks);
    assert_eq!(outcome.makespan_ps, 300 * 400_000);
}
