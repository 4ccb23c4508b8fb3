//! Every order of steps of adding, looking and sleeping.

use std::sync::Arc;

use super::{Feed, Queued, Rules, Tree};
use crate::sync::{AtomicUsize, Ordering};
use crate::worker::Worker;

unsafe fn never(_: *mut Queued, _: &Worker) {
    unreachable!("these tasks are only passed on");
}

fn task() -> *mut Queued {
    Box::into_raw(Box::new(Queued::new(never, std::ptr::null())))
}

/// Looks for tasks on a leaf as a worker does, until `wanted` were had by anybody.
fn have(tree: &Tree, leaf: usize, had: &AtomicUsize, wanted: usize) {
    let done = || had.load(Ordering::SeqCst) == wanted;
    tree.looks();
    loop {
        // SAFETY: this thread is the leaf's worker.
        let found = unsafe { tree.take(tree.leaf(leaf)).or_else(|| tree.seek(leaf)) };
        // SAFETY: as above.
        let found = found.or_else(|| unsafe { tree.wait(leaf, done) });
        if let Some(task) = found {
            // SAFETY: it came from `task`, and nobody else has it.
            drop(unsafe { Box::from_raw(task) });
            had.fetch_add(1, Ordering::SeqCst);
            tree.found(leaf);
            if done() {
                return;
            }
            tree.looks();
        } else if done() {
            return tree.gives_up(leaf);
        }
    }
}

/// A worker adds tasks and then is busy for ever; another gets all of them nevertheless.
fn nobody_starves(rules: Rules, tasks: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let tree = Arc::new(Tree::new(&"2".parse().unwrap(), rules, 4));
        let had = Arc::new(AtomicUsize::new(0));
        let looker = {
            let (tree, had) = (tree.clone(), had.clone());
            loom::thread::spawn(move || have(&tree, 1, &had, tasks))
        };
        for _ in 0..tasks {
            // SAFETY: this thread is the leaf's worker; the task is new.
            unsafe { tree.add(tree.leaf(0), task()) };
        }
        looker.join().unwrap();
    });
}

#[test]
fn a_task_that_is_added_while_another_worker_falls_asleep_is_had() {
    nobody_starves(Rules::default(), 1);
}

#[test]
fn two_tasks_of_a_busy_worker_are_had() {
    nobody_starves(Rules::default(), 2);
}

#[test]
fn a_task_that_is_given_to_a_waiting_worker_is_had() {
    nobody_starves(Rules { feed: Feed::Give { rebalance: true }, ..Rules::default() }, 1);
}

#[test]
fn a_task_from_outside_is_had() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let tree = Arc::new(Tree::new(&"1".parse().unwrap(), Rules::default(), 4));
        let had = Arc::new(AtomicUsize::new(0));
        let looker = {
            let (tree, had) = (tree.clone(), had.clone());
            loom::thread::spawn(move || have(&tree, 0, &had, 1))
        };
        // SAFETY: the task is new.
        unsafe { tree.add_from_outside(task()) };
        looker.join().unwrap();
    });
}
