//! A grid of tasks, from one creator, by dependences on two rows of cells.

use std::process::ExitCode;

use evenkeel_runtime::{Data, Scope};
use peers::grid::Grid;
use peers::{measure, pool};

fn create<'scope>(scope: &Scope<'scope>, grid: Grid, rows: [&'scope [Data<u8>]; 2]) {
    // SAFETY: each task declares its cell and the cells of the points that it needs.
    let run = move |step, point| unsafe { grid.run(step, point) };
    for step in 0..grid.steps() {
        let (here, before) = (rows[step as usize % 2], rows[(step + 1) as usize % 2]);
        for point in 0..grid.width() {
            if grid.is_trivial() {
                scope.spawn(move |_| run(step, point));
                continue;
            }
            let own = &here[point as usize];
            let need = |n: i64| &before[n as usize];
            match grid.needs(step, point)[..] {
                [] => scope.task().output(own).spawn(move |_| run(step, point)),
                [a] => {
                    scope.task().input(need(a)).output(own).spawn(move |_, _| run(step, point));
                }
                [a, b] => {
                    let task = scope.task().input(need(a)).input(need(b)).output(own);
                    task.spawn(move |_, _, _| run(step, point));
                }
                [a, b, c, ..] => {
                    let task = scope.task().input(need(a)).input(need(b)).input(need(c));
                    task.output(own).spawn(move |_, _, _, _| run(step, point));
                }
            }
        }
    }
}

fn main() -> ExitCode {
    measure::open("taskbench", "evenkeel");
    let grid = Grid::parameters();
    let runtime = pool::evenkeel(measure::threads());
    let row = || -> Vec<Data<u8>> { (0..grid.width()).map(|_| Data::new(0)).collect() };
    let (even, odd) = (row(), row());

    measure::time(|| runtime.scope(|scope| create(scope, grid, [&even, &odd])));

    measure::close((grid.width() * grid.steps()) as u64, grid.verdict())
}
