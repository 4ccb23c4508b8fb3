//! Tasks that say what they use run in an order that a serial program could have had.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use evenkeel_runtime::ready::{Feed, Order};
use evenkeel_runtime::{Data, Memory, Rules, Runtime};
use proptest::prelude::*;

/// A runtime that queues every task, and gives each block back to the system: nothing is hidden by
/// tasks that run at once, nor by memory that is used again.
fn plain(workers: usize) -> Runtime {
    let rules = Rules { cutoff: false, memory: Memory::System, ..Rules::default() };
    Runtime::builder().workers(workers).rules(rules).build().unwrap()
}

/// What a task of a random graph does: mixes what it reads into what it writes.
#[derive(Clone, Debug)]
struct Use {
    read: Vec<usize>,
    write: Option<usize>,
}

fn mix(read: &[u64], write: u64, salt: u64) -> u64 {
    let mixed = read.iter().fold(salt, |mixed, value| {
        (mixed ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
    });
    write.wrapping_mul(31).wrapping_add(mixed)
}

fn serial(cells: usize, uses: &[Use]) -> Vec<u64> {
    let mut values: Vec<u64> = (0..cells as u64).collect();
    for (salt, one) in uses.iter().enumerate() {
        let read: Vec<u64> = one.read.iter().map(|&cell| values[cell]).collect();
        if let Some(cell) = one.write {
            values[cell] = mix(&read, values[cell], salt as u64);
        }
    }
    values
}

/// Runs them as tasks; the sum of what tasks that only read saw is returned too.
fn parallel(runtime: &Runtime, cells: usize, uses: &[Use]) -> Vec<u64> {
    let values: Vec<Data<u64>> = (0..cells as u64).map(Data::new).collect();
    let seen = AtomicU64::new(0);
    runtime.scope(|s| {
        for (salt, one) in uses.iter().enumerate() {
            let salt = salt as u64;
            let seen = &seen;
            match (&one.read[..], one.write) {
                ([], None) => s.spawn(|_| ()),
                (&[a, ..], None) => s.task().input(&values[a]).spawn(move |a| {
                    seen.fetch_add(*a, Ordering::Relaxed);
                }),
                ([], Some(w)) => s.task().inout(&values[w]).spawn(move |w| *w = mix(&[], *w, salt)),
                (&[a], Some(w)) => s
                    .task()
                    .input(&values[a])
                    .inout(&values[w])
                    .spawn(move |a, w| *w = mix(&[*a], *w, salt)),
                (&[a, b, ..], Some(w)) => s
                    .task()
                    .inout(&values[w])
                    .input(&values[a])
                    .input(&values[b])
                    .spawn(move |w, a, b| *w = mix(&[*a, *b], *w, salt)),
            }
        }
    });
    values.into_iter().map(Data::into_inner).collect()
}

fn uses(cells: usize, tasks: usize) -> impl Strategy<Value = Vec<Use>> {
    let one = (prop::collection::vec(0..cells, 0..3), prop::option::of(0..cells)).prop_map(
        |(mut read, write)| {
            read.retain(|&cell| Some(cell) != write);
            Use { read, write }
        },
    );
    prop::collection::vec(one, 0..tasks)
}

proptest! {
    #[test]
    fn a_random_graph_yields_what_a_serial_program_does(
        cells in 1_usize..12, seed in uses(12, 300), workers in 1_usize..5, kind in 0..4,
    ) {
        let uses: Vec<Use> = seed
            .into_iter()
            .map(|one| {
                let write = one.write.map(|cell| cell % cells);
                let mut read: Vec<usize> = one.read.iter().map(|cell| cell % cells).collect();
                read.retain(|&cell| Some(cell) != write);
                Use { read, write }
            })
            .collect();
        let mut rules = Rules { cutoff: kind & 1 == 0, ..Rules::default() };
        if kind & 2 != 0 {
            rules.ready.order = Order::Fifo;
            rules.ready.feed = Feed::Give { rebalance: true };
        }
        let runtime = Runtime::builder().workers(workers).rules(rules).build().unwrap();
        prop_assert_eq!(parallel(&runtime, cells, &uses), serial(cells, &uses));
    }
}

#[test]
fn many_graphs_on_one_runtime_yield_what_a_serial_program_does() {
    let runtimes = [plain(3), Runtime::builder().workers(3).build().unwrap()];
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    for round in 0..4_000 {
        let cells = 1 + next(6);
        let tasks = next(60);
        let uses: Vec<Use> = (0..tasks)
            .map(|_| {
                let write = (next(4) > 0).then(|| next(cells));
                let read = (0..next(3)).map(|_| next(cells)).filter(|&c| Some(c) != write);
                Use { read: read.collect(), write }
            })
            .collect();
        assert_eq!(parallel(&runtimes[round % 2], cells, &uses), serial(cells, &uses));
    }
}

#[test]
fn a_chain_runs_in_order() {
    let runtime = plain(2);
    let x = Data::new(0_u64);
    runtime.scope(|s| {
        for step in 0..100_000 {
            s.task().inout(&x).spawn(move |x| {
                assert_eq!(*x, step);
                *x += 1;
            });
        }
    });
    assert_eq!(x.into_inner(), 100_000);
}

#[test]
fn readers_run_beside_each_other_and_writers_alone() {
    let runtime = plain(4);
    let (x, readers) = (Data::new(0_u64), AtomicUsize::new(0));
    runtime.scope(|s| {
        for round in 0..500 {
            for _ in 0..round % 7 {
                s.task().input(&x).spawn(|_| {
                    readers.fetch_add(1, Ordering::SeqCst);
                    std::hint::spin_loop();
                    readers.fetch_sub(1, Ordering::SeqCst);
                });
            }
            s.task().inout(&x).spawn(|x| {
                assert_eq!(readers.load(Ordering::SeqCst), 0);
                *x += 1;
            });
        }
    });
    assert_eq!(x.into_inner(), 500);
}

#[test]
fn an_endless_stream_of_new_addresses_stays_small() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let cells: Vec<Data<u64>> = (0..100_000).map(Data::new).collect();
    runtime.scope(|s| {
        for cell in &cells {
            s.task().inout(cell).spawn(|cell| *cell += 1);
        }
    });
    assert!(cells.into_iter().enumerate().all(|(n, cell)| cell.into_inner() == n as u64 + 1));
    assert!(runtime.task_memory_bytes() <= 32 << 20, "{}", runtime.task_memory_bytes());
}

#[test]
#[should_panic(expected = "uses the same data twice")]
fn a_task_that_would_wait_for_itself_is_refused() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let x = Data::new(0);
    runtime.scope(|s| s.task().input(&x).inout(&x).spawn(|_, _| ()));
}

#[test]
fn tasks_in_tasks_take_turns_with_what_their_parent_has() {
    let runtime = plain(3);
    let x = Data::new(vec![0_u64; 8]);
    runtime.scope(|s| {
        for _ in 0..100 {
            s.task().inout(&x).spawn(|x| {
                let cells: Vec<&Data<u64>> = x.iter_mut().map(Data::from_mut).collect();
                evenkeel_runtime::scope(|s| {
                    for pair in cells.windows(2) {
                        s.task().input(pair[0]).inout(pair[1]).spawn(|a, b| *b += *a + 1);
                    }
                });
            });
        }
    });
    let mut serial = [0_u64; 8];
    for _ in 0..100 {
        for n in 1..8 {
            serial[n] += serial[n - 1] + 1;
        }
    }
    assert_eq!(x.into_inner(), serial);
}

#[test]
#[should_panic(expected = "another scope")]
fn data_of_a_scope_around_is_refused_inside() {
    let runtime = plain(1);
    let x = Data::new(0);
    runtime.scope(|outer| {
        outer.task().inout(&x).spawn(|x| *x += 1);
        evenkeel_runtime::scope(|inner| inner.task().inout(&x).spawn(|x| *x += 1));
    });
}

#[test]
#[should_panic(expected = "another scope")]
fn data_of_a_scope_inside_is_refused_around() {
    let runtime = plain(1);
    let x = Data::new(0);
    runtime.scope(|outer| {
        evenkeel_runtime::scope(|inner| {
            inner.task().inout(&x).spawn(|x| *x += 1);
            outer.task().inout(&x).spawn(|x| *x += 1);
        });
    });
}
