//! Tasks that use ranges of a slice: those that overlap are ordered, and no other tasks.
//!
//! `EVENKEEL_TEST_GRAPHS` is the number of random programs to run, `EVENKEEL_TEST_SEED` the
//! first.

use std::env;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Data, Resume, Runtime, Scope};
use seeded::{SplitMix64, turned};

/// The number of programs where the environment names none.
const GRAPHS: u64 = 4_000;
/// Elements of the slice.
const ELEMENTS: usize = 24;

fn ruled(rules: &str, workers: usize) -> Runtime {
    Runtime::builder().config(rules.parse().unwrap()).workers(workers).build().unwrap()
}

/// Some ranges are met again and again, some overlap, some are empty.
fn random_range(random: &mut SplitMix64, grid: usize) -> Range<usize> {
    let (one, other) = (random.below(ELEMENTS + 1), random.below(ELEMENTS + 1));
    let (start, end) = (one.min(other), one.max(other));
    start / grid * grid..end / grid * grid
}

/// A step of a task.
enum Step {
    /// Writes a range.
    Turn(Range<usize>, u64),
    /// Reads one.
    Look(Range<usize>),
    /// Reads one range and writes another one that does not overlap.
    Copy(Range<usize>, Range<usize>),
    /// Adds to a range, beside other tasks that add.
    Count(Range<usize>, u64),
    /// Waits for a range alone, and writes the range without a task.
    Here(Range<usize>, u64),
    /// Writes a range in a task whose children do the work, and does not wait for them.
    Nest(Range<usize>, u64),
}

fn steps(random: &mut SplitMix64) -> Vec<Step> {
    let grid = [1, 3, 8][random.below(3)];
    let step = |random: &mut SplitMix64| {
        let (range, salt) = (random_range(random, grid), random.next_u64() >> 8);
        match random.below(12) {
            0..4 => Step::Turn(range, salt),
            4..6 => Step::Look(range),
            6..8 => {
                let to = random_range(random, grid);
                let apart = to.start >= range.end || to.end <= range.start;
                if apart { Step::Copy(range, to) } else { Step::Look(to) }
            }
            8..10 => Step::Count(range, salt),
            10 => Step::Here(range, salt),
            _ => Step::Nest(range, salt),
        }
    };
    (0..random.below(40)).map(|_| step(random)).collect()
}

fn sum(cells: impl Iterator<Item = u64>) -> u64 {
    cells.fold(1, |sum, cell| sum.wrapping_mul(31).wrapping_add(cell))
}

fn serial(cells: &mut [u64; ELEMENTS], steps: &[Step]) -> u64 {
    let mut seen = 0_u64;
    for step in steps {
        match step.clone_ranges() {
            (Step::Turn(..) | Step::Here(..) | Step::Nest(..), range, _, salt) => {
                cells[range].iter_mut().for_each(|cell| *cell = turned(*cell, salt));
            }
            (Step::Look(_), range, ..) => {
                seen = seen.wrapping_add(sum(cells[range].iter().copied()));
            }
            (Step::Copy(..), from, to, _) => {
                let sum = sum(cells[from].iter().copied());
                cells[to].iter_mut().for_each(|cell| *cell = turned(*cell, sum));
            }
            (Step::Count(..), range, _, salt) => {
                cells[range].iter_mut().for_each(|cell| *cell = cell.wrapping_add(salt));
            }
        }
    }
    seen
}

impl Step {
    fn clone_ranges(&self) -> (&Self, Range<usize>, Range<usize>, u64) {
        match self {
            Self::Turn(range, salt)
            | Self::Count(range, salt)
            | Self::Here(range, salt)
            | Self::Nest(range, salt) => (self, range.clone(), 0..0, *salt),
            Self::Look(range) => (self, range.clone(), 0..0, 0),
            Self::Copy(from, to) => (self, from.clone(), to.clone(), 0),
        }
    }
}

fn turn_all(cells: &mut [AtomicU64], salt: u64) {
    cells.iter_mut().for_each(|cell| *cell.get_mut() = turned(*cell.get_mut(), salt));
}

fn look(cells: &[AtomicU64]) -> u64 {
    sum(cells.iter().map(|cell| cell.load(Ordering::Relaxed)))
}

fn parallel<'scope>(
    s: &Scope<'scope>,
    data: &'scope Data<[AtomicU64]>,
    steps: &[Step],
    seen: &'scope AtomicU64,
) {
    for step in steps {
        let (step, range, to, salt) = step.clone_ranges();
        match step {
            Step::Turn(..) => s.task().inout_of(data, range).spawn(move |r| turn_all(r, salt)),
            Step::Look(_) => s.task().input_of(data, range).spawn(|cells| {
                seen.fetch_add(look(cells), Ordering::Relaxed);
            }),
            Step::Copy(..) => {
                let task = s.task().input_of(data, range).inout_of(data, to);
                task.spawn(|from, to| turn_all(to, look(from)));
            }
            Step::Count(..) => s.task().concurrent_of(data, range).spawn(move |cells| {
                for cell in cells {
                    cell.fetch_add(salt, Ordering::Relaxed);
                }
            }),
            Step::Here(..) => s.task().inout_of(data, range).run(|cells| turn_all(cells, salt)),
            Step::Nest(..) => s.task().inout_of(data, range).spawn_with(move |s, cells| {
                // Tasks that come after this one come after its children.
                let (first, rest) = cells.split_at_mut(cells.len() / 2);
                let first = first.as_mut_ptr_range();
                let (start, end) = (first.start.expose_provenance(), first.end.addr());
                s.task().spawn_with(move |_| {
                    let start = std::ptr::with_exposed_provenance_mut::<AtomicU64>(start);
                    let cells = (end - start.addr()) / size_of::<AtomicU64>();
                    // SAFETY: no other task has this part until the descendants have ended, which
                    // is the property under test.
                    turn_all(unsafe { std::slice::from_raw_parts_mut(start, cells) }, salt);
                });
                turn_all(rest, salt);
            }),
        }
    }
}

fn yields_the_same(runtime: &Runtime, seed: u64) {
    let steps = steps(&mut SplitMix64::new(seed));
    let mut expected = [0; ELEMENTS];
    let expected_seen = serial(&mut expected, &steps);
    let mut cells: [AtomicU64; ELEMENTS] = Default::default();
    let seen = AtomicU64::new(0);
    let data = Data::from_slice(&mut cells);
    runtime.scope(|s| parallel(s, data, &steps, &seen));
    let found = cells.map(AtomicU64::into_inner);
    assert_eq!((found, seen.into_inner()), (expected, expected_seen));
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: expected a number")))
}

#[test]
fn random_programs_on_ranges_yield_what_serial_ones_do() {
    let runtimes = [
        ("tree-nocutoff", 3),
        ("tree", 2),
        ("tree-fifo-rebalance-system-nocutoff", 4),
        ("central-lifo-nocutoff", 2),
        ("tree-nocutoff", 1),
    ]
    .map(|(rules, workers)| ruled(rules, workers));
    let first = number("EVENKEEL_TEST_SEED").unwrap_or(1);
    for seed in first..first + number("EVENKEEL_TEST_GRAPHS").unwrap_or(GRAPHS) {
        let runtime = &runtimes[seed as usize % runtimes.len()];
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| yields_the_same(runtime, seed))) {
            eprintln!("to repeat: EVENKEEL_TEST_SEED={seed} EVENKEEL_TEST_GRAPHS=1");
            resume_unwind(panic);
        }
    }
}

/// Tasks wait at the door until the test opens the door; an open door keeps no task.
struct Door(Mutex<Option<Vec<Resume>>>);

impl Door {
    fn wait(&self, s: &Scope<'_>) {
        s.pause(|resume| {
            if let Some(waiting) = &mut *lock_std(&self.0) {
                waiting.push(resume);
            }
        });
    }

    fn open(&self) {
        let waiting = lock_std(&self.0).take();
        waiting.into_iter().flatten().for_each(Resume::resume);
    }
}

#[test]
fn halves_of_what_was_one_part_do_not_wait_for_each_other() {
    let runtime = ruled("tree-nocutoff", 2);
    let mut cells = [0; 100];
    let data = Data::from_slice(&mut cells);
    let (whole, low) = [(); 2].map(|()| Door(Mutex::new(Some(Vec::new())))).into();
    runtime.scope(|s| {
        // While the task waits, later tasks cut its part.
        s.task().inout_of(data, ..).spawn_with(|s, all| {
            whole.wait(s);
            all.fill(1);
        });
        s.task().inout_of(data, ..50).spawn_with(|s, cells| {
            low.wait(s);
            cells.fill(2);
        });
        s.task().inout_of(data, 50..).spawn(|cells| cells.fill(3));
        whole.open();
        // The high half is to be had though the low one is not.
        assert_eq!(s.task().input_of(data, 60..70).run(|cells| cells.to_vec()), [3; 10]);
        low.open();
        assert_eq!(s.task().input_of(data, 40..60).run(|cells| cells[9..11].to_vec()), [2, 3]);
    });
}

#[test]
#[should_panic(expected = "uses the same data twice")]
fn a_task_whose_ranges_overlap_and_conflict_is_refused() {
    let mut cells = [0; 10];
    let data = Data::from_slice(&mut cells);
    ruled("tree", 1).scope(|s| s.task().input_of(data, ..6).inout_of(data, 5..).spawn(|_, _| ()));
}

#[test]
#[should_panic(expected = "5..11 of a slice of 10 elements")]
fn a_range_beyond_the_end_is_refused() {
    let mut cells = [0; 10];
    let data = Data::from_slice(&mut cells);
    ruled("tree", 1).scope(|s| s.task().inout_of(data, 5..11).spawn(|_| ()));
}

#[test]
#[should_panic(expected = "of a slice of 10 elements")]
fn a_range_to_the_last_of_all_numbers_is_refused() {
    let mut cells = [0; 10];
    let data = Data::from_slice(&mut cells);
    ruled("tree", 1).scope(|s| s.task().inout_of(data, ..=usize::MAX).spawn(|_| ()));
}

#[test]
fn one_task_follows_and_precedes_very_many() {
    let mut cells = [0_u64; 100];
    let data = Data::from_slice(&mut cells);
    ruled("tree-nocutoff", 2).scope(|s| {
        for round in 0..20 {
            for at in 0..100 {
                s.task().inout_of(data, at..at + 1).spawn(move |cell| {
                    assert_eq!(cell[0], 2 * round);
                    cell[0] += 1;
                });
            }
            s.task().inout_of(data, ..).spawn(|all| all.iter_mut().for_each(|cell| *cell += 1));
        }
    });
    assert_eq!(cells, [40; 100]);
}

#[test]
fn a_slice_that_moves_on_leaves_nothing_behind() {
    let runtime = ruled("tree", 2);
    let mut cells = vec![0_u64; 200_000];
    let data = Data::from_slice(&mut cells);
    runtime.scope(|s| {
        // Each overlaps the one before and the one after.
        for start in 0..199_990 {
            s.task().inout_of(data, start..start + 10).spawn(|cells| cells[0] += 1);
        }
    });
    assert!(cells[..199_990].iter().all(|&cell| cell == 1));
    assert!(runtime.task_memory_bytes() <= 32 << 20, "{}", runtime.task_memory_bytes());
}
