//! Both summands of a Fibonacci number are the sides of a join.

use std::process::ExitCode;

use peers::fibonacci::{self, fibonacci};
use peers::{measure, pool};

fn fib(n: i64) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn main() -> ExitCode {
    measure::open("fib", "rayon-join");
    let n = measure::parameter("n", 24, 0..=90);
    pool::rayon(measure::threads());

    let number = measure::time(|| rayon::scope(|_| fib(n)));

    measure::close(fibonacci::tasks(n), measure::differ("number", number, fibonacci(n)))
}
