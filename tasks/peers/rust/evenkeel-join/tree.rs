//! Recursive halving by joins: every node is a task, and a leaf does nothing.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn node(depth: i64) {
    tally::task();
    if depth > 0 {
        evenkeel_runtime::join(|| node(depth - 1), || node(depth - 1));
    }
}

fn main() -> ExitCode {
    measure::open("tree", "evenkeel-join");
    let depth = measure::parameter("depth", 19, 0..=40);
    let runtime = pool::evenkeel(measure::threads());
    let tasks = (2_u64 << depth) - 1;

    measure::time(|| runtime.scope(|_| node(depth)));

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
