//! A join of two empty sides, again and again.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn main() -> ExitCode {
    measure::open("fork-join", "chili");
    let regions = measure::parameter("regions", 1000, 1..=1 << 40);
    let pool = pool::chili(measure::threads());

    measure::time(|| {
        let mut scope = pool.scope();
        for _ in 0..regions {
            scope.join(|_| tally::task(), |_| tally::task());
        }
    });

    measure::close(regions as u64, measure::differ("runs", tally::tasks(), 2 * regions as u64))
}
