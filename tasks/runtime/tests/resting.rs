//! Workers that rest and work again while tasks run: no task is lost, and every wait ends.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Data, Resume, Runtime, Scope};

const RULES: [&str; 4] =
    ["tree-nocutoff", "tree", "central-fifo-successor-nocutoff", "tree-fifo-rebalance-nocutoff"];

fn ruled(rules: &str, workers: usize) -> Runtime {
    Runtime::builder().workers(workers).config(rules.parse().unwrap()).build().unwrap()
}

fn tree<'scope>(s: &Scope<'scope>, depth: u32, count: &'scope AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
    if depth > 0 {
        for _ in 0..2 {
            s.task().spawn_with(move |s| {
                tree(s, depth - 1, count);
                if depth.is_multiple_of(3) {
                    s.wait();
                }
            });
        }
    }
}

#[test]
fn no_task_is_lost_while_workers_come_and_go() {
    for rules in RULES {
        let runtime = ruled(rules, 4);
        let is_over = AtomicBool::new(false);
        thread::scope(|threads| {
            let changes = threads.spawn(|| {
                let mut turn = 0;
                while !is_over.load(Ordering::Relaxed) {
                    turn = (turn * 5 + 3) % 16;
                    (1..4).for_each(|worker| runtime.set_working(worker, turn >> worker & 1 == 1));
                    thread::yield_now();
                }
            });
            for round in 0..20 {
                let (count, cell) = (AtomicUsize::new(0), Data::new(0));
                runtime.scope(|s| {
                    tree(s, 9, &count);
                    (0..100).for_each(|_| s.task().inout(&cell).spawn(|cell| *cell += 1));
                });
                let all = (count.into_inner(), cell.into_inner());
                assert_eq!(all, ((1 << 10) - 1, 100), "{rules}, {round}");
            }
            is_over.store(true, Ordering::Relaxed);
            changes.join().unwrap();
        });
    }
}

#[test]
fn a_worker_that_has_rested_works_again_when_it_is_told() {
    for rules in RULES {
        let runtime = &ruled(rules, 2);
        let threads = || {
            let seen = Mutex::new(HashSet::new());
            runtime.scope(|s| {
                let seen = &seen;
                for _ in 0..2 {
                    s.task().spawn_with(move |_| {
                        lock_std(seen).insert(thread::current().id());
                        // With two workers at work, both have to come.
                        while runtime.working() > lock_std(seen).len() {
                            thread::yield_now();
                        }
                    });
                }
            });
            seen.into_inner().unwrap().len()
        };
        assert_eq!(threads(), 2, "{rules}");
        runtime.set_workers(1);
        assert_eq!(runtime.working(), 1);
        runtime.set_workers(2);
        assert_eq!(threads(), 2, "{rules}");
    }
}

#[test]
fn a_task_that_waits_on_a_resting_worker_goes_on() {
    let runtime = ruled("tree-nocutoff", 2);
    let (paused, done) = (Mutex::new(Vec::<Resume>::new()), AtomicUsize::new(0));
    runtime.scope(|s| {
        for _ in 0..50 {
            s.task().spawn_with(|s| {
                s.pause(|resume| lock_std(&paused).push(resume));
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        while lock_std(&paused).len() < 25 {
            thread::yield_now();
        }
        runtime.set_workers(1);
        while done.load(Ordering::Relaxed) < 25 {
            std::mem::take(&mut *lock_std(&paused)).into_iter().for_each(Resume::resume);
            thread::yield_now();
        }
        runtime.set_workers(2);
        while done.load(Ordering::Relaxed) < 50 {
            std::mem::take(&mut *lock_std(&paused)).into_iter().for_each(Resume::resume);
            thread::yield_now();
        }
    });
}

#[test]
fn one_worker_always_works_and_no_more_than_there_are() {
    let runtime = ruled("tree", 4);
    for (asked, work) in [(0, 1), (3, 3), (9, 4), (1, 1)] {
        runtime.set_workers(asked);
        assert_eq!(runtime.working(), work, "{asked}");
        runtime.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
    }
}
