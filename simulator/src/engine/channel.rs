//! A pipe or one direction of a connection: what was written and not yet read.

use std::collections::VecDeque;

/// Bytes, and the tasks that wait for some.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    /// Less than 0 where a reader took what is still to come.
    pub(super) bytes: i128,
    readers: VecDeque<(usize, u64)>,
}

impl Channel {
    /// Takes bytes for a task, or lets it wait; `false`: it waits.
    pub(super) fn receive(&mut self, task: usize, bytes: u64) -> bool {
        if self.bytes <= 0 {
            self.readers.push_back((task, bytes));
            return false;
        }
        self.bytes -= i128::from(bytes);
        true
    }

    /// A reader that need not wait any longer.
    pub(super) fn next_reader(&mut self) -> Option<usize> {
        if self.bytes <= 0 {
            return None;
        }
        let (reader, bytes) = self.readers.pop_front()?;
        self.bytes -= i128::from(bytes);
        Some(reader)
    }

    pub(super) fn has_reader(&self, task: usize) -> bool {
        self.readers.iter().any(|&(reader, _)| reader == task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_waits_until_there_is_something_and_may_take_more() {
        let mut channel = Channel::default();
        assert!(!channel.receive(1, 300) && channel.has_reader(1));
        assert_eq!(channel.next_reader(), None);
        channel.bytes += 100;
        assert_eq!((channel.next_reader(), channel.next_reader()), (Some(1), None));
        channel.bytes += 200;
        assert!(!channel.receive(2, 1), "what came was taken before");
        channel.bytes += 2;
        assert_eq!(channel.next_reader(), Some(2));
        assert!(channel.receive(3, 1));
    }
}
