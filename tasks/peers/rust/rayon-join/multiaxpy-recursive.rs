//! y += a x by recursive halving and joins, several times.

use std::process::ExitCode;

use peers::axpy::Vectors;
use peers::halves::Halves;
use peers::{measure, pool, tally};

fn node(vectors: Vectors, begin: i64, length: i64, block: i64) {
    if length <= block {
        // SAFETY: The leaves of an iteration are disjoint, and iterations do not overlap.
        return unsafe { vectors.add(begin, length) };
    }
    tally::task();
    let half = length / 2;
    rayon::join(|| node(vectors, begin, half, block), || node(vectors, begin + half, half, block));
}

fn main() -> ExitCode {
    measure::open("multiaxpy-recursive", "rayon-join");
    let Halves { size, block, iterations } = Halves::parameters(22, 10);
    // This program has no dependences; `cargo peers` passes 0.
    measure::parameter("dependences", 0, 0..=0);
    pool::rayon(measure::threads());
    let vectors = Vectors::new(size);
    let tasks = Halves { size, block, iterations }.nodes();

    measure::time(|| {
        rayon::scope(|_| {
            for _ in 0..iterations {
                node(vectors, 0, size, block);
            }
        });
    });

    let verdict = measure::differ("tasks", tally::tasks(), tasks);
    measure::close(tasks, verdict.or(|| vectors.verdict(iterations)))
}
