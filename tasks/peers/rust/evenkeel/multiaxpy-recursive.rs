//! y += a x by recursive halving, several times over.
//!
//! Without dependences an iteration ends before the next begins. With dependences, one task
//! creates all leaves, as in the OpenMP program.

use std::process::ExitCode;

use evenkeel_runtime::{Data, Scope};
use peers::axpy::Vectors;
use peers::halves::Halves;
use peers::{measure, pool, tally};

fn node(scope: &Scope<'_>, vectors: Vectors, begin: i64, length: i64, block: i64) {
    if length <= block {
        // SAFETY: The leaves of an iteration are disjoint, and iterations do not overlap.
        return unsafe { vectors.add(begin, length) };
    }
    tally::task();
    let half = length / 2;
    scope.spawn(move |scope| node(scope, vectors, begin, half, block));
    scope.spawn(move |scope| node(scope, vectors, begin + half, half, block));
}

fn main() -> ExitCode {
    measure::open("multiaxpy-recursive", "evenkeel");
    let Halves { size, block, iterations } = Halves::parameters(22, 10);
    let dependences = measure::parameter("dependences", 0, 0..=1) == 1;
    let runtime = pool::evenkeel(measure::threads());
    let vectors = Vectors::new(size);
    let stands_for: Vec<Data<u8>> = (0..size / block).map(|_| Data::new(0)).collect();
    let leaves = (iterations * (size / block)) as u64;
    let tasks = if dependences { leaves } else { Halves { size, block, iterations }.nodes() };

    measure::time(|| {
        if dependences {
            runtime.scope(|scope| {
                for _ in 0..iterations {
                    for (leaf, own) in (0..).zip(&stands_for) {
                        // SAFETY: The task declares the block that it uses.
                        let add = move || unsafe { vectors.add(leaf * block, block) };
                        scope.task().inout(own).spawn(move |_| add());
                    }
                }
            });
            return;
        }
        for _ in 0..iterations {
            runtime.scope(|scope| scope.spawn(move |scope| node(scope, vectors, 0, size, block)));
        }
    });

    let verdict = measure::differ("tasks", tally::tasks(), tasks);
    measure::close(tasks, verdict.or(|| vectors.verdict(iterations)))
}
