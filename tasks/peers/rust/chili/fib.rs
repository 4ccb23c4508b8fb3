//! Both summands of a Fibonacci number are the sides of a join.

use std::process::ExitCode;

use chili::Scope;
use peers::fibonacci::{self, fibonacci};
use peers::{measure, pool};

fn fib(scope: &mut Scope, n: i64) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = scope.join(|scope| fib(scope, n - 1), |scope| fib(scope, n - 2));
    a + b
}

fn main() -> ExitCode {
    measure::open("fib", "chili");
    let n = measure::parameter("n", 24, 0..=90);
    let pool = pool::chili(measure::threads());

    let number = measure::time(|| fib(&mut pool.scope(), n));

    measure::close(fibonacci::tasks(n), measure::differ("number", number, fibonacci(n)))
}
