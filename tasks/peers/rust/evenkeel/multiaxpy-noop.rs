//! Recursive halving without dependences, several times; a leaf spins as often as its block has
//! elements.

use std::process::ExitCode;

use evenkeel_runtime::Scope;
use peers::halves::Halves;
use peers::spin::spin;
use peers::{measure, pool, tally};

fn node<'scope>(scope: &Scope<'scope>, length: i64, block: i64) {
    tally::task();
    if length <= block {
        return spin(length);
    }
    scope.spawn(move |scope| node(scope, length / 2, block));
    scope.spawn(move |scope| node(scope, length / 2, block));
}

fn main() -> ExitCode {
    measure::open("multiaxpy-noop", "evenkeel");
    let Halves { size, block, iterations } = Halves::parameters(26, 10);
    let runtime = pool::evenkeel(measure::threads());
    let tasks = Halves { size, block, iterations }.nodes();

    measure::time(|| {
        runtime.scope(|scope| {
            for _ in 0..iterations {
                scope.spawn(move |scope| node(scope, size, block));
            }
        });
    });

    measure::close(tasks, measure::differ("tasks", tally::tasks(), tasks))
}
