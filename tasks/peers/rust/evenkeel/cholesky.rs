//! The factorization of tiles.h, from one creator, by dependences on tiles.

use std::process::ExitCode;

use evenkeel_runtime::{Data, Scope};
use peers::tiles::{Step, Tiles};
use peers::{measure, pool};

fn create<'scope>(scope: &Scope<'scope>, tiles: Tiles, stands_for: &'scope [Data<u8>]) {
    let tile = |i, j| &stands_for[Tiles::at(i, j)];
    // SAFETY: each task declares all tiles that its step uses.
    let run = move |step| unsafe { tiles.run(step) };
    for k in 0..tiles.count() {
        scope.task().inout(tile(k, k)).spawn(move |_| run(Step::Potrf { k }));
        for i in k + 1..tiles.count() {
            scope.task().input(tile(k, k)).inout(tile(i, k)).spawn(move |_, _| {
                run(Step::Trsm { i, k });
            });
        }
        for i in k + 1..tiles.count() {
            for j in k + 1..i {
                let task = scope.task().input(tile(i, k)).input(tile(j, k)).inout(tile(i, j));
                task.spawn(move |_, _, _| run(Step::Gemm { i, j, k }));
            }
            scope.task().input(tile(i, k)).inout(tile(i, i)).spawn(move |_, _| {
                run(Step::Syrk { i, k });
            });
        }
    }
}

fn main() -> ExitCode {
    measure::open("cholesky", "evenkeel");
    let count = measure::parameter("blocks", 32, 1..=4096);
    let size = measure::parameter("size", 32, 0..=8192);
    let runtime = pool::evenkeel(measure::threads());
    let tiles = Tiles::new(count, size);
    let stands_for: Vec<Data<u8>> = (0..Tiles::at(count, 0)).map(|_| Data::new(0)).collect();

    measure::time(|| runtime.scope(|scope| create(scope, tiles, &stands_for)));

    measure::close(Tiles::tasks(count), tiles.verdict())
}
