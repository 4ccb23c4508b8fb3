//! LU factorization by phases: without dependences between tasks, each phase of a step ends
//! before the next begins.

use std::process::ExitCode;

use peers::measure;
use peers::pool;
use peers::sparse::{Sparse, Step};
use rayon::Scope;

/// The tasks right of and below a diagonal block.
fn panels<'scope>(scope: &Scope<'scope>, matrix: Sparse, k: i64) {
    for j in k + 1..matrix.count() {
        if matrix.has(k, j) {
            // SAFETY: lu0(k) has run, and no other task of the phase uses the block.
            let run = move || unsafe { matrix.run(Step::Fwd { k, j }) };
            scope.spawn(move |_| run());
        }
        if matrix.has(j, k) {
            // SAFETY: lu0(k) has run, and no other task of the phase uses the block.
            let run = move || unsafe { matrix.run(Step::Bdiv { i: j, k }) };
            scope.spawn(move |_| run());
        }
    }
}

/// The tasks of all blocks with a block in both panels.
fn products<'scope>(scope: &Scope<'scope>, matrix: Sparse, k: i64) {
    for i in (k + 1..matrix.count()).filter(|&i| matrix.has(i, k)) {
        for j in (k + 1..matrix.count()).filter(|&j| matrix.has(k, j)) {
            // SAFETY: The panels are done, and no other task of the phase uses the block.
            scope.spawn(move |_| unsafe { matrix.run(Step::Bmod { i, j, k }) });
        }
    }
}

fn main() -> ExitCode {
    measure::open("sparselu", "rayon");
    let count = measure::parameter("blocks", 32, 1..=4096);
    let size = measure::parameter("size", 16, 1..=4096);
    pool::rayon(measure::threads());
    let matrix = Sparse::new(count, size);

    measure::time(|| {
        for k in 0..count {
            // SAFETY: All products of earlier steps are done.
            let run = move || unsafe { matrix.run(Step::Lu0 { k }) };
            rayon::scope(|scope| scope.spawn(move |_| run()));
            rayon::scope(|scope| panels(scope, matrix, k));
            rayon::scope(|scope| products(scope, matrix, k));
        }
    });

    measure::close(matrix.tasks(), matrix.verdict())
}
