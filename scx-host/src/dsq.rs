//! Dispatch queues: in order of arrival, or of virtual runtime.

use std::collections::VecDeque;

/// Why an insertion is an error, as in the kernel (`dispatch_enqueue`, Linux 7.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mixed {
    /// By virtual runtime into a queue that holds tasks in order of arrival.
    HadFifo,
    /// In order of arrival into a queue that holds tasks by virtual runtime.
    HadPriq,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    task: usize,
    /// In the order of insertion, for iterators.
    seq: u32,
    vtime: u64,
}

/// The position of an iterator.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    number: u64,
    /// Index of the next entry; one more than that index if backwards.
    next: usize,
    /// Entries that came later are not shown.
    seq: u32,
    backwards: bool,
}

/// A place to insert at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Head,
    Tail,
    Vtime(u64),
}

/// A queue of tasks.
#[derive(Debug, Default)]
pub(crate) struct Dsq {
    pub id: u64,
    entries: VecDeque<Entry>,
    cursors: Vec<Cursor>,
    is_priq: bool,
    seq: u32,
}

impl Dsq {
    pub(crate) fn new(id: u64) -> Self {
        Self { id, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn first(&self) -> Option<usize> {
        self.entries.front().map(|entry| entry.task)
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().map(|entry| entry.task)
    }

    /// Inserts a task, and returns whether the two orders were mixed; the kernel inserts then too.
    pub(crate) fn insert(&mut self, task: usize, at: At) -> Option<Mixed> {
        let was_empty = self.entries.is_empty();
        let is_priq = matches!(at, At::Vtime(_));
        let mixed = match (was_empty, is_priq, self.is_priq) {
            (false, true, false) => Some(Mixed::HadFifo),
            (false, false, true) => Some(Mixed::HadPriq),
            _ => None,
        };
        if was_empty {
            self.is_priq = is_priq;
        }
        let (index, vtime) = match at {
            At::Head => (0, 0),
            At::Tail => (self.entries.len(), 0),
            // Behind tasks of an equal time; times wrap (`time_before64`).
            At::Vtime(vtime) => {
                let before = |entry: &Entry| vtime.wrapping_sub(entry.vtime).cast_signed() >= 0;
                (self.entries.partition_point(before), vtime)
            }
        };
        self.seq = self.seq.wrapping_add(1);
        self.entries.insert(index, Entry { task, seq: self.seq, vtime });
        for cursor in &mut self.cursors {
            if index < cursor.next {
                cursor.next += 1;
            }
        }
        mixed
    }

    /// Takes a task out; false if the queue does not contain the task.
    pub(crate) fn remove(&mut self, task: usize) -> bool {
        let Some(index) = self.entries.iter().position(|entry| entry.task == task) else {
            return false;
        };
        self.entries.remove(index);
        for cursor in &mut self.cursors {
            if index < cursor.next {
                cursor.next -= 1;
            }
        }
        true
    }

    /// Begins an iteration over the tasks that the queue contains now.
    pub(crate) fn begin(&mut self, number: u64, backwards: bool) {
        let next = if backwards { self.entries.len() } else { 0 };
        self.cursors.push(Cursor { number, next, seq: self.seq, backwards });
    }

    pub(crate) fn next(&mut self, number: u64) -> Option<usize> {
        let cursor = self.cursors.iter_mut().find(|cursor| cursor.number == number)?;
        loop {
            let index = if cursor.backwards { cursor.next.checked_sub(1)? } else { cursor.next };
            let entry = self.entries.get(index)?;
            cursor.next = if cursor.backwards { index } else { index + 1 };
            if entry.seq.wrapping_sub(cursor.seq).cast_signed() <= 0 {
                return Some(entry.task);
            }
        }
    }

    /// Whether an iterator may still move a task: the queue contains the task, and did when the
    /// iterator began.
    pub(crate) fn holds_for(&self, number: u64, task: usize) -> bool {
        let Some(cursor) = self.cursors.iter().find(|cursor| cursor.number == number) else {
            return false;
        };
        let was_there = |entry: &Entry| entry.seq.wrapping_sub(cursor.seq).cast_signed() <= 0;
        self.entries.iter().any(|entry| entry.task == task && was_there(entry))
    }

    pub(crate) fn end(&mut self, number: u64) {
        self.cursors.retain(|cursor| cursor.number != number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(dsq: &mut Dsq) -> Vec<usize> {
        dsq.begin(0, false);
        let tasks = std::iter::from_fn(|| dsq.next(0)).collect();
        dsq.end(0);
        tasks
    }

    #[test]
    fn equal_times_stay_in_the_order_of_arrival_and_times_wrap() {
        let mut dsq = Dsq::new(0);
        for (task, vtime) in [(1, 5), (2, u64::MAX), (3, 5), (4, 0)] {
            assert_eq!(dsq.insert(task, At::Vtime(vtime)), None);
        }
        assert_eq!(all(&mut dsq), [2, 4, 1, 3]);
    }

    #[test]
    fn kinds_of_order_do_not_mix() {
        let mut dsq = Dsq::new(0);
        assert_eq!(dsq.insert(1, At::Tail), None);
        assert_eq!(dsq.insert(2, At::Vtime(0)), Some(Mixed::HadFifo));
        let mut dsq = Dsq::new(0);
        assert_eq!(dsq.insert(1, At::Vtime(0)), None);
        assert_eq!(dsq.insert(2, At::Head), Some(Mixed::HadPriq));
    }

    #[test]
    fn an_iterator_shows_each_task_once_though_tasks_come_and_go() {
        let mut dsq = Dsq::new(0);
        for task in 1..=4 {
            dsq.insert(task, At::Tail);
        }
        dsq.begin(7, false);
        assert_eq!(dsq.next(7), Some(1));
        assert!(dsq.remove(1));
        dsq.insert(5, At::Head);
        dsq.insert(6, At::Tail);
        assert!(dsq.remove(2));
        assert_eq!(dsq.next(7), Some(3));
        assert!(dsq.holds_for(7, 4));
        assert!(!dsq.holds_for(7, 5), "it came after the iterator began");
        assert!(!dsq.holds_for(7, 2), "it has gone");
        assert_eq!(dsq.next(7), Some(4));
        assert_eq!(dsq.next(7), None);
    }

    #[test]
    fn an_iterator_can_go_backwards() {
        let mut dsq = Dsq::new(0);
        for task in 1..=3 {
            dsq.insert(task, At::Tail);
        }
        dsq.begin(1, true);
        assert_eq!(
            [dsq.next(1), dsq.next(1), dsq.next(1), dsq.next(1)],
            [Some(3), Some(2), Some(1), None]
        );
    }
}
