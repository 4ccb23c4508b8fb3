//! Runs of several compilers in parallel.

use anyhow::Result;

/// Counts the runs of each compiler, each on a thread of its own: a compiler is one process, and
/// most of the time goes into compiling.
///
/// # Errors
/// That of the first compiler whose runs ended with one.
pub fn count<Compiler: Send>(
    compilers: impl IntoIterator<Item = Compiler>,
    runs: impl Fn(Compiler) -> Result<u32> + Sync,
) -> Result<u32> {
    let counts: Vec<Result<u32>> = std::thread::scope(|scope| {
        let runs = &runs;
        let of = |compiler| scope.spawn(move || runs(compiler));
        let threads: Vec<_> = compilers.into_iter().map(of).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    counts.into_iter().sum()
}
