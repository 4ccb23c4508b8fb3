//! Both summands of a Fibonacci number are tasks; their creator waits for both.

use std::process::ExitCode;

use peers::fibonacci::{self, fibonacci};
use peers::{measure, pool};

fn fib(n: i64) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (mut a, mut b) = (0, 0);
    evenkeel_runtime::scope(|scope| {
        scope.spawn(|_| a = fib(n - 1));
        scope.spawn(|_| b = fib(n - 2));
    });
    a + b
}

fn main() -> ExitCode {
    measure::open("fib", "evenkeel");
    let n = measure::parameter("n", 24, 0..=90);
    let runtime = pool::evenkeel(measure::threads());

    let number = measure::time(|| runtime.scope(|_| fib(n)));

    measure::close(fibonacci::tasks(n), measure::differ("number", number, fibonacci(n)))
}
