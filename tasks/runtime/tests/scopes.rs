//! Scopes and joins do the work of plain calls, on several workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::scheduler::{Batch, Feed, Form, Limit, Order, SchedulerConfig, TreeConfig};
use evenkeel_runtime::{Config, Memory, Runtime, Scope};

/// Every task goes through a queue.
fn queued() -> Config {
    Config { cutoff: false, ..Config::default() }
}

/// All ways in which ready tasks can be kept.
fn all_rules() -> Vec<Config> {
    let mut all = Vec::new();
    for order in [Order::Lifo, Order::Fifo] {
        for batch in [Batch::HalfQueue, Batch::HalfThreshold] {
            for limit in [Limit::Static(20), Limit::Dynamic] {
                for feed in
                    [Feed::Pull, Feed::Give { rebalance: true }, Feed::Give { rebalance: false }]
                {
                    let tree = TreeConfig { order, batch, limit, feed };
                    all.push(Config { scheduler: SchedulerConfig::Tree(tree), ..queued() });
                }
            }
        }
        for form in [Form::Plain(order), Form::Polling(order), Form::Successor(order)] {
            all.push(Config { scheduler: SchedulerConfig::Central(form), ..queued() });
        }
    }
    all.extend([
        Config::default(),
        Config { memory: Memory::System, ..queued() },
        "tree-rebalance-system-nocutoff".parse().unwrap(),
        "central-priority-system-nocutoff".parse().unwrap(),
        "central-lifo-successor".parse().unwrap(),
    ]);
    all
}

fn runtime(rules: Config, workers: usize) -> Runtime {
    Runtime::builder().workers(workers).config(rules).build().unwrap()
}

fn tree<'scope>(s: &Scope<'scope>, depth: u32, count: &'scope AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
    if depth > 0 {
        s.spawn(move |s| tree(s, depth - 1, count));
        s.spawn(move |s| tree(s, depth - 1, count));
    }
}

fn fib(s: &Scope<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (mut a, mut b) = (0, 0);
    evenkeel_runtime::scope(|s| {
        s.spawn(|s| a = fib(s, n - 1));
        s.spawn(|s| b = fib(s, n - 2));
    });
    let _ = s;
    a + b
}

#[test]
fn every_task_of_a_tree_runs_once_under_all_rules() {
    for rules in all_rules() {
        for workers in [1, 2, 4] {
            let runtime = runtime(rules, workers);
            let count = AtomicU64::new(0);
            runtime.scope(|s| tree(s, 12, &count));
            assert_eq!(count.into_inner(), (1 << 13) - 1, "{rules:?}, {workers} workers");
        }
    }
}

#[test]
fn scopes_in_tasks_wait_for_their_own_tasks() {
    for rules in all_rules() {
        let runtime = runtime(rules, 3);
        assert_eq!(runtime.scope(|s| fib(s, 16)), 987, "{rules:?}");
    }
}

#[test]
fn a_join_returns_both_results() {
    fn sum(numbers: &[u64]) -> u64 {
        if numbers.len() < 2 {
            return numbers.iter().sum();
        }
        let (low, high) = numbers.split_at(numbers.len() / 2);
        let (a, b) = evenkeel_runtime::join(|| sum(low), || sum(high));
        a + b
    }
    let numbers: Vec<u64> = (0..10_000).collect();
    for rules in all_rules() {
        for workers in [1, 2, 5] {
            let runtime = runtime(rules, workers);
            assert_eq!(runtime.join(|| sum(&numbers), || ()).0, 49_995_000, "{rules:?}");
        }
    }
}

#[test]
fn many_producers_of_single_tasks_lose_none() {
    let runtime = runtime(queued(), 4);
    for round in 0..200 {
        let count = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..round {
                s.spawn(|s| {
                    s.spawn(|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                    s.wait();
                });
            }
        });
        assert_eq!(count.into_inner(), round);
    }
}

#[test]
fn a_panic_of_a_task_comes_out_of_the_scope_after_all_tasks() {
    let runtime = runtime(queued(), 2);
    let others = AtomicUsize::new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        runtime.scope(|s| {
            s.spawn(|_| panic!("first"));
            for _ in 0..100 {
                s.spawn(|_| {
                    others.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"first"));
    assert_eq!(others.into_inner(), 100);
    assert_eq!(runtime.join(|| 1, || 2), (1, 2));
}

#[test]
fn scopes_of_external_threads_run_every_task() {
    for rules in all_rules() {
        let runtime = runtime(rules, 2);
        let count = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            let threads = [(); 8].map(|()| {
                threads.spawn(|| {
                    for _ in 0..50 {
                        runtime.scope(|s| {
                            s.spawn(|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    }
                })
            });
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert_eq!(count.into_inner(), 400, "{rules:?}");
    }
}

#[test]
fn a_task_that_waits_with_a_lock_is_not_stopped_by_a_task_that_wants_the_lock() {
    for rules in all_rules() {
        let runtime = runtime(rules, 3);
        let lock = std::sync::Mutex::new(0);
        runtime.scope(|s| {
            for _ in 0..60 {
                s.spawn(|s| {
                    let mut held = lock_std(&lock);
                    let inner = AtomicU64::new(0);
                    evenkeel_runtime::scope(|s| {
                        for _ in 0..3 {
                            s.spawn(|s| tree(s, 3, &inner));
                        }
                        s.wait_holding();
                    });
                    let _ = s;
                    *held += inner.into_inner();
                });
            }
        });
        assert_eq!(lock.into_inner().unwrap(), 60 * 3 * 15, "{rules:?}");
    }
}

/// A panic value whose drop panics again.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("while it is dropped");
    }
}

#[test]
fn a_panic_that_panics_when_it_is_dropped_ends_no_scope_early() {
    let ended = AtomicUsize::new(0);
    let runtime = runtime(queued(), 2);
    let scope = || {
        runtime.scope(|s| {
            for number in 0..100 {
                let ended = &ended;
                s.spawn(move |_| {
                    ended.fetch_add(1, Ordering::Relaxed);
                    if number % 2 == 0 {
                        std::panic::panic_any(Bomb);
                    }
                });
            }
        });
    };
    let first = catch_unwind(AssertUnwindSafe(scope)).unwrap_err();
    assert!(first.is::<Bomb>());
    std::mem::forget(first);
    assert_eq!(ended.into_inner(), 100);
}

#[test]
fn a_panic_that_panics_when_it_is_dropped_gives_way_to_another() {
    let runtime = runtime(queued(), 2);
    let scope = || {
        runtime.scope(|s| {
            s.spawn(|_| std::panic::panic_any(Bomb));
            s.wait();
            panic!("the scope's own");
        });
    };
    let first = catch_unwind(AssertUnwindSafe(scope)).unwrap_err();
    assert_eq!(first.downcast_ref(), Some(&"the scope's own"));
    let has_begun = AtomicBool::new(false);
    let join = || {
        let first = || {
            while !has_begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            panic!("the first half's");
        };
        let second = || {
            has_begun.store(true, Ordering::Relaxed);
            std::panic::panic_any(Bomb);
        };
        runtime.join(first, second);
    };
    let first = catch_unwind(AssertUnwindSafe(join)).unwrap_err();
    assert_eq!(first.downcast_ref(), Some(&"the first half's"));
}

#[test]
fn scopes_from_outside_one_after_another_take_no_more_memory() {
    let runtime = runtime(queued(), 2);
    let create = || runtime.scope(|s| (0..10).for_each(|_| s.spawn(|_| ())));
    create();
    let before = runtime.task_memory_bytes();
    (0..10_000).for_each(|_| create());
    assert_eq!(runtime.task_memory_bytes(), before);
}
