//! Turns: of the tasks that share an address as [`super::Kind::Commutative`], one runs at a time,
//! in any order.
//!
//! The chain allows all of them; a task that is about to run takes its turn at each such address,
//! or at none: a task that would have to wait gives back its turns, and waits without holding any.
//! So no two tasks wait for each other.
//!
//! A task that ends before its children does not leave them its accesses: these children take turns
//! among themselves, and not with the task, which may wait for them.

use std::collections::VecDeque;

use crossbeam_utils::CachePadded;

use super::Accesses;
use crate::hash;
use crate::queued::Queued;
use crate::sync::{Mutex, lock};

/// Addresses are spread over this many lists.
const LISTS: usize = 64;

/// Whose child tasks take turns with each other: the address of the parent task; null where all
/// tasks of the runtime do.
pub(crate) type Among = *const ();

/// Where a task takes turns: an address of data, and among which tasks.
type Key = (usize, Among);

/// Keys at which a task has its turn, and the waiting tasks with their keys.
#[derive(Default)]
struct List {
    taken: Vec<Key>,
    waiting: VecDeque<(Key, *const Queued)>,
}

impl List {
    /// The task that may try next at a key, if the key is free.
    fn next(&mut self, key: Key) -> Option<*const Queued> {
        if self.taken.contains(&key) {
            return None;
        }
        let next = self.waiting.iter().position(|&(waited, _)| waited == key)?;
        self.waiting.remove(next).map(|(_, task)| task)
    }
}

/// The turns of all tasks of a runtime.
pub(crate) struct Turns {
    lists: Box<[CachePadded<Mutex<List>>]>,
}

// SAFETY: the lists are under locks, and any worker may run the tasks that wait here.
unsafe impl Sync for Turns {}
// SAFETY: the lists are under locks, and hold addresses of tasks that any worker may run.
unsafe impl Send for Turns {}

impl Turns {
    pub(crate) fn new() -> Self {
        Self { lists: (0..LISTS).map(|_| CachePadded::default()).collect() }
    }

    fn list(&self, (address, _): Key) -> &Mutex<List> {
        &self.lists[hash::slot::<LISTS>(address)]
    }

    /// Takes a task's turn at all its keys. If the task has to wait, `woken` gets the tasks that
    /// may go on because of that, and a later `give` returns the waiting task.
    pub(crate) fn take(
        &self,
        accesses: &Accesses,
        among: Among,
        mut woken: impl FnMut(*const Queued),
    ) -> bool {
        for (number, key) in keys(accesses, among).enumerate() {
            let mut list = lock(self.list(key));
            if !list.taken.contains(&key) {
                list.taken.push(key);
                continue;
            }
            // Before another thread can wake the task, its other turns must be given back. The task
            // may have been the one woken for a later key that is free: then the next task of
            // that key must be woken.
            drop(list);
            for other in keys(accesses, among).take(number) {
                self.give(other).into_iter().for_each(&mut woken);
            }
            for other in keys(accesses, among).skip(number + 1) {
                lock(self.list(other)).next(other).into_iter().for_each(&mut woken);
            }
            let mut list = lock(self.list(key));
            if list.taken.contains(&key) {
                list.waiting.push_back((key, accesses.task));
                return false;
            }
            drop(list);
            return self.take(accesses, among, woken);
        }
        true
    }

    /// Gives back a task's turns, and passes the tasks that may try next to `woken`.
    pub(crate) fn give_all(
        &self,
        accesses: &Accesses,
        among: Among,
        woken: impl FnMut(*const Queued),
    ) {
        keys(accesses, among).filter_map(|key| self.give(key)).for_each(woken);
    }

    fn give(&self, key: Key) -> Option<*const Queued> {
        let mut list = lock(self.list(key));
        list.taken.retain(|&taken| taken != key);
        list.next(key)
    }
}

/// Where a task takes turns.
fn keys(accesses: &Accesses, among: Among) -> impl Iterator<Item = Key> {
    let turns = accesses.addresses_of_links().filter(|(link, _)| link.takes_turns());
    turns.map(move |(_, address)| (address, among))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{Access, Kind, Room};
    use super::*;
    use crate::queued::Runner;

    unsafe fn never(_: *mut Queued, _: Runner<'_>) {
        unreachable!("these tasks only take turns");
    }

    /// Takes turns at the addresses.
    fn task(addresses: &[usize]) -> (Box<Queued>, Box<Room<2>>) {
        let (task, mut room) = (Box::new(Queued::new(never)), Box::new(Room::EMPTY));
        let all = addresses.iter().map(|&address| Access::new(address, Kind::Commutative));
        let key = (&raw mut *room).cast();
        // SAFETY: the block has room for two accesses.
        unsafe { Accesses::write(key, &raw const *task, all, addresses.len(), 0) };
        (task, room)
    }

    fn take(turns: &Turns, (_, room): &(Box<Queued>, Box<Room<2>>)) -> (bool, Vec<*const Queued>) {
        let mut woken = Vec::new();
        // SAFETY: the accesses were written to this block.
        let accesses = unsafe { &*(&raw const **room).cast() };
        (turns.take(accesses, std::ptr::null(), |task| woken.push(task)), woken)
    }

    #[test]
    fn a_notified_worker_that_waits_elsewhere_leaves_the_task_to_the_next() {
        let turns = Turns::new();
        let [first, both, other, next] = [&[8][..], &[16, 8], &[16], &[8]].map(task);
        assert_eq!(take(&turns, &first), (true, vec![]));
        assert_eq!(take(&turns, &both), (false, vec![]));
        assert_eq!(take(&turns, &other), (true, vec![]));
        assert_eq!(take(&turns, &next), (false, vec![]));
        assert_eq!(turns.give((8, std::ptr::null())), Some(&raw const *both.0));
        assert_eq!(take(&turns, &both), (false, vec![&raw const *next.0]));
        assert_eq!(take(&turns, &next), (true, vec![]));
    }
}
