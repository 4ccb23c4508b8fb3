//! Every task creates one child and waits for its end, down to a depth, again and again.

use std::process::ExitCode;

use evenkeel_runtime::Scope;
use peers::{measure, pool, tally};

fn nest(scope: &Scope<'_>, depth: i64) {
    tally::task();
    if depth > 1 {
        scope.spawn(move |scope| nest(scope, depth - 1));
        scope.wait();
    }
}

fn main() -> ExitCode {
    measure::open("nested", "evenkeel");
    let times = measure::parameter("times", 5000, 1..=1 << 30);
    let depth = measure::parameter("depth", 20, 1..=1000);
    let runtime = pool::evenkeel(measure::threads());
    let tasks = (times * depth) as u64;

    measure::time(|| {
        runtime.scope(|scope| {
            for _ in 0..times {
                scope.spawn(move |scope| nest(scope, depth));
                scope.wait();
            }
        });
    });

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
