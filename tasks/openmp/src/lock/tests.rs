use std::cell::UnsafeCell;
use std::mem::size_of;

use super::*;

const THREADS: u64 = 4;
const ROUNDS: u64 = 2_000;

struct Shared<L> {
    lock: L,
    count: UnsafeCell<u64>,
}

// SAFETY: The tests look at the count under the lock alone.
unsafe impl<L> Sync for Shared<L> {}

fn counted<L: Send + Sync>(shared: Shared<L>, set: impl Fn(&L) + Sync, unset: impl Fn(&L) + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let whole: &Shared<L> = &shared;
                for _ in 0..ROUNDS {
                    set(&whole.lock);
                    // SAFETY: The lock is taken.
                    unsafe { *whole.count.get() += 1 };
                    std::thread::yield_now();
                    unset(&whole.lock);
                }
            });
        }
    });
    assert_eq!(shared.count.into_inner(), THREADS * ROUNDS);
}

#[test]
fn locks_fit_the_room_that_every_header_gives() {
    assert_eq!((size_of::<Lock>(), size_of::<NestLock>()), (4, 8));
}

#[test]
fn one_thread_at_a_time_has_a_lock() {
    let lock = Lock::new();
    let shared = Shared { lock, count: UnsafeCell::new(0) };
    // SAFETY: The lock was made.
    counted(shared, |lock| unsafe { omp_set_lock(lock) }, |lock| unsafe { omp_unset_lock(lock) });
}

#[test]
fn one_thread_at_a_time_has_a_nest_lock_however_often() {
    let lock = NestLock { word: AtomicU32::new(FREE), depth: AtomicU32::new(0) };
    let shared = Shared { lock, count: UnsafeCell::new(0) };
    let twice = |lock: &NestLock| {
        // SAFETY: The lock was made.
        unsafe { omp_set_nest_lock(lock) };
        // SAFETY: the lock is initialised.
        assert_eq!(unsafe { omp_test_nest_lock(lock) }, 2);
    };
    let both = |lock: &NestLock| {
        // SAFETY: The lock was made, and is had twice.
        unsafe { omp_unset_nest_lock(lock) };
        // SAFETY: the lock is initialised.
        unsafe { omp_unset_nest_lock(lock) };
    };
    counted(shared, twice, both);
}

#[test]
fn testing_a_taken_lock_does_not_take_the_lock() {
    let lock = Lock::new();
    // SAFETY: The lock was made.
    let tested = || unsafe { omp_test_lock(&lock) };
    assert_eq!((tested(), tested()), (1, 0));
    // SAFETY: The lock was made, and is had.
    unsafe { omp_unset_lock(&lock) };
    assert_eq!(tested(), 1);
}
