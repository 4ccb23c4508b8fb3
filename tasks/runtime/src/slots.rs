//! Leaves for external threads: threads of the program that enter the runtime for a scope.

use std::time::Duration;

use crate::memory::{Chunks, Memory};
use crate::notice::tell;
use crate::sync::{Condvar, Instant, Mutex, lock, wait_for};

/// Leaves for external threads beyond the first, whose leaf has a CPU of its own.
///
/// Values that a scope's code borrows may be bound to their thread, so that no other thread could
/// run the scope.
pub(crate) const SLOTS_MORE: usize = 7;

/// A thread that has waited this long for a slot may wait for ever, and a message says so.
const LONG: Duration = Duration::from_secs(1);

/// A leaf, and the free chunks of its last thread, which would be lost with that thread's worker.
pub(crate) struct ExternalSlot {
    pub(crate) leaf: usize,
    pub(crate) chunks: Box<Chunks>,
}

/// The leaves that external threads may use.
pub(crate) struct ExternalSlots {
    free: Mutex<Vec<ExternalSlot>>,
    left: Condvar,
}

impl ExternalSlots {
    /// Slots for these leaves; the first leaf is taken first.
    pub(crate) fn new(leaves: impl DoubleEndedIterator<Item = usize>, memory: Memory) -> Self {
        let slot = |leaf| ExternalSlot { leaf, chunks: Box::new(Chunks::new(memory)) };
        Self { free: Mutex::new(leaves.rev().map(slot).collect()), left: Condvar::new() }
    }

    /// Waits until a slot is free, and prints a message if that takes long.
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
