//! Two bounded windows that put things into order of time: entries as they come
//! in, and records as they go out.

use std::collections::VecDeque;
use std::io;

use crate::{Event, Record, Sink};

/// Entries of a recording that may be out of order of time; our choice.
pub(super) const ENTRIES_HELD: usize = 512;

/// Things in order of time; equal times keep the order in which they came.
pub struct Window<T> {
    items: VecDeque<(u64, T)>,
    capacity: usize,
    floor_ns: u64,
}

impl<T> Window<T> {
    /// A window over so many things.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { items: VecDeque::with_capacity(capacity + 1), capacity, floor_ns: 0 }
    }

    /// Time of the record that left the window last; an earlier one is refused.
    pub fn floor_ns(&self) -> u64 {
        self.floor_ns
    }

    /// Latest time in the window.
    pub fn last_ns(&self) -> u64 {
        self.items.back().map_or(self.floor_ns, |item| item.0)
    }

    /// Puts `item` after everything that is not later.
    pub fn insert(&mut self, time_ns: u64, item: T) {
        if time_ns >= self.last_ns() {
            self.items.push_back((time_ns, item));
        } else {
            let at = self.items.partition_point(|other| other.0 <= time_ns);
            self.items.insert(at, (time_ns, item));
        }
    }

    /// Takes the earliest item if the window is over its capacity.
    pub fn overflow(&mut self) -> Option<T> {
        if self.items.len() > self.capacity { self.pop() } else { None }
    }

    /// Takes the earliest item.
    pub fn pop(&mut self) -> Option<T> {
        let (time_ns, item) = self.items.pop_front()?;
        self.floor_ns = time_ns;
        Some(item)
    }
}

/// How far back in records a repair may reach; our choice. At HZ = 250 a running task
/// reports every 4 ms, in which the busiest recording seen had 2,000 events.
const RECORDS_HELD: usize = 4096;

/// Records on their way to a sink.
pub struct Output<'s, S> {
    window: Window<Record>,
    sink: &'s mut S,
    /// Records given to the sink.
    pub records: u64,
}

impl<'s, S: Sink> Output<'s, S> {
    /// A window of 4,096 records before `sink`.
    pub fn new(sink: &'s mut S) -> Self {
        Self { window: Window::new(RECORDS_HELD), sink, records: 0 }
    }

    /// Earliest time that a record may still have.
    pub fn floor_ns(&self) -> u64 {
        self.window.floor_ns()
    }

    /// Adds an event at a time not before [`Self::floor_ns`].
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn push(&mut self, time_ns: u64, event: Event) -> io::Result<()> {
        self.window.insert(time_ns, Record { time_ns, event });
        while let Some(record) = self.window.overflow() {
            self.records += 1;
            self.sink.record(&record)?;
        }
        Ok(())
    }

    /// Gives out everything that is left, and the sink back.
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn flush(mut self) -> io::Result<(&'s mut S, u64)> {
        while let Some(record) = self.window.pop() {
            self.records += 1;
            self.sink.record(&record)?;
        }
        Ok((self.sink, self.records))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_their_order() {
        let mut window = Window::new(2);
        for (time_ns, item) in [(5, 'a'), (3, 'b'), (5, 'c'), (3, 'd')] {
            window.insert(time_ns, item);
        }
        let order: Vec<char> = std::iter::from_fn(|| window.pop()).collect();
        assert_eq!(order, ['b', 'd', 'a', 'c']);
        assert_eq!(window.floor_ns(), 5);
    }
}
