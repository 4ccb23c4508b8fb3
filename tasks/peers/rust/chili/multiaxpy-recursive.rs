//! y += a x by recursive halving and joins, several times.

use std::process::ExitCode;

use chili::Scope;
use peers::axpy::Vectors;
use peers::halves::Halves;
use peers::{measure, pool, tally};

fn node(scope: &mut Scope, vectors: Vectors, begin: i64, length: i64, block: i64) {
    if length <= block {
        // SAFETY: The leaves of an iteration are disjoint, and iterations do not overlap.
        return unsafe { vectors.add(begin, length) };
    }
    tally::task();
    let half = length / 2;
    scope.join(
        |scope| node(scope, vectors, begin, half, block),
        |scope| node(scope, vectors, begin + half, half, block),
    );
}

fn main() -> ExitCode {
    measure::open("multiaxpy-recursive", "chili");
    let Halves { size, block, iterations } = Halves::parameters(22, 10);
    // This program has no dependences; `cargo peers` passes 0.
    measure::parameter("dependences", 0, 0..=0);
    let pool = pool::chili(measure::threads());
    let vectors = Vectors::new(size);
    let tasks = Halves { size, block, iterations }.nodes();

    measure::time(|| {
        let mut scope = pool.scope();
        for _ in 0..iterations {
            node(&mut scope, vectors, 0, size, block);
        }
    });

    let verdict = measure::differ("tasks", tally::tasks(), tasks);
    measure::close(tasks, verdict.or(|| vectors.verdict(iterations)))
}
