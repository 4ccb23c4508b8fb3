//! Tasks that declare their data run in an order that a serial program could have had.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Config, Data, Memory, Runtime};
use proptest::prelude::*;

/// A runtime that queues every task, and gives each block back to the system: nothing is hidden by
/// tasks that run at once, nor by memory that is used again.
fn plain(workers: usize) -> Runtime {
    let rules = Config { cutoff: false, memory: Memory::System, ..Config::default() };
    Runtime::builder().workers(workers).config(rules).build().unwrap()
}

/// Config that differ in which of several ready tasks runs next, and where.
const RULES: [&str; 9] = [
    "tree",
    "tree-nocutoff",
    "tree-fifo-rebalance",
    "tree-fifo-rebalance-nocutoff",
    "central-fifo-nocutoff",
    "central-lifo-polling-nocutoff",
    "central-lifo-successor-system-nocutoff",
    "central-fifo-successor",
    "central-priority-nocutoff",
];

fn ruled(rules: &str, workers: usize) -> Runtime {
    Runtime::builder().workers(workers).config(rules.parse().unwrap()).build().unwrap()
}

/// A task of a random graph: mixes the values that are read into the written one.
#[derive(Clone, Debug)]
struct Use {
    read: Vec<usize>,
    write: Option<usize>,
}

fn mix(read: &[u64], write: u64, salt: u64) -> u64 {
    let mixed = read.iter().fold(salt, |mixed, &value| seeded::turned(mixed, value));
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

/// Runs the graph as tasks; also returns the sum of the values that reading tasks saw.
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
        cells in 1_usize..12, seed in uses(12, 300), workers in 1_usize..5, rules in 0..RULES.len(),
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
        let runtime = ruled(RULES[rules], workers);
        prop_assert_eq!(parallel(&runtime, cells, &uses), serial(cells, &uses));
    }
}

/// A task that adds to two cells in turn with other tasks, or multiplies a cell of its own.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Add(usize, usize),
    Multiply(usize),
}

proptest! {
    #[test]
    fn tasks_that_take_turns_lose_nothing(
        seed in prop::collection::vec((0_usize..5, 0_usize..5, 0..4), 0..200),
        workers in 1_usize..5,
        rules in 0..RULES.len(),
    ) {
        let turns: Vec<Turn> = seed
            .into_iter()
            .map(|(a, b, kind)| match kind {
                1.. if a != b => Turn::Add(a, b),
                _ => Turn::Multiply(a),
            })
            .collect();
        let mut expected = [1_u64; 5];
        for (salt, &turn) in turns.iter().enumerate() {
            match turn {
                Turn::Add(a, b) => {
                    expected[a] = expected[a].wrapping_add(salt as u64);
                    expected[b] = expected[b].wrapping_add(salt as u64);
                }
                Turn::Multiply(a) => expected[a] = expected[a].wrapping_mul(7),
            }
        }
        let values = [1_u64; 5].map(Data::new);
        let runtime = ruled(RULES[rules], workers);
        runtime.scope(|s| {
            for (salt, &turn) in turns.iter().enumerate() {
                let salt = salt as u64;
                match turn {
                    Turn::Add(a, b) => s
                        .task()
                        .commutative(&values[a])
                        .commutative(&values[b])
                        .spawn(move |a, b| {
                            let (was_a, was_b) = (*a, *b);
                            std::thread::yield_now();
                            (*a, *b) = (was_a.wrapping_add(salt), was_b.wrapping_add(salt));
                        }),
                    Turn::Multiply(a) => {
                        s.task().inout(&values[a]).spawn(|a| *a = a.wrapping_mul(7));
                    }
                }
            }
        });
        prop_assert_eq!(values.map(Data::into_inner), expected);
    }
}

#[test]
fn many_graphs_on_one_runtime_yield_what_a_serial_program_does() {
    let mut runtimes = vec![plain(3)];
    runtimes.extend(RULES.map(|rules| ruled(rules, 3)));
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
        assert_eq!(parallel(&runtimes[round % runtimes.len()], cells, &uses), serial(cells, &uses));
    }
}

#[test]
fn a_chain_runs_in_order() {
    for rules in RULES {
        let runtime = ruled(rules, 2);
        let x = Data::new(0_u64);
        runtime.scope(|s| {
            for step in 0..20_000 {
                s.task().inout(&x).spawn(move |x| {
                    assert_eq!(*x, step);
                    *x += 1;
                });
            }
        });
        assert_eq!(x.into_inner(), 20_000, "{rules}");
    }
}

/// The order in which tasks of these priorities run, where all are ready before the first runs.
fn order_of(rules: &str, priorities: &[i8]) -> Vec<usize> {
    let order = Mutex::new(Vec::new());
    let cells: Vec<Data<u8>> = priorities.iter().map(|_| Data::new(0)).collect();
    ruled(rules, 1).scope(|s| {
        for (number, (cell, &priority)) in cells.iter().zip(priorities).enumerate() {
            let order = &order;
            let task = s.task().priority(priority).inout(cell);
            task.spawn(move |_| lock_std(order).push(number));
        }
    });
    order.into_inner().unwrap()
}

#[test]
fn higher_priorities_run_first_where_the_scheduler_knows_them() {
    let priorities = [0, -1, 100, 0, i8::MIN, i8::MAX];
    assert_eq!(order_of("central-priority-nocutoff", &priorities), [5, 2, 0, 3, 1, 4]);
    assert_eq!(order_of("central-fifo-nocutoff", &priorities), [0, 1, 2, 3, 4, 5]);
    assert_eq!(order_of("tree-nocutoff", &priorities), [5, 2, 4, 3, 1, 0]);
}

#[test]
fn the_first_successor_of_a_task_runs_right_after_it() {
    for (rules, expected) in
        [("central-fifo-successor-nocutoff", [0, 2, 1]), ("central-fifo-nocutoff", [0, 1, 2])]
    {
        let (order, x, y) = (Mutex::new(Vec::new()), Data::new(0_u8), Data::new(0_u8));
        let ran = |number: usize| lock_std(&order).push(number);
        ruled(rules, 1).scope(|s| {
            s.task().inout(&x).spawn(|_| ran(0));
            s.task().inout(&y).spawn(|_| ran(1));
            s.task().inout(&x).spawn(|_| ran(2));
        });
        assert_eq!(order.into_inner().unwrap(), expected, "{rules}");
    }
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
    let mut serial = [0_u64; 8];
    for _ in 0..100 {
        for n in 1..8 {
            serial[n] += serial[n - 1] + 1;
        }
    }
    for rules in RULES {
        let runtime = ruled(rules, 3);
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
        assert_eq!(x.into_inner(), serial, "{rules}");
    }
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

/// Tasks end while other threads look at the tasks beside them: by then, no code may ask an ended
/// task among whose children its turns count.
#[test]
fn scopes_of_many_threads_at_once_all_end() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let turns = || {
        for _ in 0..20 {
            let x = Data::new(0);
            runtime.scope(|s| {
                for _ in 0..200 {
                    s.task().commutative(&x).spawn_with(|_, x| *x += 1);
                }
            });
            assert_eq!(x.into_inner(), 200);
        }
    };
    std::thread::scope(|threads| (0..20).for_each(|_| _ = threads.spawn(turns)));
}

#[test]
#[should_panic(expected = "another scope")]
fn what_a_task_leaves_to_its_children_is_refused_in_scopes_of_its_own() {
    let runtime = plain(1);
    let x = Data::new(0);
    runtime.scope(|s| {
        s.task().weak_inout(&x).spawn_with(|_, x| {
            evenkeel_runtime::scope(|inner| inner.task().inout(x).spawn(|x| *x += 1));
        });
    });
}

#[test]
#[should_panic(expected = "another scope")]
fn data_of_another_runtimes_scope_around_is_refused_inside() {
    let (one, other) = (plain(1), plain(1));
    let x = Data::new(0);
    one.scope(|outer| {
        outer.task().inout(&x).spawn(|x| *x += 1);
        other.scope(|inner| inner.task().inout(&x).spawn(|x| *x += 1));
    });
}

#[test]
#[should_panic(expected = "another scope")]
fn tasks_with_data_are_not_created_from_inside_another_runtimes_scope() {
    let (one, other) = (plain(1), plain(1));
    let x = Data::new(0);
    one.scope(|outer| {
        other.scope(|inner| {
            inner.task().inout(&x).spawn(|x| *x += 1);
            outer.task().inout(&x).spawn(|x| *x += 1);
        });
    });
}

#[test]
fn scopes_of_two_runtimes_inside_each_other_use_data_of_their_own() {
    let (one, other) = (plain(2), plain(2));
    let (mut x, mut y) = (Data::new(0), Data::new(0));
    for _ in 0..100 {
        one.scope(|a| {
            a.task().inout(&x).spawn(|x| *x += 1);
            other.scope(|b| {
                b.task().inout(&y).spawn(|y| *y += 1);
                let z = Data::new(1);
                one.scope(|c| c.task().inout(&z).spawn(|z| *z += 1));
                assert_eq!(z.into_inner(), 2);
            });
            a.task().inout(&x).spawn(|x| *x += 1);
        });
    }
    assert_eq!((*x.get_mut(), *y.get_mut()), (200, 100));
}
