//! Machines that are declared, with many more workers than there are CPUs here.

use std::sync::atomic::{AtomicU8, Ordering};

use evenkeel_runtime::{Data, Runtime, Scope};

/// Each task marks its place.
fn tree<'scope>(s: &Scope<'scope>, places: &'scope [AtomicU8]) {
    let Some((place, rest)) = places.split_first() else { return };
    place.fetch_add(1, Ordering::Relaxed);
    let (low, high) = rest.split_at(rest.len() / 2);
    s.task().spawn_with(|s| tree(s, low));
    s.task().spawn_with(|s| tree(s, high));
}

fn every_task_runs_once(machine: &str) {
    for rules in ["tree", "tree-nocutoff", "tree-fifo-rebalance-nocutoff", "central-nocutoff"] {
        let builder = Runtime::builder().topology(machine.parse().unwrap());
        let runtime = builder.rules(rules.parse().unwrap()).build().unwrap();
        // Between two rounds workers fall asleep, or are about to.
        for _ in 0..10 {
            let places: Vec<AtomicU8> = (0..2000).map(|_| AtomicU8::new(0)).collect();
            let cell = Data::new(0);
            runtime.scope(|s| {
                tree(s, &places);
                (0..100).for_each(|_| s.task().inout(&cell).spawn(|cell| *cell += 1));
            });
            let once = places.iter().all(|place| place.load(Ordering::Relaxed) == 1);
            assert!(once && cell.into_inner() == 100, "{machine}, {rules}");
        }
    }
}

#[test]
fn two_domains_of_24_cpus() {
    every_task_runs_once("2x24");
}

#[test]
fn eight_domains_of_64_cpus() {
    every_task_runs_once("8x64");
}
