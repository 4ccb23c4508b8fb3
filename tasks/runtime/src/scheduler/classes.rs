//! A queue by priority: a ring for each priority that was ever used.

use std::collections::BTreeMap;

use super::Order;
use super::local::Ring;
use crate::queued::Queued;

/// Tasks by priority; among equals the oldest first.
pub(super) struct Classes {
    /// Those without tasks stay: a priority that was used is used again.
    rings: BTreeMap<i8, Ring>,
    len: usize,
}

impl Classes {
    pub(super) fn new() -> Self {
        Self { rings: BTreeMap::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn add(&mut self, task: *mut Queued, priority: i8) {
        self.rings.entry(priority).or_insert_with(|| Ring::new(Order::Fifo)).add([task]);
        self.len += 1;
    }

    /// The oldest of the highest priority.
    pub(super) fn one(&mut self) -> Option<*mut Queued> {
        self.first(Ring::one)
    }

    /// The first task by priority that is wanted.
    pub(super) fn one_if(&mut self, wanted: impl Fn(*mut Queued) -> bool) -> Option<*mut Queued> {
        self.first(|ring| ring.one_if(&wanted))
    }

    fn first(&mut self, take: impl FnMut(&mut Ring) -> Option<*mut Queued>) -> Option<*mut Queued> {
        let one = self.rings.values_mut().rev().find_map(take)?;
        self.len -= 1;
        Some(one)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use super::*;

    fn task(number: usize) -> *mut Queued {
        ptr::without_provenance_mut(number)
    }

    #[test]
    fn the_highest_priority_comes_first_and_equals_in_their_order() {
        let mut classes = Classes::new();
        for (number, priority) in [(1, 0), (2, -3), (3, 5), (4, 0), (5, 5)] {
            classes.add(task(number), priority);
        }
        let order: Vec<usize> = std::iter::from_fn(|| classes.one()).map(|t| t.addr()).collect();
        assert_eq!(order, [3, 5, 1, 4, 2]);
        assert_eq!(classes.len(), 0);
    }

    #[test]
    fn a_wanted_task_is_taken_from_below_other_tasks() {
        let mut classes = Classes::new();
        classes.add(task(1), 5);
        classes.add(task(2), 0);
        assert_eq!(classes.one_if(|one| one == task(2)), Some(task(2)));
        assert_eq!((classes.len(), classes.one()), (1, Some(task(1))));
    }
}
