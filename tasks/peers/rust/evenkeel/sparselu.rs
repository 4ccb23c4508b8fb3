//! LU factorization from one creator, by dependences on blocks. `sparse.h`.

use std::process::ExitCode;

use evenkeel_runtime::{Data, Scope};
use peers::sparse::{Sparse, Step};
use peers::{measure, pool};

fn create<'scope>(scope: &Scope<'scope>, matrix: Sparse, stands_for: &'scope [Data<u8>]) {
    let count = matrix.count();
    let block = |i: i64, j: i64| &stands_for[(i * count + j) as usize];
    // SAFETY: each task declares all blocks that its step uses.
    let run = move |step| unsafe { matrix.run(step) };
    for k in 0..count {
        scope.task().inout(block(k, k)).spawn(move |_| run(Step::Lu0 { k }));
        for j in k + 1..count {
            if matrix.has(k, j) {
                scope.task().input(block(k, k)).inout(block(k, j)).spawn(move |_, _| {
                    run(Step::Fwd { k, j });
                });
            }
            if matrix.has(j, k) {
                scope.task().input(block(k, k)).inout(block(j, k)).spawn(move |_, _| {
                    run(Step::Bdiv { i: j, k });
                });
            }
        }
        for i in (k + 1..count).filter(|&i| matrix.has(i, k)) {
            for j in (k + 1..count).filter(|&j| matrix.has(k, j)) {
                let task = scope.task().input(block(i, k)).input(block(k, j)).inout(block(i, j));
                task.spawn(move |_, _, _| run(Step::Bmod { i, j, k }));
            }
        }
    }
}

fn main() -> ExitCode {
    measure::open("sparselu", "evenkeel");
    let count = measure::parameter("blocks", 32, 1..=4096);
    let size = measure::parameter("size", 16, 1..=4096);
    let runtime = pool::evenkeel(measure::threads());
    let matrix = Sparse::new(count, size);
    let stands_for: Vec<Data<u8>> = (0..count * count).map(|_| Data::new(0)).collect();

    measure::time(|| runtime.scope(|scope| create(scope, matrix, &stands_for)));

    measure::close(matrix.tasks(), matrix.verdict())
}
