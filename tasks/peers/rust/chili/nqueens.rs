//! All ways to put queens on a board: the columns of a row are parted by joins.

use std::process::ExitCode;

use chili::Scope;
use peers::queens::{self, Position};
use peers::{measure, pool};

fn search(scope: &mut Scope, position: Position) {
    position.count();
    if position.free() != 0 {
        search_columns(scope, position, position.free());
    }
}

fn search_columns(scope: &mut Scope, position: Position, free: u32) {
    let (first, others) = (position.put_first(free), free & (free - 1));
    if others == 0 {
        search(scope, first);
    } else {
        scope.join(|scope| search(scope, first), |scope| search_columns(scope, position, others));
    }
}

fn main() -> ExitCode {
    measure::open("nqueens", "chili");
    let size = measure::parameter("size", 11, 1..=queens::SIZE_MAX);
    let pool = pool::chili(measure::threads());

    measure::time(|| search(&mut pool.scope(), Position::empty(size)));

    measure::close(queens::positions(size), queens::verdict(size))
}
