//! One number for a whole outcome, to compare runs.

use simulator::Outcome;
use trace::{Event, Record};

/// FNV-1a of a text and a last byte, as the committed fingerprints were computed.
fn fnv(text: &str) -> u64 {
    random::fnv1a(text.bytes().chain([0xff]))
}

/// A loss under the field names that the committed fingerprints were computed with, so that
/// renaming a field changes none of them.
#[derive(Debug)]
#[expect(dead_code, reason = "only the text of all fields is read")]
struct Loss {
    victim: u32,
    culprit: u32,
    lost_ns: u64,
    repaid_ns: u64,
    in_kind_ns: u64,
}

impl From<&simulator::Loss> for Loss {
    fn from(loss: &simulator::Loss) -> Self {
        let simulator::Loss { victim, culprit, lost_ns, repaid_ns, idle_compensation_ns } = *loss;
        Self { victim, culprit, lost_ns, repaid_ns, in_kind_ns: idle_compensation_ns }
    }
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
    let losses: Vec<Loss> = outcome.losses.iter().map(Loss::from).collect();
    fnv(&format!("{:?} {losses:?} {totals:?} {latencies:?}", outcome.tasks))
        ^ of_history(outcome).rotate_left(1)
}

/// The records alone, without decisions: the outcomes of tasks contain their effect.
pub fn of_history(outcome: &Outcome) -> u64 {
    let records = outcome.history.as_ref().map(|history| {
        let decided = |record: &&Record| matches!(record.event, Event::Decision { .. });
        history.records.iter().filter(|record| !decided(record)).collect::<Vec<_>>()
    });
    // A simulation notes no promise, and the committed fingerprints are older than the field.
    fnv(&format!("{records:?}").replace(", sync: None", ""))
}
