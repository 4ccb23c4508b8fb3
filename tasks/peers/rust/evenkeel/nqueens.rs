//! All ways to put queens on a board: every position is a task, nobody waits.

use std::process::ExitCode;

use evenkeel_runtime::Scope;
use peers::queens::{self, Position};
use peers::{measure, pool};

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
    measure::open("nqueens", "evenkeel");
    let size = measure::parameter("size", 11, 1..=queens::SIZE_MAX);
    let runtime = pool::evenkeel(measure::threads());

    measure::time(|| {
        runtime.scope(|scope| scope.spawn(move |scope| search(scope, Position::empty(size))));
    });

    measure::close(queens::positions(size), queens::verdict(size))
}
