//! Recursive halving by joins: every node is a task, and a leaf does nothing.

use std::process::ExitCode;

use chili::Scope;
use peers::{measure, pool, tally};

fn node(scope: &mut Scope, depth: i64) {
    tally::task();
    if depth > 0 {
        scope.join(|scope| node(scope, depth - 1), |scope| node(scope, depth - 1));
    }
}

fn main() -> ExitCode {
    measure::open("tree", "chili");
    let depth = measure::parameter("depth", 19, 0..=40);
    let pool = pool::chili(measure::threads());
    let tasks = (2_u64 << depth) - 1;

    measure::time(|| node(&mut pool.scope(), depth));

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
