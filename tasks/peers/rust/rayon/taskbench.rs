//! A grid of tasks, step by step: without dependences between tasks, a step ends before the next
//! begins, unless the next one needs nothing.

use std::process::ExitCode;

use peers::grid::Grid;
use peers::{measure, pool};
use rayon::Scope;

fn row<'scope>(scope: &Scope<'scope>, grid: Grid, step: i64) {
    for point in 0..grid.width() {
        // SAFETY: The steps before are done, unless nothing is needed from them.
        scope.spawn(move |_| unsafe { grid.run(step, point) });
    }
}

fn main() -> ExitCode {
    measure::open("taskbench", "rayon");
    let grid = Grid::parameters();
    pool::rayon(measure::threads());

    measure::time(|| {
        rayon::scope(|all| {
            for step in 0..grid.steps() {
                if grid.is_trivial() {
                    row(all, grid, step);
                } else {
                    rayon::scope(|scope| row(scope, grid, step));
                }
            }
        });
    });

    measure::close((grid.width() * grid.steps()) as u64, grid.verdict())
}
