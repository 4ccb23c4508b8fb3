//! Every order of steps of adding, looking and sleeping.

use std::sync::Arc;

use super::{Feed, Form, Order, Scheduler, SchedulerConfig, TreeConfig};
use crate::queued::{Queued, Runner};
use crate::sync::{AsymmetricFence, AtomicUsize, Ordering, yield_now};

unsafe fn never(_: *mut Queued, _: Runner<'_>) {
    unreachable!("these tasks are only passed on");
}

fn task() -> *mut Queued {
    Box::into_raw(Box::new(Queued::new(never)))
}

fn ready(cpus: &str, config: SchedulerConfig) -> Arc<Scheduler> {
    Arc::new(Scheduler::new(&cpus.parse().unwrap(), config, 4, AsymmetricFence::between(1)))
}

/// The forms that differ in how a worker waits and is given a task.
const FORMS: [Form; 3] = [Form::Plain(Order::Lifo), Form::Polling(Order::Fifo), Form::Priority];

/// Looks for tasks on a leaf as a worker does, until `wanted` were had by anybody.
fn have(tree: &Scheduler, leaf: usize, had: &AtomicUsize, wanted: usize) {
    let done = || had.load(Ordering::SeqCst) == wanted;
    tree.looks(leaf);
    loop {
        // SAFETY: this thread is the leaf's worker.
        let found = unsafe { tree.take(tree.leaf(leaf)).or_else(|| tree.seek(leaf)) };
        // SAFETY: this thread is the leaf's worker.
        let found = found.or_else(|| unsafe { tree.wait(leaf, done) });
        if let Some(task) = found {
            // SAFETY: the address came from `task`, and no other thread has the task.
            drop(unsafe { Box::from_raw(task) });
            had.fetch_add(1, Ordering::SeqCst);
            tree.found(leaf);
            if done() {
                return tree.wake_all();
            }
            tree.looks(leaf);
        } else if done() {
            return tree.gives_up(leaf);
        } else {
            // Another thread holds the lock of the queue with the task.
            yield_now();
        }
    }
}

/// A worker adds tasks and then is busy for ever; another gets all of them nevertheless.
fn nobody_starves(config: SchedulerConfig, tasks: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let tree = ready("2", config);
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
fn a_task_that_is_added_while_a_worker_falls_asleep_is_taken() {
    nobody_starves(SchedulerConfig::default(), 1);
}

#[test]
fn both_tasks_of_a_busy_worker_are_taken() {
    nobody_starves(SchedulerConfig::default(), 2);
}

/// Each worker is in a domain of its own, so that none sees at once a change that another one makes
/// at the root.
#[test]
fn one_of_two_idle_workers_takes_a_task_of_a_busy_worker() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.max_branches = 10_000;
    model.check(move || {
        let tree = ready("3x1", SchedulerConfig::default());
        let had = Arc::new(AtomicUsize::new(0));
        let lookers = [1, 2].map(|leaf| {
            let (tree, had) = (tree.clone(), had.clone());
            loom::thread::spawn(move || have(&tree, leaf, &had, 1))
        });
        // SAFETY: this thread is the leaf's worker; the task is new.
        unsafe { tree.add(tree.leaf(0), task()) };
        lookers.into_iter().for_each(|looker| looker.join().unwrap());
    });
}

#[test]
fn a_waiting_worker_takes_the_task_that_it_is_given() {
    let feed = Feed::Give { rebalance: true };
    nobody_starves(SchedulerConfig::Tree(TreeConfig { feed, ..TreeConfig::default() }), 1);
}

#[test]
fn tasks_in_a_central_queue_are_taken() {
    for form in FORMS {
        nobody_starves(SchedulerConfig::Central(form), 2);
    }
}

/// One worker; a task comes from a thread that is none.
fn comes_from_outside(config: SchedulerConfig) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let tree = ready("1", config);
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

#[test]
fn a_task_that_an_external_thread_adds_is_taken() {
    comes_from_outside(SchedulerConfig::default());
    for form in FORMS {
        comes_from_outside(SchedulerConfig::Central(form));
    }
}

#[test]
fn a_notified_worker_that_leaves_notifies_another() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let central = ready("3", SchedulerConfig::Central(Form::Plain(Order::Lifo)));
        let had = Arc::new(AtomicUsize::new(0));
        let looker = {
            let (central, had) = (central.clone(), had.clone());
            loom::thread::spawn(move || have(&central, 1, &had, 1))
        };
        let goer = {
            let central = central.clone();
            // SAFETY: this thread is the leaf's worker.
            loom::thread::spawn(move || unsafe {
                if let Some(task) = central.wait(2, || true) {
                    central.add(central.leaf(2), task);
                }
                central.gives_up(2);
            })
        };
        // SAFETY: this thread is the leaf's worker; the task is new.
        unsafe { central.add(central.leaf(0), task()) };
        goer.join().unwrap();
        looker.join().unwrap();
    });
}

#[test]
fn an_immediate_successor_that_another_worker_looks_at_is_taken() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let central = ready("2", SchedulerConfig::Central(Form::Priority));
        let had = Arc::new(AtomicUsize::new(0));
        let waiter = {
            let central = central.clone();
            // SAFETY: this thread is the leaf's worker.
            loom::thread::spawn(move || unsafe {
                assert!(central.take_if(1, |_| false).is_none());
            })
        };
        // SAFETY: this thread is the leaf's worker; the task is new.
        unsafe { central.add_successor(central.leaf(0), task()) };
        have(&central, 0, &had, 1);
        waiter.join().unwrap();
    });
}
