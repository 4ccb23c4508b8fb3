//! Recursive halving by joins, several times; a leaf spins as often as its block has elements.

use std::process::ExitCode;

use chili::Scope;
use peers::halves::Halves;
use peers::spin::spin;
use peers::{measure, pool, tally};

fn node(scope: &mut Scope, length: i64, block: i64) {
    tally::task();
    if length <= block {
        return spin(length);
    }
    scope.join(|scope| node(scope, length / 2, block), |scope| node(scope, length / 2, block));
}

fn main() -> ExitCode {
    measure::open("multiaxpy-noop", "chili");
    let Halves { size, block, iterations } = Halves::parameters(26, 10);
    let pool = pool::chili(measure::threads());
    let tasks = Halves { size, block, iterations }.nodes();

    measure::time(|| {
        let mut scope = pool.scope();
        for _ in 0..iterations {
            node(&mut scope, size, block);
        }
    });

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
