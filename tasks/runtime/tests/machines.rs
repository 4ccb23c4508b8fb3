//! Declared machines, with many more workers than this machine has CPUs.

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
        let runtime = builder.config(rules.parse().unwrap()).build().unwrap();
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

#[test]
fn more_workers_than_any_machine_has_are_refused_at_once() {
    let error = Runtime::builder().workers(100_000).build().err().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "`workers` is 100000; expected at most 65536");
}

#[test]
fn threads_that_the_system_has_no_room_for_are_refused() {
    let most = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    let most: usize = most.trim().parse().unwrap();
    if most / 4 < 65_536 {
        let error = Runtime::builder().workers(65_536).build().err().unwrap();
        assert!(error.to_string().contains("`vm.max_map_count`"), "{error}");
    }
}

#[test]
fn no_number_of_workers_is_as_many_as_the_machine_has() {
    let machine = || Runtime::builder().topology("1x3".parse().unwrap());
    for (builder, workers) in [(machine(), 3), (machine().workers(0), 3), (machine().workers(1), 1)]
    {
        assert_eq!(builder.build().unwrap().workers(), workers);
    }
}
