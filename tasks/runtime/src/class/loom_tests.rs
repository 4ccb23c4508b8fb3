//! Every order of steps of adding wide tasks, looking for them and falling asleep.

use std::sync::Arc;
use std::time::Duration;

use self::Does::{GoesAway, Looks, LooksForOne};
use super::{Placement, WideCpus, WideTasks};
use crate::queued::{Queued, Runner};
use crate::scheduler::{Form, Order, Scheduler, SchedulerConfig};
use crate::sync::{AsymmetricFence, AtomicUsize, Ordering, yield_now};
use crate::topology::CpuList;

/// So long that only a worker that prefers wide tasks takes one, unless none does.
const LONG: Duration = Duration::from_secs(3600);

unsafe fn never(_: *mut Queued, _: Runner<'_>) {
    unreachable!("these tasks are only passed on");
}

fn task() -> *mut Queued {
    Box::into_raw(Box::new(Queued::new(never)))
}

/// State that the workers share; the worker of a leaf runs on the CPU with its number.
struct Shared {
    wide_tasks: WideTasks,
    scheduler: Scheduler,
    had: AtomicUsize,
    wanted: usize,
}

impl Shared {
    fn new(leaves: usize, config: SchedulerConfig, prefer: &str, wanted: usize) -> Arc<Self> {
        let cpus = WideCpus::Cpus(prefer.parse().unwrap());
        let placement = Placement { wait: LONG, ..Placement::on(cpus) };
        let machine = leaves.to_string().parse().unwrap();
        Arc::new(Self {
            wide_tasks: WideTasks::new(placement, leaves),
            scheduler: Scheduler::new(&machine, config, 4, AsymmetricFence::between(1)),
            had: AtomicUsize::new(0),
            wanted,
        })
    }

    fn is_done(&self) -> bool {
        self.had.load(Ordering::SeqCst) == self.wanted
    }

    fn add(&self) {
        // SAFETY: the task is new.
        unsafe { self.wide_tasks.add(task(), &self.scheduler) };
    }

    /// Looks for tasks on a leaf as a worker does, until `most` were taken here, or all anywhere.
    fn have(&self, leaf: usize, most: usize) {
        let Self { wide_tasks, scheduler, .. } = self;
        let any = |_: *mut Queued| true;
        let mut had = 0;
        scheduler.looks(leaf);
        while had < most && !self.is_done() {
            wide_tasks.refresh(leaf, leaf);
            // SAFETY: this thread is the leaf's worker.
            let ordinary =
                unsafe { scheduler.take(scheduler.leaf(leaf)).or_else(|| scheduler.seek(leaf)) };
            assert!(ordinary.is_none());
            if let Some(task) =
                wide_tasks.take_first(leaf, any).or_else(|| wide_tasks.take_last(any))
            {
                // SAFETY: the address came from `task`, and no other thread has the task.
                drop(unsafe { Box::from_raw(task) });
                had += 1;
                self.had.fetch_add(1, Ordering::SeqCst);
                continue;
            }
            // SAFETY: this thread is the leaf's worker.
            let given = unsafe { wide_tasks.sleep(leaf, scheduler, || self.is_done()) };
            assert!(given.is_none());
            yield_now();
        }
        scheduler.gives_up(leaf);
        wide_tasks.goes_on(scheduler);
        if self.is_done() {
            scheduler.wake_all();
        }
    }

    /// Falls asleep as a worker that other work keeps from searching.
    fn go_away(&self, leaf: usize) {
        self.wide_tasks.refresh(leaf, leaf);
        self.scheduler.looks(leaf);
        // SAFETY: this thread is the leaf's worker.
        let given = unsafe { self.wide_tasks.sleep(leaf, &self.scheduler, || true) };
        assert!(given.is_none());
        self.scheduler.gives_up(leaf);
        self.wide_tasks.goes_on(&self.scheduler);
    }
}

/// The program of a thread for a leaf.
#[derive(Clone, Copy)]
enum Does {
    /// Looks until all tasks were had.
    Looks,
    /// Looks until one task was taken; with that task the worker is busy for ever.
    LooksForOne,
    /// Falls asleep, and has other work.
    GoesAway,
}

const CENTRAL: SchedulerConfig = SchedulerConfig::Central(Form::Plain(Order::Lifo));

/// One worker runs `does` and is busy for ever, beside the threads of `others`. A test with more
/// steps allows fewer preemptions.
fn explore(
    shared: impl Fn() -> Arc<Shared> + Send + Sync + 'static,
    others: &'static [(usize, Does)],
    does: impl Fn(&Shared) + Send + Sync + 'static,
    preemptions: usize,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 10_000;
    model.check(move || {
        let shared = shared();
        let begin = |&(leaf, does)| {
            let shared = shared.clone();
            loom::thread::spawn(move || match does {
                Does::Looks => shared.have(leaf, usize::MAX),
                Does::LooksForOne => shared.have(leaf, 1),
                Does::GoesAway => shared.go_away(leaf),
            })
        };
        let others: Vec<_> = others.iter().map(begin).collect();
        does(&shared);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(shared.is_done() && !shared.wide_tasks.has_any());
    });
}

#[test]
fn a_wide_task_that_is_added_while_its_worker_falls_asleep_is_taken() {
    for config in [CENTRAL, SchedulerConfig::default()] {
        explore(move || Shared::new(2, config, "1", 1), &[(1, Looks)], Shared::add, 3);
    }
}

#[test]
fn a_woken_worker_that_may_not_take_a_wide_task_wakes_one_that_may() {
    explore(|| Shared::new(3, CENTRAL, "2", 1), &[(1, Looks), (2, Looks)], Shared::add, 2);
}

/// Neither worker takes both tasks, since a worker that has taken one is busy for ever.
#[test]
fn two_workers_that_prefer_wide_tasks_take_two_of_them() {
    let adds = |shared: &Shared| (0..2).for_each(|_| shared.add());
    explore(|| Shared::new(3, CENTRAL, "1-2", 2), &[(1, LooksForOne), (2, LooksForOne)], adds, 1);
}

/// A worker that was asleep, and perhaps notified of a task, goes to other work.
#[test]
fn a_woken_worker_with_other_work_wakes_another_worker() {
    explore(|| Shared::new(3, CENTRAL, "1-2", 1), &[(1, GoesAway), (2, Looks)], Shared::add, 2);
}

#[test]
fn a_set_of_cpus_that_changes_meanwhile_loses_no_wide_task() {
    let changes = |shared: &Shared| {
        // Other workers may be anywhere by now.
        yield_now();
        shared.wide_tasks.are_now(CpuList::from_iter([2]));
        shared.add();
    };
    explore(|| Shared::new(3, CENTRAL, "1-2", 1), &[(1, Looks), (2, Looks)], changes, 2);
}
