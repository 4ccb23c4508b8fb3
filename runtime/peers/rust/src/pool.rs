//! Thread pools of the size asked for, whose threads have begun before the clock starts.

use std::num::NonZero;

use crate::tally;

/// rayon's, for all that follows.
pub fn rayon(threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.expect("no pool was built before");
    rayon::broadcast(|_| tally::join());
}

/// chili's; the caller is one of the threads, as in `ThreadPool::scope`.
pub fn chili(threads: usize) -> chili::ThreadPool {
    let config = chili::Config { thread_count: NonZero::new(threads), ..chili::Config::default() };
    chili::ThreadPool::with_config(config)
}

/// Ours; the caller is one of the threads.
pub fn evenkeel(threads: usize) -> evenkeel_runtime::Runtime {
    evenkeel_runtime::Runtime::builder().workers(threads).build().expect("the system gives threads")
}
