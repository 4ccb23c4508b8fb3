//! One task is created and waited for, again and again, by a thread of the pool.

use std::process::ExitCode;

use peers::{measure, pool, tally};

fn main() -> ExitCode {
    measure::open("spawn-wait", "rayon");
    let tasks = measure::parameter("tasks", 100_000, 1..=1 << 40);
    pool::rayon(measure::threads());

    measure::time(|| {
        rayon::scope(|_| {
            for _ in 0..tasks {
                rayon::scope(|scope| scope.spawn(|_| tally::task()));
            }
        });
    });

    measure::close(tasks as u64, measure::differ("tasks", tally::tasks(), tasks as u64))
}
