//! Random programs yield the same results with the runtime as without.
//!
//! `EVENKEEL_TEST_GRAPHS` is the number of programs, `EVENKEEL_TEST_SEED` the first one.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_runtime::{Data, Runtime, Scope};
use seeded::{SplitMix64, turned};

/// The number of programs where the environment names none.
const GRAPHS: u64 = 4_000;
/// Data that programs use.
const CELLS: usize = 6;

/// The next step of a program with its cells.
enum Step {
    /// Writes one cell, and reads another.
    Mix { to: usize, from: usize, salt: u64 },
    /// Writes one cell.
    Turn { cell: usize, salt: u64 },
    /// Reads one.
    Look(usize),
    /// Adds to two cells, before or after other tasks that add.
    Take { one: usize, other: usize, salt: u64 },
    /// Adds to a cell, beside other tasks that add.
    Count { cell: usize, salt: u64 },
    /// Waits for a cell alone, and changes the cell without a task.
    Here { cell: usize, salt: u64 },
    /// Does some steps with two cells in a task of their own, which may run its tasks at once.
    Nest { one: usize, other: usize, is_final: bool, steps: Vec<Step> },
    /// Waits for some steps together.
    Group(Vec<Step>),
    /// Waits for all.
    Wait,
}

fn steps(random: &mut SplitMix64, cells: usize, depth: u32, length: usize) -> Vec<Step> {
    (0..random.below(length + 1)).map(|_| step(random, cells, depth)).collect()
}

fn step(random: &mut SplitMix64, cells: usize, depth: u32) -> Step {
    let (one, salt) = (random.below(cells), random.next_u64() >> 8);
    let other = (one + 1 + random.below(cells - 1)) % cells;
    match random.below(if depth > 0 { 20 } else { 15 }) {
        0..5 => Step::Mix { to: one, from: other, salt },
        5..8 => Step::Turn { cell: one, salt },
        8..10 => Step::Look(one),
        10..12 => Step::Take { one, other, salt },
        12..14 => Step::Count { cell: one, salt },
        14 => match random.below(3) {
            0 => Step::Wait,
            _ => Step::Here { cell: one, salt },
        },
        15..18 => {
            let is_final = random.below(4) == 0;
            Step::Nest { one, other, is_final, steps: steps(random, 2, depth - 1, 8) }
        }
        _ => Step::Group(steps(random, cells, depth - 1, 8)),
    }
}

fn mixed(to: u64, from: u64, salt: u64) -> u64 {
    turned(to, salt).wrapping_add(from.wrapping_mul(31))
}

/// The results of the program without a runtime.
fn serial(cells: &mut [u64; CELLS], places: &[usize], steps: &[Step], seen: &mut u64) {
    for step in steps {
        match *step {
            Step::Mix { to, from, salt } => {
                cells[places[to]] = mixed(cells[places[to]], cells[places[from]], salt);
            }
            Step::Turn { cell, salt } | Step::Here { cell, salt } => {
                cells[places[cell]] = turned(cells[places[cell]], salt);
            }
            Step::Look(cell) => *seen = seen.wrapping_add(cells[places[cell]]),
            Step::Take { one, other, salt } => {
                for cell in [one, other] {
                    cells[places[cell]] = cells[places[cell]].wrapping_add(salt);
                }
            }
            Step::Count { cell, salt } => {
                cells[places[cell]] = cells[places[cell]].wrapping_add(salt);
            }
            Step::Nest { one, other, ref steps, .. } => {
                serial(cells, &[places[one], places[other]], steps, seen);
            }
            Step::Group(ref steps) => serial(cells, places, steps, seen),
            Step::Wait => {}
        }
    }
}

/// Runs the program as tasks.
fn parallel<'scope>(
    s: &Scope<'scope>,
    cells: &[&'scope Data<AtomicU64>],
    steps: &'scope [Step],
    seen: &'scope AtomicU64,
) {
    let add = |cell: &mut AtomicU64, salt: u64| *cell.get_mut() = cell.get_mut().wrapping_add(salt);
    let turn = |cell: &mut AtomicU64, salt: u64| *cell.get_mut() = turned(*cell.get_mut(), salt);
    for step in steps {
        match *step {
            Step::Mix { to, from, salt } => {
                s.task().input(cells[from]).inout(cells[to]).spawn(move |from, to| {
                    let to = to.get_mut();
                    *to = mixed(*to, from.load(Ordering::Relaxed), salt);
                });
            }
            Step::Turn { cell, salt } => {
                s.task().inout(cells[cell]).spawn(move |cell| turn(cell, salt));
            }
            Step::Look(cell) => s.task().input(cells[cell]).spawn(|cell| {
                seen.fetch_add(cell.load(Ordering::Relaxed), Ordering::Relaxed);
            }),
            Step::Take { one, other, salt } => {
                let task = s.task().commutative(cells[one]).commutative(cells[other]);
                task.spawn(move |one, other| [one, other].into_iter().for_each(|c| add(c, salt)));
            }
            Step::Count { cell, salt } => s.task().concurrent(cells[cell]).spawn(move |cell| {
                cell.fetch_add(salt, Ordering::Relaxed);
            }),
            Step::Here { cell, salt } => {
                s.task().inout(cells[cell]).run(|cell| turn(cell, salt));
            }
            Step::Nest { one, other, is_final, ref steps } => {
                let task = s.task().weak_inout(cells[one]).weak_inout(cells[other]);
                task.final_if(is_final)
                    .spawn_with(move |s, one, other| parallel(s, &[one, other], steps, seen));
            }
            Step::Group(ref steps) => s.group(|s| parallel(s, cells, steps, seen)),
            Step::Wait => s.wait(),
        }
    }
}

/// Every task is queued, or some run at once; blocks are used again, or not; and the machine is
/// this one, or a larger one.
fn runtimes() -> Vec<Runtime> {
    let of = |(rules, workers, machine): (&str, usize, Option<&str>)| {
        let builder = Runtime::builder().config(rules.parse().unwrap());
        let declared =
            machine.map_or(builder.clone(), |machine| builder.topology(machine.parse().unwrap()));
        declared.workers(workers).build().unwrap()
    };
    [
        ("tree-nocutoff", 3, None),
        ("tree", 2, None),
        ("tree-fifo-rebalance-system-nocutoff", 4, Some("2x2")),
        ("central-lifo-nocutoff", 2, None),
        ("central-fifo-successor-nocutoff", 3, None),
        ("tree-nocutoff", 1, None),
        ("tree-system", 6, Some("2x3")),
    ]
    .map(of)
    .into()
}

fn yields_the_same(runtime: &Runtime, seed: u64) {
    let mut random = SplitMix64::new(seed);
    let steps = steps(&mut random, CELLS, 3, 40);
    let mut expected = [0; CELLS];
    let mut expected_seen = 0;
    serial(&mut expected, &[0, 1, 2, 3, 4, 5], &steps, &mut expected_seen);
    let cells: [Data<AtomicU64>; CELLS] = Default::default();
    let seen = AtomicU64::new(0);
    runtime.scope(|s| {
        let cells: Vec<&Data<AtomicU64>> = cells.iter().collect();
        parallel(s, &cells, &steps, &seen);
    });
    let found = cells.map(|cell| cell.into_inner().into_inner());
    assert_eq!((found, seen.into_inner()), (expected, expected_seen));
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: expected a number")))
}

#[test]
fn random_programs_yield_what_serial_ones_do() {
    let runtimes = runtimes();
    let first = number("EVENKEEL_TEST_SEED").unwrap_or(1);
    for seed in first..first + number("EVENKEEL_TEST_GRAPHS").unwrap_or(GRAPHS) {
        let runtime = &runtimes[seed as usize % runtimes.len()];
        let result = catch_unwind(AssertUnwindSafe(|| yields_the_same(runtime, seed)));
        if let Err(panic) = result {
            eprintln!("to repeat: EVENKEEL_TEST_SEED={seed} EVENKEEL_TEST_GRAPHS=1");
            resume_unwind(panic);
        }
    }
}
