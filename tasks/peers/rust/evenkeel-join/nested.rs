//! Every task joins one child with nothing, down to a depth, again and again.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn nest(depth: i64) {
    tally::task();
    if depth > 1 {
        // Other workers may steal the second side only.
        evenkeel_runtime::join(|| (), || nest(depth - 1));
    }
}

fn main() -> ExitCode {
    measure::open("nested", "evenkeel-join");
    let times = measure::parameter("times", 5000, 1..=1 << 30);
    let depth = measure::parameter("depth", 20, 1..=1000);
    let runtime = pool::evenkeel(measure::threads());
    let tasks = (times * depth) as u64;

    measure::time(|| {
        runtime.scope(|_| {
            for _ in 0..times {
                evenkeel_runtime::join(|| (), || nest(depth));
            }
        });
    });

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
