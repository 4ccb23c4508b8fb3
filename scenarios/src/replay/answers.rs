//! Tasks that answer each other: a question and its answer, over a pipe or a socket.
//!
//! A task whose answer arrives before the task sleeps is not woken, so that the recording shows no
//! wait: the answering task preempted the asking one. In a replay the asking task would then run
//! ahead by a round for each such answer, and the two would take turns in ever longer batches.
//! Between two tasks that wait only for each other, two successive wake-ups in the same direction
//! mean that an answer came early.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Event, History};

/// Two tasks answer each other if nine of ten wake-ups of each are by the other,
const OF_TEN: u64 = 9;
/// and each has at least so many. Both are our choice.
const WAKES_MIN: u64 = 20;

/// Two tasks, the smaller id first.
type Pair = (u32, u32);

fn pair(one: u32, other: u32) -> Pair {
    (one.min(other), one.max(other))
}

/// The pairs of a history that answer each other.
pub(super) struct Answers {
    pairs: BTreeSet<Pair>,
    last_by: BTreeMap<Pair, u32>,
}

impl Answers {
    pub(super) fn of(history: &History) -> Self {
        // By woken task: number of its wake-ups, in all and by waking task.
        let mut wakes: BTreeMap<u32, (u64, BTreeMap<u32, u64>)> = BTreeMap::new();
        for record in &history.records {
            let Event::Wake { task, by, .. } = record.event else { continue };
            let (all, by_task) = wakes.entry(task).or_default();
            *all += 1;
            *by_task.entry(by).or_default() += 1;
        }
        let main = |task: u32| {
            let (all, by_task) = wakes.get(&task)?;
            let (&by, &most) = by_task.iter().max_by_key(|(_, count)| **count)?;
            (most >= WAKES_MIN && most * 10 >= all * OF_TEN).then_some(by)
        };
        let mutual = |&task: &u32| {
            let other = main(task)?;
            (main(other) == Some(task)).then(|| pair(task, other))
        };
        Self { pairs: wakes.keys().filter_map(mutual).collect(), last_by: BTreeMap::new() }
    }

    /// `by` wakes `task`; whether an answer of `task` to the wake-up before must have come early.
    pub(super) fn came_early(&mut self, task: u32, by: u32) -> bool {
        let pair = pair(task, by);
        self.pairs.contains(&pair) && self.last_by.insert(pair, by) == Some(by)
    }
}
