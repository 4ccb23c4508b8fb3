//! Empty tasks that need nothing, from one creator.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn main() -> ExitCode {
    measure::open("independent", "evenkeel");
    let tasks = measure::parameter("tasks", 1_000_000, 1..=1 << 40);
    let runtime = pool::evenkeel(measure::threads());

    measure::time(|| {
        runtime.scope(|scope| {
            for _ in 0..tasks {
                scope.spawn(|_| tally::task());
            }
        });
    });

    measure::close(tasks as u64, measure::differ("tasks", tally::tasks(), tasks as u64))
}
