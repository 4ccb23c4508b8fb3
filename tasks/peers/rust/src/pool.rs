//! Thread pools of the size asked for, whose threads have begun before the clock starts.

use std::num::NonZero;

use evenkeel_runtime::{Config, Runtime};

use crate::{measure, tally};

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

/// Ours, with the scheduler of the argument `rules`; the caller is one of the threads.
pub fn evenkeel(threads: usize) -> Runtime {
    let rules = measure::text("rules").map_or(Ok(Config::default()), |text| text.parse());
    let rules = rules.unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2);
    });
    let runtime = Runtime::builder().workers(threads).config(rules).build();
    runtime.expect("the system gives threads")
}
