//! Every task joins one child with nothing, down to a depth, again and again.

use std::process::ExitCode;

use chili::Scope;
use peers::{measure, pool, tally};

fn nest(scope: &mut Scope, depth: i64) {
    tally::task();
    if depth > 1 {
        // Other threads may steal the first side only.
        scope.join(|scope| nest(scope, depth - 1), |_| ());
    }
}

fn main() -> ExitCode {
    measure::open("nested", "chili");
    let times = measure::parameter("times", 5000, 1..=1 << 30);
    let depth = measure::parameter("depth", 20, 1..=1000);
    let pool = pool::chili(measure::threads());
    let tasks = (times * depth) as u64;

    measure::time(|| {
        let mut scope = pool.scope();
        for _ in 0..times {
            scope.join(|scope| nest(scope, depth), |_| ());
        }
    });

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
