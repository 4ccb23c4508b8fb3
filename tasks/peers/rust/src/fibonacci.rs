//! Fibonacci numbers, added up one after the other. `fibonacci.h`.

/// The right result of the tree of calls.
pub fn fibonacci(n: i64) -> u64 {
    (0..n).fold((1, 0), |(before, number), _| (number, before + number)).1
}

/// Two for every call with n > 1.
pub fn tasks(n: i64) -> u64 {
    2 * (fibonacci(n + 1) - 1)
}
