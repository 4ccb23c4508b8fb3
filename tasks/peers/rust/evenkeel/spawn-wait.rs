//! One task is created and waited for, again and again, by a task.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn main() -> ExitCode {
    measure::open("spawn-wait", "evenkeel");
    let tasks = measure::parameter("tasks", 100_000, 1..=1 << 40);
    let runtime = pool::evenkeel(measure::threads());

    measure::time(|| {
        runtime.scope(|scope| {
            for _ in 0..tasks {
                scope.spawn(|_| tally::task());
                scope.wait();
            }
        });
    });

    measure::close(tasks as u64, measure::differ("tasks", tally::tasks(), tasks as u64))
}
