//! Plays phases of streams, over and over, until told to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::{Stream, Tsc};

/// A stream for a while of wall-clock time.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// The stream.
    pub stream: Stream,
    /// For how long.
    pub duration: Duration,
}

/// How often the player looks at the clock and at `stop`.
const LOOK: Duration = Duration::from_micros(5);

/// Plays the phases in turn until `stop` is set, and adds the blocks done in each to `done`, which
/// another thread or, in shared memory, another process may read at any time.
///
/// # Panics
/// When fewer counters than phases are given.
pub fn play(phases: &[Phase], tsc: &Tsc, done: &[AtomicU64], stop: &AtomicBool) {
    assert_eq!(phases.len(), done.len(), "one counter a phase");
    let plan: Vec<(Stream, u64, u64)> = phases
        .iter()
        .map(|phase| {
            let blocks = phase.stream.blocks_in(tsc, tsc.ticks(LOOK.min(phase.duration)));
            (phase.stream, blocks, tsc.ticks(phase.duration))
        })
        .collect();
    while !stop.load(Ordering::Relaxed) && !plan.is_empty() {
        for ((stream, blocks, ticks), done) in plan.iter().zip(done) {
            let start = tsc.now();
            while tsc.now() - start < *ticks && !stop.load(Ordering::Relaxed) {
                stream.run(*blocks);
                done.fetch_add(*blocks, Ordering::Relaxed);
            }
        }
    }
}
