//! Puts events into order of time that recorders wrote one CPU after the other, round by round.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

struct Held<T> {
    time_ns: u64,
    sequence: u64,
    item: T,
}

impl<T> Held<T> {
    fn key(&self) -> (u64, u64) {
        (self.time_ns, self.sequence)
    }
}

/// The earliest is the greatest, for a heap gives out its greatest.
impl<T> Ord for Held<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for Held<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Held<T> {}

/// Records of the rounds that are not over; equal times keep the order of the file.
pub struct Rounds<T> {
    held: BinaryHeap<Held<T>>,
    held_max: usize,
    sequence: u64,
    latest_ns: u64,
    /// Latest time of the round before this one.
    before_ns: u64,
    /// Until when records may go on.
    until_ns: Option<u64>,
}

impl<T> Rounds<T> {
    /// Holds so many at most; what does not fit goes on too early, and is refused where that
    /// shows.
    pub fn new(held_max: usize) -> Self {
        let held = BinaryHeap::new();
        Self { held, held_max, sequence: 0, latest_ns: 0, before_ns: 0, until_ns: None }
    }

    pub fn insert(&mut self, time_ns: u64, item: T) {
        self.latest_ns = self.latest_ns.max(time_ns);
        self.held.push(Held { time_ns, sequence: self.sequence, item });
        self.sequence += 1;
    }

    /// Ends a round: everything up to the end of the round before it may go on.
    pub fn finish(&mut self) {
        self.until_ns = Some(self.before_ns);
        self.before_ns = self.latest_ns;
    }

    /// Ends the last round.
    pub fn end(&mut self) {
        self.until_ns = Some(u64::MAX);
    }

    /// The earliest record, if no earlier one can follow.
    pub fn pop(&mut self) -> Option<T> {
        let due = |held: &Held<T>| self.until_ns.is_some_and(|until_ns| held.time_ns <= until_ns);
        if self.held.len() <= self.held_max && !self.held.peek().is_some_and(due) {
            return None;
        }
        self.held.pop().map(|held| held.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rounds: &mut Rounds<char>) -> String {
        std::iter::from_fn(|| rounds.pop()).collect()
    }

    #[test]
    fn a_record_leaves_when_no_later_round_can_hold_an_earlier_one() {
        let mut rounds = Rounds::new(9);
        for (time_ns, item) in [(1, 'a'), (3, 'd'), (2, 'b')] {
            rounds.insert(time_ns, item);
        }
        rounds.finish();
        assert_eq!(all(&mut rounds), "");
        for (time_ns, item) in [(2, 'c'), (5, 'f'), (4, 'e')] {
            rounds.insert(time_ns, item);
        }
        rounds.finish();
        assert_eq!(all(&mut rounds), "abcd");
        rounds.end();
        assert_eq!(all(&mut rounds), "ef");
    }
}
