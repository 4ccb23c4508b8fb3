//! A grid of tasks, step by step, as the program for rayon does it: a step ends before the next
//! begins, unless nothing is needed from it.

use std::process::ExitCode;

use evenkeel_runtime::Scope;
use peers::grid::Grid;
use peers::{measure, pool};

fn create<'scope>(scope: &Scope<'scope>, grid: Grid) {
    for step in 0..grid.steps() {
        for point in 0..grid.width() {
            // SAFETY: the steps before are done, unless nothing is needed from them.
            scope.spawn(move |_| unsafe { grid.run(step, point) });
        }
        if !grid.is_trivial() {
            scope.wait();
        }
    }
}

fn main() -> ExitCode {
    measure::open("taskbench", "evenkeel-steps");
    let grid = Grid::parameters();
    let runtime = pool::evenkeel(measure::threads());

    measure::time(|| runtime.scope(|scope| create(scope, grid)));

    measure::close((grid.width() * grid.steps()) as u64, grid.verdict())
}
