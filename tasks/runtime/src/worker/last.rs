//! The checks of the worker that falls asleep last: see [`crate::deadlock`].

use std::sync::Arc;

use super::Worker;
use crate::deadlock::{self, Snapshot};
use crate::queued::Queued;
use crate::sync::{Ordering, yield_now};

impl Worker {
    /// The worker is about to sleep, and may be the last. Returns a task if a queue has one after
    /// all.
    ///
    /// Of several workers that are about to sleep at once, one checks, and the other ones sleep.
    #[cold]
    pub(super) fn is_last(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        let shared = &*self.shared;
        if !shared.options.knows_events || shared.looks_for_deadlock.swap(true, Ordering::SeqCst) {
            return None;
        }
        let found = self.look_for_deadlock(stop);
        shared.looks_for_deadlock.store(false, Ordering::SeqCst);
        found
    }

    fn look_for_deadlock(&self, stop: &impl Fn() -> bool) -> Option<*mut Queued> {
        let shared = &*self.shared;
        loop {
            let present = shared.present.load(Ordering::SeqCst);
            if shared.scheduler.count_asleep() < present || stop() || !shared.has_waits() {
                return None;
            }
            // References are counted before the queues are read: a thread that uses the last event
            // adds its task first, and drops its reference afterwards.
            let snapshot = Snapshot {
                present,
                resting: shared.resting.load(Ordering::SeqCst),
                references: Arc::strong_count(&self.shared),
                is_closed: shared.options.is_closed,
            };
            if snapshot.may_be_helped() {
                return None;
            }
            // A task may go from a worker that is awake to one that was seen asleep, and the former
            // fall asleep before it is looked at. If no worker began to sleep meanwhile, all that
            // were seen asleep had been so at once.
            let sleeps = shared.scheduler.steps().waits;
            let asleep = (0..shared.waits.len()).filter(|&leaf| shared.scheduler.is_asleep(leaf));
            let others_sleep = asleep.count() + 1 >= snapshot.workers();
            // A thread that added a task meanwhile found no sleeper to wake.
            // SAFETY: this thread is the leaf's worker.
            let found = self.take().or_else(|| self.seek());
            if found.is_some() || stop() || shared.scheduler.has_any(self.leaf) || self.has_wide() {
                return found;
            }
            if !others_sleep {
                // The remaining workers are about to sleep, or have been notified.
                yield_now();
                continue;
            }
            if shared.scheduler.steps().waits != sleeps {
                yield_now();
                continue;
            }
            // A task may have gone on, and its worker away, since the waiting ones were looked at.
            let now = shared.present.load(Ordering::SeqCst) + shared.resting.load(Ordering::SeqCst);
            if now != snapshot.workers() || !shared.has_waits() {
                return None;
            }
            deadlock::report(shared.waits.iter().map(|waits| &**waits), snapshot.outside());
        }
    }
}
