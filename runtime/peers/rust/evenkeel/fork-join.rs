//! A scope of two empty tasks, again and again.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn main() -> ExitCode {
    measure::open("fork-join", "evenkeel");
    let regions = measure::parameter("regions", 1000, 1..=1 << 40);
    let runtime = pool::evenkeel(measure::threads());

    measure::time(|| {
        runtime.scope(|_| {
            for _ in 0..regions {
                evenkeel_runtime::scope(|scope| {
                    scope.spawn(|_| tally::task());
                    scope.spawn(|_| tally::task());
                });
            }
        });
    });

    measure::close(regions as u64, measure::differ("runs", tally::tasks(), 2 * regions as u64))
}
