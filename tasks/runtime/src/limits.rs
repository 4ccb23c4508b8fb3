//! How many threads the system has room for.

use std::fs;
use std::io;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// Pieces of memory that a thread takes: its stack, that of its signals, and a guard before each.
const MAPS_OF_THREAD: usize = 4;

/// The number of CPUs whose time the process may use, as at the first call; `usize::MAX` where the
/// system does not say. A control group may allow less than the affinity mask. The answer is kept,
/// since the files of the control group take 50 us to read.
pub fn parallelism() -> usize {
    static PARALLELISM: OnceLock<usize> = OnceLock::new();
    *PARALLELISM.get_or_init(|| available_parallelism().map_or(usize::MAX, usize::from))
}

/// The error if `workers` workers would need more pieces of memory than a process may have: the
/// standard library ends the process where a new thread finds no memory for its signals.
pub(crate) fn too_many(workers: usize) -> Option<io::Error> {
    let most = fs::read_to_string("/proc/sys/vm/max_map_count").ok()?;
    let most: usize = most.trim().parse().ok()?;
    (workers > most / MAPS_OF_THREAD).then(|| {
        let text = format!(
            "{workers} threads take more pieces of memory than `vm.max_map_count` = {most} allows, \
             {MAPS_OF_THREAD} each"
        );
        io::Error::new(io::ErrorKind::OutOfMemory, text)
    })
}

/// The system has no thread for a worker; those are numbered from 0, which is the caller.
pub(crate) fn no_thread(leaf: usize, workers: usize, error: &io::Error) -> io::Error {
    let text = format!(
        "starting thread {leaf} of {}: {error}; usual limits are `ulimit -u`, `pids.max` of the \
         control group, and memory for stacks",
        workers - 1
    );
    io::Error::new(error.kind(), text)
}
