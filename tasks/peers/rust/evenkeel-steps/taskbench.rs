//! A grid of tasks, step by step, like the program for rayon: a step ends before the next begins,
//! unless the next one needs nothing.

use std::process::ExitCode;

use evenkeel_runtime::Scope;
use peers::grid::Grid;
use peers::{measure, pool};

fn create<'scope>(scope: &Scope<'scope>, grid: Grid) {
    for step in 0..grid.steps() {
        for point in 0..grid.width() {
            // SAFETY: all earlier steps have ended, unless the point needs none.
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
