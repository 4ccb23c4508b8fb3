//! The queue of a leaf under the LIFO policy: the owner uses one end, other workers the other end.
//!
//! After the THE protocol of Cilk-5 (Frigo, Leiserson, Randall: PLDI 1998, section 5), taking sets
//! instead of single tasks. The owner pushes with plain stores and pops with one fence. Every other
//! worker, and the owner where it takes the oldest task, holds the lock.
//!
//! Why nothing is taken twice: the owner lowers `tail` before it reads `head`, a taker raises
//! `head` before it reads `tail`, and both have a fence between. So at least one of them sees the
//! other; the taker then gives back, and the owner waits for the lock and looks again.

use std::cell::Cell;
use std::ptr;

use crossbeam_utils::CachePadded;

use crate::queued::Queued;
use crate::sync::{AtomicPtr, AtomicUsize, Mutex, MutexGuard, Ordering, fence, lock, try_lock};

/// Slots at the start: more than a threshold usually is.
const CAPACITY_MIN: usize = 256;

/// Up to this number, a thief takes every second task, and the other tasks move together.
const SHARED_MAX: usize = 16;

/// Slots, addressed by position modulo their number.
struct Ring {
    slots: Box<[AtomicPtr<Queued>]>,
}

impl Ring {
    fn new(capacity: usize) -> Box<Self> {
        debug_assert!(capacity.is_power_of_two());
        Box::new(Self { slots: (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect() })
    }

    fn at(&self, position: usize) -> &AtomicPtr<Queued> {
        &self.slots[position & (self.slots.len() - 1)]
    }
}

/// Fields that the owner writes, on a cache line of their own.
struct Owned {
    /// The next position to fill.
    tail: AtomicUsize,
    /// Tasks that were ever pushed.
    pushes: AtomicUsize,
    /// Up to this position the ring has room; checked again, under the lock, only when `tail`
    /// reaches the position. Used by the owner only.
    room_until: Cell<usize>,
    /// Replaced with the lock held; read by the owner and by the lock's holder.
    ring: AtomicPtr<Ring>,
}

/// A double-ended queue of tasks with one owner.
///
/// Positions only grow and may wrap; `tail - head` is the number of tasks. The three fields are on
/// different cache lines: a worker that only tries the lock takes no other line from the owner.
pub(crate) struct Deque {
    owned: CachePadded<Owned>,
    /// The oldest task. Written by the lock's holder only.
    head: CachePadded<AtomicUsize>,
    lock: CachePadded<Mutex<()>>,
}

// SAFETY: only the owner uses `room_until`: `push` and `pop` require that the owner calls them.
unsafe impl Sync for Deque {}
// SAFETY: a deque owns its ring and nothing that belongs to a thread.
unsafe impl Send for Deque {}

impl Deque {
    pub(crate) fn new() -> Self {
        Self::with_capacity(CAPACITY_MIN)
    }

    fn with_capacity(capacity: usize) -> Self {
        let owned = Owned {
            tail: AtomicUsize::new(0),
            pushes: AtomicUsize::new(0),
            room_until: Cell::new(capacity),
            ring: AtomicPtr::new(Box::into_raw(Ring::new(capacity))),
        };
        Self {
            owned: CachePadded::new(owned),
            head: CachePadded::new(AtomicUsize::new(0)),
            lock: CachePadded::new(Mutex::new(())),
        }
    }

    /// Number of tasks; without the lock, an estimate.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let tail = self.owned.tail.load(Ordering::Relaxed);
        distance(self.head.load(Ordering::Relaxed), tail)
    }

    /// Adds the youngest task; returns the number of tasks.
    ///
    /// # Safety
    /// Only the owner may call this.
    #[inline]
    pub(crate) unsafe fn push(&self, task: *mut Queued) -> usize {
        let tail = self.owned.tail.load(Ordering::Relaxed);
        if tail == self.owned.room_until.get() {
            self.make_room(tail);
        }
        // SAFETY: only the owner replaces the ring, and the owner runs this.
        let ring = unsafe { &*self.owned.ring.load(Ordering::Relaxed) };
        ring.at(tail).store(task, Ordering::Relaxed);
        // Pairs with the acquiring load of `take_oldest`: the taker sees the whole task.
        self.owned.tail.store(tail.wrapping_add(1), Ordering::Release);
        let pushes = self.owned.pushes.load(Ordering::Relaxed);
        self.owned.pushes.store(pushes.wrapping_add(1), Ordering::Relaxed);
        distance(self.head.load(Ordering::Relaxed), tail.wrapping_add(1))
    }

    /// Changes with every push.
    pub(crate) fn pushes(&self) -> usize {
        self.owned.pushes.load(Ordering::Relaxed)
    }

    /// Takes the youngest task.
    ///
    /// # Safety
    /// Only the owner may call this.
    #[inline]
    pub(crate) unsafe fn pop(&self) -> Option<*mut Queued> {
        let tail = self.owned.tail.load(Ordering::Relaxed);
        if tail == self.head.load(Ordering::Relaxed) {
            return None;
        }
        let last = tail.wrapping_sub(1);
        self.owned.tail.store(last, Ordering::Relaxed);
        // Pairs with the fence of `take_oldest`.
        fence(Ordering::SeqCst);
        // Pairs with `take_oldest_if`, where the taker has read a task before giving the task back,
        // and with `share_locked`.
        if behind(last, self.head.load(Ordering::Acquire)) {
            self.settle(tail)?;
        }
        // SAFETY: only the owner replaces the ring, and the owner runs this.
        let ring = unsafe { &*self.owned.ring.load(Ordering::Relaxed) };
        Some(ring.at(last).load(Ordering::Relaxed))
    }

    /// Another worker takes, or has taken, the task below `tail`. While we hold the lock, none
    /// does.
    #[cold]
    fn settle(&self, tail: usize) -> Option<()> {
        let _taking = lock(&self.lock);
        if behind(tail.wrapping_sub(1), self.head.load(Ordering::Relaxed)) {
            self.owned.tail.store(tail, Ordering::Relaxed);
            return None;
        }
        Some(())
    }

    /// Moves up to `wanted` of the oldest tasks, the oldest first, to `out`; returns their number.
    pub(crate) fn take_oldest(&self, wanted: usize, out: &mut Vec<*mut Queued>) -> usize {
        if wanted == 0 || self.len() == 0 {
            return 0;
        }
        self.take_locked(lock(&self.lock), wanted, out)
    }

    /// Moves at most `wanted` tasks to `out`, none if another worker holds the lock: then another
    /// leaf is worth a look. If `wanted` is at most `SHARED_MAX`, the queue keeps every second one:
    /// each task of a recursion is half as large as the one before, and taking the oldest half
    /// would leave the owner next to nothing.
    pub(crate) fn try_take_some(&self, wanted: usize, out: &mut Vec<*mut Queued>) {
        match try_lock(&self.lock) {
            Some(taking) if wanted > 1 && wanted <= SHARED_MAX => {
                self.share_locked(taking, wanted, out);
            }
            Some(taking) => _ = self.take_locked(taking, wanted, out),
            None => {}
        }
    }

    /// Takes the oldest task, leaves the next, and so on, but never takes the youngest.
    fn share_locked(&self, _taking: MutexGuard<'_, ()>, wanted: usize, out: &mut Vec<*mut Queued>) {
        let head = self.head.load(Ordering::Relaxed);
        let len = distance(head, self.owned.tail.load(Ordering::Relaxed));
        let span = (2 * wanted - 1).min(len.saturating_sub(1));
        self.head.store(head.wrapping_add(span), Ordering::Relaxed);
        // Pairs with the fence of `pop`: the owner pops no slot before the new `head`.
        fence(Ordering::SeqCst);
        let span = span.min(distance(head, self.owned.tail.load(Ordering::Acquire)));
        // SAFETY: the owner replaces the ring only while holding the lock.
        let ring = unsafe { &*self.owned.ring.load(Ordering::Relaxed) };
        let at = |offset: usize| ring.at(head.wrapping_add(offset));
        let (taken, left) = (span.div_ceil(2), span / 2);
        out.extend((0..taken).map(|n| at(2 * n).load(Ordering::Relaxed)));
        // From the youngest on: each slot is filled after its own task has been moved.
        for n in (0..left).rev() {
            at(taken + n).store(at(2 * n + 1).load(Ordering::Relaxed), Ordering::Relaxed);
        }
        // Pairs with the load of `pop`: the owner sees the moved tasks.
        self.head.store(head.wrapping_add(taken), Ordering::Release);
    }

    fn take_locked(
        &self,
        _taking: MutexGuard<'_, ()>,
        wanted: usize,
        out: &mut Vec<*mut Queued>,
    ) -> usize {
        let head = self.head.load(Ordering::Relaxed);
        let wanted = wanted.min(distance(head, self.owned.tail.load(Ordering::Relaxed)));
        self.head.store(head.wrapping_add(wanted), Ordering::Relaxed);
        // Pairs with the fence of `pop`.
        fence(Ordering::SeqCst);
        let taken = wanted.min(distance(head, self.owned.tail.load(Ordering::Acquire)));
        self.head.store(head.wrapping_add(taken), Ordering::Relaxed);
        // SAFETY: the owner replaces the ring only while holding the lock.
        let ring = unsafe { &*self.owned.ring.load(Ordering::Relaxed) };
        let slots = (0..taken).map(|n| ring.at(head.wrapping_add(n)).load(Ordering::Relaxed));
        out.extend(slots);
        taken
    }

    /// Takes the oldest task if it is wanted.
    pub(crate) fn take_oldest_if(
        &self,
        wanted: impl Fn(*mut Queued) -> bool,
    ) -> Option<*mut Queued> {
        if self.len() == 0 {
            return None;
        }
        let _taking = lock(&self.lock);
        let head = self.head.load(Ordering::Relaxed);
        self.head.store(head.wrapping_add(1), Ordering::Relaxed);
        // Pairs with the fence of `pop`: the task is ours until given back.
        fence(Ordering::SeqCst);
        if distance(head, self.owned.tail.load(Ordering::Acquire)) > 0 {
            // SAFETY: the owner replaces the ring only while holding the lock.
            let ring = unsafe { &*self.owned.ring.load(Ordering::Relaxed) };
            let oldest = ring.at(head).load(Ordering::Relaxed);
            if wanted(oldest) {
                return Some(oldest);
            }
        }
        // Pairs with the load of `pop`: the owner may run and free the task from here on.
        self.head.store(head, Ordering::Release);
        None
    }

    /// Checks how far `tail` may go on, and doubles the ring if the ring is full.
    #[cold]
    fn make_room(&self, tail: usize) {
        // The lock keeps any taker from reading a slot that is then filled again.
        let _taking = lock(&self.lock);
        let head = self.head.load(Ordering::Relaxed);
        let replaced = self.owned.ring.load(Ordering::Relaxed);
        // SAFETY: only the owner replaces the ring, and the owner runs this.
        let old = unsafe { &*replaced };
        let capacity = old.slots.len();
        let used = distance(head, tail);
        if used < capacity {
            self.owned.room_until.set(head.wrapping_add(capacity));
            return;
        }
        let grown = Ring::new(capacity * 2);
        for position in (0..used).map(|n| head.wrapping_add(n)) {
            grown.at(position).store(old.at(position).load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.owned.ring.store(Box::into_raw(grown), Ordering::Relaxed);
        self.owned.room_until.set(head.wrapping_add(capacity * 2));
        // SAFETY: the pointer came from `Box::into_raw`, and takers read the ring only with the
        // lock held.
        drop(unsafe { Box::from_raw(replaced) });
    }
}

impl Drop for Deque {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Box::into_raw`, and `&mut self` excludes every other user.
        drop(unsafe { Box::from_raw(self.owned.ring.load(Ordering::Relaxed)) });
    }
}

/// Positions from `head` to `tail`; 0 where a taker has gone past for a moment.
fn distance(head: usize, tail: usize) -> usize {
    let steps = tail.wrapping_sub(head);
    if steps > usize::MAX / 2 { 0 } else { steps }
}

/// Whether a taker that has raised `head` this far has taken a position.
fn behind(position: usize, head: usize) -> bool {
    distance(position, head) > 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn task(number: usize) -> *mut Queued {
        ptr::without_provenance_mut(number)
    }

    #[test]
    fn a_thief_at_a_short_queue_leaves_every_second_task_and_the_youngest() {
        for (number, wanted, expected) in [
            (1, 1, vec![1]),
            (2, 1, vec![1]),
            (3, 2, vec![1]),
            (4, 2, vec![1, 3]),
            (8, 4, vec![1, 3, 5, 7]),
            (9, 2, vec![1, 3]),
            (40, 20, (1..=20).collect()),
        ] {
            let (deque, mut taken) = (Deque::new(), Vec::new());
            // SAFETY: this thread is the owner.
            unsafe {
                (1..=number).for_each(|number| _ = deque.push(task(number)));
                deque.try_take_some(wanted, &mut taken);
                assert_eq!(taken, expected.iter().copied().map(task).collect::<Vec<_>>());
                for left in (1..=number).rev().filter(|left| !expected.contains(left)) {
                    assert_eq!(deque.pop(), Some(task(left)));
                }
                assert_eq!(deque.pop(), None);
            }
        }
    }

    #[test]
    fn a_growing_deque_keeps_its_order_at_both_ends() {
        let deque = Deque::with_capacity(2);
        let mut oldest = Vec::new();
        // SAFETY: this thread is the owner.
        unsafe {
            for number in 1..=100 {
                assert_eq!(deque.push(task(number)), number);
            }
            assert_eq!(deque.take_oldest(30, &mut oldest), 30);
            assert_eq!(oldest, (1..=30).map(task).collect::<Vec<_>>());
            for number in (31..=100).rev() {
                assert_eq!(deque.pop(), Some(task(number)));
            }
            assert_eq!(deque.pop(), None);
        }
    }
}

/// Every order of steps: `RUSTFLAGS='--cfg loom' cargo test -p evenkeel-runtime --lib`.
#[cfg(all(test, loom))]
mod loom_tests {
    use std::sync::Arc;

    use super::*;

    fn numbers(tasks: &[*mut Queued]) -> Vec<usize> {
        tasks.iter().map(|task| task.addr()).collect()
    }

    /// The owner pushes and pops while other threads take sets; each task is taken exactly once.
    fn all_are_had_once(capacity: usize, pushes: usize, takers: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let deque = Arc::new(Deque::with_capacity(capacity));
            let takers: Vec<_> = (0..takers)
                .map(|_| {
                    let deque = deque.clone();
                    loom::thread::spawn(move || {
                        let mut taken = Vec::new();
                        deque.take_oldest(2, &mut taken);
                        numbers(&taken)
                    })
                })
                .collect();
            let mut had = Vec::new();
            // SAFETY: this thread is the owner.
            unsafe {
                for number in 1..=pushes {
                    deque.push(ptr::without_provenance_mut(number));
                }
                had.extend(deque.pop().map(|task| task.addr()));
                had.extend(deque.pop().map(|task| task.addr()));
            }
            for taker in takers {
                had.extend(taker.join().unwrap());
            }
            // SAFETY: this thread is the owner, and the takers have ended.
            while let Some(task) = unsafe { deque.pop() } {
                had.push(task.addr());
            }
            had.sort_unstable();
            assert_eq!(had, (1..=pushes).collect::<Vec<_>>());
        });
    }

    #[test]
    fn each_task_is_taken_once_by_one_thief_and_an_owner_with_room() {
        all_are_had_once(4, 3, 1);
    }

    #[test]
    fn each_task_is_taken_once_by_one_thief_and_an_owner_whose_ring_grows() {
        all_are_had_once(2, 3, 1);
    }

    #[test]
    fn each_task_is_taken_once_by_two_thieves_and_the_owner() {
        all_are_had_once(2, 2, 2);
    }

    /// The owner pops and pushes while another thread takes every second task.
    fn all_are_had_once_when_shared(pushes: usize, pops: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let deque = Arc::new(Deque::with_capacity(4));
            // SAFETY: this thread is the owner.
            (1..=pushes).for_each(|number| unsafe {
                deque.push(ptr::without_provenance_mut(number));
            });
            let taker = deque.clone();
            let taker = loom::thread::spawn(move || {
                let mut taken = Vec::new();
                taker.try_take_some(2, &mut taken);
                numbers(&taken)
            });
            let mut had = Vec::new();
            // SAFETY: this thread is the owner.
            unsafe {
                had.extend((0..pops).filter_map(|_| deque.pop()).map(|task| task.addr()));
                deque.push(ptr::without_provenance_mut(pushes + 1));
                had.extend(deque.pop().map(|task| task.addr()));
            }
            had.extend(taker.join().unwrap());
            // SAFETY: this thread is the owner, and the taker has ended.
            while let Some(task) = unsafe { deque.pop() } {
                had.push(task.addr());
            }
            had.sort_unstable();
            assert_eq!(had, (1..=pushes + 1).collect::<Vec<_>>());
        });
    }

    #[test]
    fn a_thief_takes_every_second_task_that_the_owner_leaves() {
        all_are_had_once_when_shared(4, 2);
    }

    #[test]
    fn a_thief_takes_every_second_task_while_the_owner_pops_all() {
        all_are_had_once_when_shared(4, 4);
    }
}
