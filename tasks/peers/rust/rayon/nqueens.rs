//! All ways to put queens on a board: every position is a task, nobody waits.

use std::process::ExitCode;

use peers::queens::{self, Position};
use peers::{measure, pool};
use rayon::Scope;

fn search<'scope>(scope: &Scope<'scope>, position: Position) {
    position.count();
    let mut free = position.free();
    while free != 0 {
        let next = position.put_first(free);
        scope.spawn(move |scope| search(scope, next));
        free &= free - 1;
    }
}

fn main() -> ExitCode {
    measure::open("nqueens", "rayon");
    let size = measure::parameter("size", 11, 1..=queens::SIZE_MAX);
    pool::rayon(measure::threads());

    measure::time(|| {
        rayon::scope(|scope| scope.spawn(move |scope| search(scope, Position::empty(size))));
    });

    measure::close(queens::positions(size), queens::verdict(size))
}
