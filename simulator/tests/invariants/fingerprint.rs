//! One number for a whole outcome, to compare runs.

use std::hash::{Hash, Hasher};

use simulator::Outcome;
use trace::{Event, Record};

/// FNV-1a, 64 bits: the same on every machine.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn fnv(text: &str) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    text.hash(&mut hasher);
    hasher.finish()
}

/// Everything that the tasks got and when, but for names and facts of the header.
pub fn of(outcome: &Outcome) -> u64 {
    let latencies: Vec<(u64, u64)> = outcome
        .wake_latency_ns
        .iter_recorded()
        .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
        .collect();
    let totals = (
        outcome.simulated_ns,
        outcome.completed,
        outcome.level_ns,
        outcome.throttled_ns,
        outcome.busy_ns,
        outcome.switches,
        outcome.migrations,
        outcome.events,
    );
    fnv(&format!("{:?} {:?} {totals:?} {latencies:?}", outcome.tasks, outcome.losses))
        ^ of_history(outcome).rotate_left(1)
}

/// The records alone, without decisions: the outcomes of tasks contain their effect.
pub fn of_history(outcome: &Outcome) -> u64 {
    let records = outcome.history.as_ref().map(|history| {
        let decided = |record: &&Record| matches!(record.event, Event::Decision { .. });
        history.records.iter().filter(|record| !decided(record)).collect::<Vec<_>>()
    });
    fnv(&format!("{records:?}"))
}
