//! Loops yield the results of plain ones, on several workers.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Divide, Runtime, over};
use proptest::prelude::*;

/// Configurations that divide loops wherever allowed, or only where a worker wants tasks.
const RULES: [&str; 4] = ["tree-nocutoff", "tree", "central-fifo-nocutoff", "tree-fifo-give"];

fn ruled(rules: &str, workers: usize) -> Runtime {
    let rules = rules.parse().unwrap();
    Runtime::builder().workers(workers).config(rules).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_iteration_runs_once_and_in_its_place(
        length in 0_usize..3000, grain in 0_usize..100, chunk in 1_usize..50,
        workers in 1_usize..5, rules in 0..RULES.len(),
    ) {
        let runtime = ruled(RULES[rules], workers);
        let mut cells = vec![0_usize; length];
        let joined = runtime.scope(|_| {
            over((0..length, &mut cells[..])).grain(grain).for_each(|(n, cell)| *cell += n + 1);
            over(&mut cells[..]).chunks(chunk).grain(grain).for_each(|row| row.reverse());
            let join = |mut low: Vec<usize>, high: Vec<usize>| { low.extend(high); low };
            let add = |mut all: Vec<usize>, &cell: &usize| { all.push(cell); all };
            over(&cells[..]).grain(grain).fold(Vec::new, add, join)
        });
        let mut expected: Vec<usize> = (1..=length).collect();
        expected.chunks_mut(chunk).for_each(<[usize]>::reverse);
        prop_assert_eq!(&joined, &expected);
        prop_assert_eq!(cells, expected);
    }
}

#[test]
fn loops_in_loops_and_outside_of_any_runtime() {
    let sum = over(0..300_u64).fold(
        || 0,
        |sum, n| sum + over(0..n).fold(|| 0, |sum, m| sum + m, |low, high| low + high),
        |low, high| low + high,
    );
    assert_eq!(sum, (0..300_u64).map(|n| n * n.saturating_sub(1) / 2).sum());
}

#[test]
fn a_long_loop_gives_half_of_its_iterations_to_other_workers() {
    for rules in RULES {
        let runtime = ruled(rules, 2);
        let threads = Mutex::new(HashSet::new());
        runtime.scope(|_| {
            over(0..10).for_each(|n| {
                if n == 0 {
                    return thread::sleep(Duration::from_millis(1));
                }
                lock_std(&threads).insert(thread::current().id());
                while lock_std(&threads).len() < 2 {
                    thread::yield_now();
                }
            });
        });
    }
}

/// Numbers of which many at once are one step.
struct Steps(std::ops::Range<usize>);

impl Divide for Steps {
    type Item = usize;

    fn len(&self) -> usize {
        Divide::len(&self.0)
    }

    fn divide(self, first: usize) -> (Self, Self) {
        assert!(first <= self.len(), "the first {first} of {}", self.len());
        let (low, high) = self.0.divide(first);
        (Self(low), Self(high))
    }

    fn items(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.0.end - self.0.start)
    }
}

#[test]
fn more_iterations_may_belong_together_than_half_of_all_numbers() {
    for rules in RULES {
        ruled(rules, 2).scope(|_| {
            let steps = over(Steps(0..usize::MAX)).grain(usize::MAX / 2 + 1);
            assert_eq!(steps.fold(|| 0, |sum, step| sum + step, |a, b| a + b), usize::MAX);
        });
    }
}

#[test]
fn a_panic_of_an_iteration_comes_out_of_the_loop() {
    for rules in RULES {
        let runtime = ruled(rules, 3);
        let runs = AtomicUsize::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            runtime.scope(|_| {
                over(0..10_000).for_each(|n| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    assert!(n != 7_777, "the iteration");
                    runs.fetch_sub(1, Ordering::SeqCst);
                });
            });
        }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the iteration"), "{rules}");
        assert_eq!(runs.into_inner(), 1, "nothing else runs");
    }
}
