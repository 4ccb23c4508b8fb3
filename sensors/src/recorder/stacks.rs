//! Numbers the stacks of a recording: equal stacks of a process have one number.

use std::collections::HashMap;

use trace::STACKS_MAX;

/// A stack that was not seen before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The process whose addresses they are.
    pub pid: u32,
    /// Addresses in user mode, the innermost first.
    pub addresses: Vec<u64>,
}

/// The stacks seen so far.
#[derive(Debug, Default)]
pub struct Stacks {
    numbers: HashMap<(u32, Vec<u64>), u32>,
    /// Those that no call of [`Self::take`] returned yet.
    fresh: Vec<Stack>,
}

impl Stacks {
    /// The number of a stack; `None`: a recording holds no more stacks.
    pub fn number(&mut self, pid: u32, addresses: Vec<u64>) -> Option<u32> {
        let next = self.numbers.len();
        let key = (pid, addresses);
        if let Some(&number) = self.numbers.get(&key) {
            return Some(number);
        }
        if next >= STACKS_MAX {
            return None;
        }
        self.fresh.push(Stack { pid, addresses: key.1.clone() });
        self.numbers.insert(key, next as u32);
        Some(next as u32)
    }

    /// The stacks since the last call, by ascending number.
    pub fn take(&mut self) -> Vec<Stack> {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_of_a_process_are_one_and_have_ascending_numbers() {
        let mut stacks = Stacks::default();
        assert_eq!(stacks.number(1, vec![7, 8]), Some(0));
        assert_eq!(stacks.number(1, vec![7]), Some(1));
        assert_eq!(stacks.number(1, vec![7, 8]), Some(0));
        assert_eq!(stacks.take().len(), 2);
        assert_eq!(stacks.number(2, vec![7, 8]), Some(2));
        assert_eq!(stacks.take(), [Stack { pid: 2, addresses: vec![7, 8] }]);
    }

    #[test]
    fn there_are_no_more_than_a_recording_holds() {
        let mut stacks = Stacks::default();
        for address in 0..STACKS_MAX as u64 {
            assert!(stacks.number(1, vec![address]).is_some());
        }
        assert_eq!(stacks.number(1, vec![u64::MAX]), None);
        assert_eq!(stacks.number(1, vec![5]), Some(5));
    }
}
