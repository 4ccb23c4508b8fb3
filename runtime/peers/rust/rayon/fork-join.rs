//! Two empty tasks are created and waited for, again and again.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn main() -> ExitCode {
    measure::open("fork-join", "rayon");
    let regions = measure::parameter("regions", 1000, 1..=1 << 40);
    pool::rayon(measure::threads());

    measure::time(|| {
        rayon::scope(|_| {
            for _ in 0..regions {
                rayon::scope(|scope| {
                    scope.spawn(|_| tally::task());
                    scope.spawn(|_| tally::task());
                });
            }
        });
    });

    measure::close(regions as u64, measure::differ("runs", tally::tasks(), 2 * regions as u64))
}
