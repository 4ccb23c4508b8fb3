//! Every order of steps of creating accesses, and of ending them on other workers.

use std::sync::Arc;

use super::{Access, Accesses, Kind, Table, Then};
use crate::sync::{AtomicUsize, Mutex, Ordering, lock, yield_now};
use crate::task::Task;

/// A task of a test: its place in the order of creation, and its accesses.
struct Block {
    accesses: Accesses,
    /// Kept for `accesses`, which points to it.
    _list: Vec<Access>,
}

/// Where tasks go, and what has become of them.
struct Seen {
    /// May run: by their number.
    ready: Mutex<Vec<usize>>,
    /// Have ended, in this order.
    ended: Mutex<Vec<usize>>,
    freed: AtomicUsize,
    blocks: Mutex<Vec<*mut Block>>,
}

// SAFETY: a block is used as its tokens say, which is what is tested.
unsafe impl Sync for Seen {}
// SAFETY: as above.
unsafe impl Send for Seen {}

fn number(task: *const Task) -> usize {
    task.addr() - 1
}

impl Then for Seen {
    fn ready(&self, task: *const Task) {
        lock(&self.ready).push(number(task));
    }

    fn free(&self, task: *const Task) {
        let block = lock(&self.blocks)[number(task)];
        // SAFETY: it came from `Box::into_raw`, and is freed once.
        drop(unsafe { Box::from_raw(block) });
        self.freed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a task that is ready, if there is one.
fn run_one(seen: &Seen) -> bool {
    let next = lock(&seen.ready).pop();
    let Some(task) = next else { return false };
    lock(&seen.ended).push(task);
    let block = lock(&seen.blocks)[task];
    // SAFETY: it is ready, and so its block is alive; it ends once.
    if unsafe { (*block).accesses.end(seen) } {
        seen.free(std::ptr::without_provenance(task + 1));
    }
    true
}

/// Runs ready tasks until as many have ended.
fn run_all(seen: &Seen, wanted: usize) {
    while lock(&seen.ended).len() < wanted {
        if !run_one(seen) {
            yield_now();
        }
    }
}

/// Creates tasks that use one address each, in this order, while two others run them: one all, one
/// some.
fn orders_hold(kinds: &'static [Kind]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let seen = Arc::new(Seen {
            ready: Mutex::new(Vec::new()),
            ended: Mutex::new(Vec::new()),
            freed: AtomicUsize::new(0),
            blocks: Mutex::new(Vec::new()),
        });
        let run = |some: bool| {
            let seen = seen.clone();
            loom::thread::spawn(move || {
                if some {
                    run_one(&seen);
                    run_one(&seen);
                } else {
                    run_all(&seen, kinds.len());
                }
            })
        };
        let others = [run(true), run(false)];
        let mut table = Table::new();
        for (task, &kind) in kinds.iter().enumerate() {
            let list = vec![Access::new(8, kind)];
            let name = std::ptr::without_provenance(task + 1);
            // SAFETY: the list lives in the block, at the same place.
            let accesses = unsafe { Accesses::new(name, list.as_ptr(), 1) };
            let block = Box::into_raw(Box::new(Block { accesses, _list: list }));
            lock(&seen.blocks).push(block);
            // SAFETY: this thread is the parent's worker.
            if unsafe { (*block).accesses.add_to(&mut table, &*seen) } {
                seen.ready(name);
            }
        }
        table.close(&*seen);
        for other in others {
            other.join().unwrap();
        }
        let ended = lock(&seen.ended).clone();
        for (place, &task) in ended.iter().enumerate() {
            let conflict = |&&earlier: &&usize| {
                earlier > task && !(kinds[earlier] == kinds[task] && kinds[task] != Kind::Write)
            };
            assert!(ended[..place].iter().find(conflict).is_none(), "{ended:?}");
        }
        assert_eq!((ended.len(), seen.freed.load(Ordering::Relaxed)), (kinds.len(), kinds.len()));
    });
}

#[test]
fn writers_take_turns() {
    orders_hold(&[Kind::Write, Kind::Write, Kind::Write]);
}

#[test]
fn readers_run_beside_each_other_between_writers() {
    orders_hold(&[Kind::Write, Kind::Read, Kind::Read, Kind::Write]);
}

#[test]
fn readers_and_concurrent_writers_exclude_each_other() {
    orders_hold(&[Kind::Read, Kind::Concurrent, Kind::Concurrent, Kind::Read]);
}
