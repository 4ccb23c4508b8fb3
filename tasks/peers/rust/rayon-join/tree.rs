//! Recursive halving by joins: every node is a task, and a leaf does nothing.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn node(depth: i64) {
    tally::task();
    if depth > 0 {
        rayon::join(|| node(depth - 1), || node(depth - 1));
    }
}

fn main() -> ExitCode {
    measure::open("tree", "rayon-join");
    let depth = measure::parameter("depth", 19, 0..=40);
    pool::rayon(measure::threads());
    let tasks = (2_u64 << depth) - 1;

    measure::time(|| rayon::scope(|_| node(depth)));

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
