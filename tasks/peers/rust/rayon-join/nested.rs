//! Every task joins one child with nothing, down to a depth, again and again.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn nest(depth: i64) {
    tally::task();
    if depth > 1 {
        // Other threads may steal the second side only.
        rayon::join(|| (), || nest(depth - 1));
    }
}

fn main() -> ExitCode {
    measure::open("nested", "rayon-join");
    let times = measure::parameter("times", 5000, 1..=1 << 30);
    let depth = measure::parameter("depth", 20, 1..=1000);
    pool::rayon(measure::threads());
    let tasks = (times * depth) as u64;

    measure::time(|| {
        rayon::scope(|_| {
            for _ in 0..times {
                rayon::join(|| (), || nest(depth));
            }
        });
    });

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
