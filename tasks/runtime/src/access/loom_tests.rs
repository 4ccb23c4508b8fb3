//! Every order of steps of creating accesses, and of ending them on other workers.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

use super::{Access, Accesses, Kind, RangeAccess, Room, Table, Then};
use crate::queued::Queued;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock, yield_now};

/// A task of a test that uses one address or a part of memory: how, and how its children do.
#[derive(Clone, Copy)]
struct Plan {
    kind: Kind,
    is_weak: bool,
    inside: &'static [Kind],
    /// Start and end of a part; `None` for an address.
    part: Option<(usize, usize)>,
}

const fn plain(kind: Kind) -> Plan {
    Plan { kind, is_weak: false, inside: &[], part: None }
}

const fn part(kind: Kind, start: usize, end: usize) -> Plan {
    Plan { part: Some((start, end)), ..plain(kind) }
}

/// Accesses that a task of a test has at most.
const PIECES_MAX: usize = 4;

/// A task of a test: its accesses and its plan.
#[repr(C)]
struct Block {
    /// Its accesses.
    room: Room<PIECES_MAX>,
    plan: Plan,
    /// Position of the task in a serial program.
    rank: usize,
    parent: Option<usize>,
    /// Children that have not ended, and one for its code.
    unfinished: AtomicUsize,
}

impl Block {
    fn accesses(&self) -> &Accesses {
        // SAFETY: they were written when the block was created.
        unsafe { &*std::ptr::from_ref(&self.room).cast() }
    }
}

/// The ready tasks, and the counts of the test.
struct Seen {
    /// May run: by their number.
    ready: Mutex<Vec<usize>>,
    /// Have ended, in this order: by their rank.
    ended: Mutex<Vec<usize>>,
    freed: AtomicUsize,
    /// Blocks of splits that are not free.
    splits: AtomicUsize,
    blocks: Mutex<Vec<*mut Block>>,
}

// SAFETY: a block is used as its tokens allow, which is the property under test.
unsafe impl Sync for Seen {}
// SAFETY: any thread may use a block, as its tokens allow.
unsafe impl Send for Seen {}

fn number(task: *const Queued) -> usize {
    task.addr() - 1
}

impl Then for Seen {
    fn ready(&self, task: *const Queued) {
        lock(&self.ready).push(number(task));
    }

    fn free(&self, task: *const Queued) {
        let block = lock(&self.blocks)[number(task)];
        // SAFETY: the block came from `Box::into_raw`, and is freed once.
        drop(unsafe { Box::from_raw(block) });
        self.freed.fetch_add(1, Ordering::Relaxed);
    }

    fn block(&self, bytes: usize) -> NonNull<u8> {
        self.splits.fetch_add(1, Ordering::Relaxed);
        // SAFETY: no block is empty.
        NonNull::new(unsafe { alloc(layout(bytes)) }).expect("memory for a test")
    }

    unsafe fn free_block(&self, block: NonNull<u8>, bytes: usize) {
        self.splits.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: `block` allocated the block with as many bytes.
        unsafe { dealloc(block.as_ptr(), layout(bytes)) };
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 64).expect("a split is small")
}

impl Seen {
    fn block(&self, task: usize) -> *mut Block {
        lock(&self.blocks)[task]
    }

    /// Creates a task.
    fn create(&self, plan: Plan, rank: usize, parent: Option<usize>, table: &mut Table) {
        let Plan { kind, is_weak, .. } = plan;
        let accesses: Vec<Access> = match plan.part {
            Some((start, end)) => {
                table.plan(&[RangeAccess::new(start, end - start, kind)], self).collect()
            }
            None if is_weak => vec![Access::weak(8, kind)],
            None => vec![Access::new(8, kind)],
        };
        let number = accesses.len();
        assert!(number <= PIECES_MAX);
        let unfinished = AtomicUsize::new(1);
        let (block, name) = {
            let mut blocks = lock(&self.blocks);
            let name = std::ptr::without_provenance(blocks.len() + 1);
            let block = Block { room: Room::EMPTY, plan, rank, parent, unfinished };
            blocks.push(Box::into_raw(Box::new(block)));
            let block = blocks[blocks.len() - 1];
            // SAFETY: the block has room for `number` accesses.
            unsafe { Accesses::write(block.cast(), name, accesses.into_iter(), number, 0) };
            (block, name)
        };
        // SAFETY: the parent's code runs; this thread is its worker.
        unsafe {
            let around = parent.map(|parent| (*self.block(parent)).accesses());
            if (*block).accesses().add_to(table, around, self) {
                self.ready(name);
            }
        }
    }

    /// Runs a ready task, if any.
    fn run_one(&self) -> bool {
        let next = lock(&self.ready).pop();
        let Some(task) = next else { return false };
        let block = self.block(task);
        // SAFETY: the task is ready, so its block is alive; each task ends once.
        unsafe {
            let (Plan { inside, .. }, rank) = ((*block).plan, (*block).rank);
            if inside.is_empty() {
                lock(&self.ended).push(rank);
            } else {
                let mut table = Table::new();
                (*block).unfinished.store(1 + inside.len(), Ordering::Relaxed);
                for (child, &kind) in (rank..).zip(inside) {
                    self.create(plain(kind), child, Some(task), &mut table);
                }
                table.close(Some((*block).accesses()), self);
            }
            let passed = (*block).accesses().end(self, true);
            if passed > 0 {
                // The task itself still holds the block.
                assert!(!(*block).accesses().let_go(passed));
            }
        }
        self.finish(task);
        true
    }

    /// A task's code has ended, or one of its children has.
    fn finish(&self, task: usize) {
        let block = self.block(task);
        // SAFETY: the block is alive until released here.
        unsafe {
            let parent = (*block).parent;
            if (*block).unfinished.fetch_sub(1, Ordering::AcqRel) > 1 {
                return;
            }
            if (*block).accesses().let_go(1) {
                self.free(std::ptr::without_provenance(task + 1));
            }
            if let Some(parent) = parent {
                self.finish(parent);
            }
        }
    }

    /// Runs ready tasks until as many have ended.
    fn run_all(&self, wanted: usize) {
        while lock(&self.ended).len() < wanted {
            if !self.run_one() {
                yield_now();
            }
        }
    }
}

/// Ranks between two tasks that are created first; their children's lie between.
const APART: usize = 10;

/// Creates tasks in this order while two other threads run them: one runs all, one some. `conflict`
/// says whether the task of a rank cannot end after that of another.
fn orders_hold(
    plans: &'static [Plan],
    conflict: impl Fn(usize, usize) -> bool + Copy + Send + Sync + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let seen = Arc::new(Seen {
            ready: Mutex::new(Vec::new()),
            ended: Mutex::new(Vec::new()),
            freed: AtomicUsize::new(0),
            splits: AtomicUsize::new(0),
            blocks: Mutex::new(Vec::new()),
        });
        let leaves: usize = plans.iter().map(|plan| plan.inside.len().max(1)).sum();
        let run = |some: bool| {
            let seen = seen.clone();
            loom::thread::spawn(move || {
                if some {
                    seen.run_one();
                    seen.run_one();
                } else {
                    seen.run_all(leaves);
                }
            })
        };
        let others = [run(true), run(false)];
        let mut table = Table::new();
        for (number, &plan) in plans.iter().enumerate() {
            seen.create(plan, number * APART, None, &mut table);
        }
        table.close(None, &*seen);
        for other in others {
            other.join().unwrap();
        }
        let ended = lock(&seen.ended).clone();
        for (place, &task) in ended.iter().enumerate() {
            assert!(!ended[..place].iter().any(|&before| conflict(task, before)), "{ended:?}");
        }
        let all = lock(&seen.blocks).len();
        assert_eq!((ended.len(), seen.freed.load(Ordering::Relaxed)), (leaves, all));
        assert_eq!(seen.splits.load(Ordering::Relaxed), 0);
    });
}

/// Checks tasks without children: those created earlier come first, unless they share.
fn kinds_hold<const N: usize>(kinds: &'static [Kind; N], plans: &'static [Plan; N]) {
    orders_hold(plans, |task, before| {
        let [one, other] = [task, before].map(|rank| kinds[rank / APART]);
        before > task && !(one == other && one != Kind::Write)
    });
}

/// Tests of tasks of these kinds.
macro_rules! of_kinds {
    ($($name:ident: $($kind:ident)*;)*) => {$(
        #[test]
        fn $name() {
            kinds_hold(&[$(Kind::$kind),*], &const { [$(plain(Kind::$kind)),*] });
        }
    )*};
}

of_kinds! {
    writers_take_turns: Write Write Write;
    readers_run_beside_each_other_between_writers: Write Read Read Write;
    readers_and_concurrent_writers_exclude_each_other: Read Concurrent Concurrent Read;
}

/// Tests of tasks of which the second has children; all write, or all read.
macro_rules! of_children {
    ($($name:ident: $kind:ident, is_weak: $is_weak:expr;)*) => {$(
        #[test]
        fn $name() {
            const KIND: Kind = Kind::$kind;
            const INSIDE: Plan =
                Plan { is_weak: $is_weak, inside: &[KIND, KIND], ..plain(KIND) };
            const PLANS: &[Plan] = &[plain(Kind::Write), INSIDE, plain(Kind::Write)];
            orders_hold(PLANS, |task, before| {
                let are_siblings = before / APART == 1 && task / APART == 1;
                before > task && !(are_siblings && KIND == Kind::Read)
            });
        }
    )*};
}

of_children! {
    writing_children_come_in_the_place_of_their_parent: Write, is_weak: false;
    writing_children_come_in_the_place_of_a_weak_parent: Write, is_weak: true;
    reading_children_come_in_the_place_of_a_weak_parent: Read, is_weak: true;
}

#[test]
fn a_weak_reader_is_allowed_by_a_reader_that_ends() {
    const INSIDE: Plan = Plan { is_weak: true, inside: &[Kind::Read], ..plain(Kind::Read) };
    const PLANS: &[Plan] = &[plain(Kind::Read), INSIDE, plain(Kind::Write)];
    orders_hold(PLANS, |task, before| before > task && before / APART == 2);
}

/// Checks tasks that access parts: those that overlap and conflict come in order.
fn parts_hold(plans: &'static [Plan]) {
    orders_hold(plans, move |task, before| {
        let [one, other] = [task, before].map(|rank| plans[rank / APART]);
        let overlaps = match (one.part, other.part) {
            (Some(one), Some(other)) => one.0 < other.1 && other.0 < one.1,
            _ => true,
        };
        before > task && overlaps && !(one.kind == other.kind && one.kind != Kind::Write)
    });
}

/// Tests of tasks that access these parts.
macro_rules! of_parts {
    ($($name:ident: $($kind:ident $start:literal..$end:literal)*;)*) => {$(
        #[test]
        fn $name() {
            const PLANS: &[Plan] = &[$(part(Kind::$kind, $start, $end)),*];
            parts_hold(PLANS);
        }
    )*};
}

of_parts! {
    halves_come_after_the_whole: Write 0..8 Write 0..4 Write 4..8;
    the_whole_comes_after_its_halves: Write 0..4 Write 4..8 Write 0..8;
    a_middle_cuts_both_ends: Read 0..8 Write 2..6 Write 0..3;
    readers_of_parts_share_with_those_of_the_whole: Write 0..8 Read 0..8 Read 4..8;
    a_writer_of_a_part_waits_for_all_readers: Read 0..8 Read 0..4 Write 2..4;
}
