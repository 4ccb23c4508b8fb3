//! Leaves for external threads: threads of the program that enter the runtime for a scope.

use std::time::Duration;

use crate::memory::{Chunks, Memory};
use crate::notice::tell;
use crate::sync::{Condvar, Instant, Mutex, lock, wait_for};

/// Leaves for threads from outside, beyond the first, which has a CPU of its own.
///
/// What a scope's code borrows may be bound to its thread, so it cannot be left to others.
pub(crate) const SLOTS_MORE: usize = 7;

/// Who waits so long for a leaf may do so for ever.
const LONG: Duration = Duration::from_secs(1);

/// A leaf, and the free chunks that the last thread on it has left: they would be lost with it.
pub(crate) struct ExternalSlot {
    pub(crate) leaf: usize,
    pub(crate) chunks: Box<Chunks>,
}

/// The leaves that threads from outside may have.
pub(crate) struct ExternalSlots {
    free: Mutex<Vec<ExternalSlot>>,
    left: Condvar,
}

impl ExternalSlots {
    /// These leaves, of which the first is taken first.
    pub(crate) fn new(leaves: impl DoubleEndedIterator<Item = usize>, memory: Memory) -> Self {
        let slot = |leaf| ExternalSlot { leaf, chunks: Box::new(Chunks::new(memory)) };
        Self { free: Mutex::new(leaves.rev().map(slot).collect()), left: Condvar::new() }
    }

    /// Waits until one is free, and tells if that takes long.
    pub(crate) fn take(&self) -> ExternalSlot {
        let mut free = lock(&self.free);
        let (mut is_told, mut begin) = (false, None);
        loop {
            if let Some(slot) = free.pop() {
                return slot;
            }
            let begin = *begin.get_or_insert_with(Instant::now);
            free = wait_for(&self.left, &self.free, free, LONG);
            if !is_told && begin.elapsed() >= LONG {
                is_told = true;
                tell(&format!(
                    "a thread waits to begin a scope: {} others are in scopes of the same runtime \
                     that is none of theirs; scopes of two runtimes in turn, inside each other on \
                     one thread, are as many, and may wait for themselves",
                    1 + SLOTS_MORE
                ));
            }
        }
    }

    pub(crate) fn leave(&self, slot: ExternalSlot) {
        lock(&self.free).push(slot);
        self.left.notify_one();
    }
}
