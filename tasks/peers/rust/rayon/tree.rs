//! Recursive halving: every node is a task, nobody waits, and a leaf does nothing.

use std::process::ExitCode;

use peers::{measure, pool, tally};
use rayon::Scope;

fn node<'scope>(scope: &Scope<'scope>, depth: i64) {
    tally::task();
    if depth > 0 {
        scope.spawn(move |scope| node(scope, depth - 1));
        scope.spawn(move |scope| node(scope, depth - 1));
    }
}

fn main() -> ExitCode {
    measure::open("tree", "rayon");
    let depth = measure::parameter("depth", 19, 0..=40);
    pool::rayon(measure::threads());
    let tasks = (2_u64 << depth) - 1;

    measure::time(|| rayon::scope(|scope| scope.spawn(move |scope| node(scope, depth))));

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
