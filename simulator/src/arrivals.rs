//! When threads arrive.

use scenarios::{Role, Start, Workload};

use crate::config::Config;
use crate::random::{Purpose, Stream};

/// By thread: when it arrives. Forked threads arrive when they are forked.
pub(crate) fn arrivals(workload: &Workload, config: &Config) -> Vec<u64> {
    let Start { arrival_window_ns, warm_up_ns } = config.start;
    let random = |stream| match arrival_window_ns {
        0 => 0,
        window_ns => Stream::new(config.seed, Purpose::Arrival, stream).below(window_ns),
    };
    let mut of_applications = vec![None; workload.applications.len()];
    let threads = workload.threads.iter();
    threads
        .map(|thread| {
            let application = thread.application as usize;
            let offset_ns = match workload.applications[application].role {
                Role::Background => random(thread.stream),
                // A program starts as a whole.
                Role::Foreground => *of_applications[application]
                    .get_or_insert_with(|| warm_up_ns.saturating_add(random(thread.stream))),
            };
            thread.arrival_ns.saturating_add(offset_ns)
        })
        .collect()
}
