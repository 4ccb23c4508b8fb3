//! Recursive halving by joins, several times; a leaf spins as often as its block has elements.

use std::process::ExitCode;

use peers::halves::Halves;
use peers::spin::spin;
use peers::{measure, pool, tally};

fn node(length: i64, block: i64) {
    tally::task();
    if length <= block {
        return spin(length);
    }
    evenkeel_runtime::join(|| node(length / 2, block), || node(length / 2, block));
}

fn main() -> ExitCode {
    measure::open("multiaxpy-noop", "evenkeel-join");
    let Halves { size, block, iterations } = Halves::parameters(26, 10);
    let runtime = pool::evenkeel(measure::threads());
    let tasks = Halves { size, block, iterations }.nodes();

    measure::time(|| {
        runtime.scope(|_| {
            for _ in 0..iterations {
                node(size, block);
            }
        });
    });

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
