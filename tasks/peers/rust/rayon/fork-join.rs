//! Two tasks that spin, or do not, are created and waited for, again and again.

use std::process::ExitCode;

use peers::{measure, pool, spin, tally};

fn side(size: i64) {
    tally::task();
    spin::spin(size);
}

fn main() -> ExitCode {
    measure::open("fork-join", "rayon");
    let regions = measure::parameter("regions", 1000, 1..=1 << 40);
    let size = measure::parameter("size", 0, 0..=1 << 40);
    pool::rayon(measure::threads());

    measure::time(|| {
        rayon::scope(|_| {
            for _ in 0..regions {
                rayon::scope(|scope| {
                    scope.spawn(|_| side(size));
                    scope.spawn(|_| side(size));
                });
            }
        });
    });

    measure::close(regions as u64, measure::differ("runs", tally::tasks(), 2 * regions as u64))
}
