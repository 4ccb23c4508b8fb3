//! All ways to put queens on a board: the columns of a row are parted by joins.

use std::process::ExitCode;

use peers::queens::{self, Position};
use peers::{measure, pool};

fn search(position: Position) {
    position.count();
    if position.free() != 0 {
        search_columns(position, position.free());
    }
}

fn search_columns(position: Position, free: u32) {
    let (first, others) = (position.put_first(free), free & (free - 1));
    if others == 0 {
        search(first);
    } else {
        evenkeel_runtime::join(|| search(first), || search_columns(position, others));
    }
}

fn main() -> ExitCode {
    measure::open("nqueens", "evenkeel-join");
    let size = measure::parameter("size", 11, 1..=queens::SIZE_MAX);
    let runtime = pool::evenkeel(measure::threads());

    measure::time(|| runtime.scope(|_| search(Position::empty(size))));

    measure::close(queens::positions(size), queens::verdict(size))
}
