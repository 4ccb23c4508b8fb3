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
        rayon::join(|| search(first), || search_columns(position, others));
    }
}

fn main() -> ExitCode {
    measure::open("nqueens", "rayon-join");
    let size = measure::parameter("size", 11, 1..=queens::SIZE_MAX);
    pool::rayon(measure::threads());

    measure::time(|| rayon::scope(|_| search(Position::empty(size))));

    measure::close(queens::positions(size), queens::verdict(size))
}
