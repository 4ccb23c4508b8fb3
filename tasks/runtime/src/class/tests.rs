//! Wide tasks come to workers that prefer them, and none is lost.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::sync::lock_std;
use crate::topology::CpuList;
use crate::worker::Worker;
use crate::{Config, Data, Runtime};

const LONG: Duration = Duration::from_secs(3600);

fn runtime(workers: usize, prefer: &[usize], wait: Duration) -> Runtime {
    let placement = Placement { wait, ..Placement::on(WideCpus::Workers(prefer.to_vec())) };
    let config = Config { cutoff: false, ..Config::default() };
    Runtime::builder().workers(workers).config(config).placement(placement).build().unwrap()
}

/// Waits until `workers` workers have said that they prefer wide tasks.
fn are_ready(runtime: &Runtime, workers: usize) {
    let wide_tasks = runtime.shared().wide_tasks.as_ref().unwrap();
    while wide_tasks.sleepers().preferring() < workers {
        std::thread::yield_now();
    }
}

/// Waits until `workers` such workers sleep.
fn are_asleep(runtime: &Runtime, workers: usize) {
    let wide_tasks = runtime.shared().wide_tasks.as_ref().unwrap();
    while wide_tasks.sleepers().asleep() < workers {
        std::thread::yield_now();
    }
}

/// The leaf that this runs on.
fn leaf() -> usize {
    // SAFETY: this is a task, and its worker is alive.
    Worker::current().map_or(usize::MAX, |worker| unsafe { worker.as_ref() }.leaf)
}

#[test]
fn wide_tasks_run_on_workers_that_prefer_them_and_other_tasks_anywhere() {
    let runtime = runtime(4, &[1, 3], LONG);
    are_ready(&runtime, 2);
    let (wide, others) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    runtime.scope(|s| {
        for number in 0..500 {
            if number % 2 == 0 {
                s.task().wide().spawn(|| lock_std(&wide).push(leaf()));
            } else {
                s.spawn(|_| _ = others.fetch_add(1, Ordering::Relaxed));
            }
        }
    });
    let wide = wide.into_inner().unwrap();
    assert_eq!((wide.len(), others.into_inner()), (250, 250));
    assert!(wide.iter().all(|leaf| [1, 3].contains(leaf)), "{wide:?}");
}

#[test]
fn wide_tasks_that_no_worker_prefers_run_like_other_tasks() {
    let runtime = runtime(2, &[], LONG);
    let ran = AtomicUsize::new(0);
    runtime.scope(|s| {
        (0..100).for_each(|_| s.task().wide().spawn(|| _ = ran.fetch_add(1, Ordering::Relaxed)));
    });
    assert_eq!(ran.into_inner(), 100);
}

#[test]
fn an_idle_worker_takes_what_has_waited_too_long() {
    let runtime = runtime(2, &[1], Duration::from_millis(1));
    are_ready(&runtime, 1);
    let ran_on = Mutex::new(None);
    runtime.scope(|s| {
        let (is_held, may_end) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wait = |for_what: &AtomicUsize| {
            while for_what.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
        };
        runtime.scope(|inner| {
            // The worker that prefers them is busy until another wide task has run.
            inner.task().wide().spawn(|| {
                is_held.store(1, Ordering::Release);
                wait(&may_end);
            });
            wait(&is_held);
            inner.task().wide().spawn(|| {
                *lock_std(&ran_on) = Some(leaf());
                may_end.store(1, Ordering::Release);
            });
        });
        s.wait();
    });
    assert_eq!(ran_on.into_inner().unwrap(), Some(0));
}

/// Wide tasks have always waited long enough here; the other tasks lie in another worker's queue.
#[test]
fn a_worker_looks_elsewhere_before_it_takes_what_has_waited() {
    let runtime = runtime(2, &[0], Duration::ZERO);
    let (begun, too_early) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || std::thread::sleep(Duration::from_micros(100));
    runtime.scope(|s| {
        for _ in 0..300 {
            s.spawn(|_| {
                begun.fetch_add(1, Ordering::Relaxed);
                work();
            });
        }
        for _ in 0..100 {
            s.task().wide().spawn(|| {
                if leaf() == 1 && begun.load(Ordering::Relaxed) < 300 {
                    too_early.fetch_add(1, Ordering::Relaxed);
                }
                work();
            });
        }
    });
    // Looking into a queue while other workers do may fail now and then.
    assert!(too_early.into_inner() < 10);
}

#[test]
fn a_creator_that_avoids_wide_tasks_runs_some_when_there_are_too_many() {
    let placement = Placement { wait: LONG, ..Placement::on(WideCpus::Workers(vec![1])) };
    let runtime = Runtime::builder().workers(2).placement(placement).build().unwrap();
    are_ready(&runtime, 1);
    let (created, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
    runtime.scope(|s| {
        // The worker that prefers them is busy until all are created.
        s.task().wide().spawn(|| {
            while created.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
        });
        for _ in 0..20_000 {
            waiting.fetch_add(1, Ordering::Relaxed);
            s.task().wide().spawn(|| _ = waiting.fetch_sub(1, Ordering::Relaxed));
        }
        let left = waiting.load(Ordering::Relaxed);
        created.store(1, Ordering::Release);
        // SAFETY: this is a scope, and its worker is alive.
        let is_low = Worker::current().is_some_and(|worker| unsafe { worker.as_ref() }.is_low());
        // A sanitizer has locals elsewhere, where no stack seems to have room for a task.
        assert!(left < 10_000 || is_low, "{left} wait");
    });
    assert_eq!(waiting.into_inner(), 0);
}

#[test]
fn a_resting_worker_leaves_wide_tasks_to_the_other_workers() {
    let runtime = runtime(2, &[1], LONG);
    are_ready(&runtime, 1);
    runtime.set_working(1, false);
    let ran = AtomicUsize::new(0);
    for _ in 0..50 {
        runtime.scope(|s| s.task().wide().spawn(|| _ = ran.fetch_add(1, Ordering::Relaxed)));
    }
    assert_eq!(ran.into_inner(), 50);
}

/// Both are added while both workers that prefer them sleep, and the first runs until the second
/// has run: the worker that is notified of the first is busy.
#[test]
fn each_of_two_wide_tasks_wakes_another_sleeper() {
    let runtime = runtime(3, &[1, 2], LONG);
    are_ready(&runtime, 2);
    let begun = AtomicUsize::new(0);
    for _ in 0..20 {
        begun.store(0, Ordering::SeqCst);
        runtime.scope(|s| {
            are_asleep(&runtime, 2);
            for _ in 0..2 {
                s.task().wide().spawn(|| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    while begun.load(Ordering::SeqCst) < 2 {
                        std::thread::yield_now();
                    }
                });
            }
        });
    }
}

/// Moves this thread to a CPU.
fn go_to(cpu: usize) {
    // SAFETY: the set is whole; the call changes nothing but where this thread runs.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &raw const set), 0);
    }
}

#[test]
fn a_worker_that_the_kernel_moves_knows_it_at_its_next_task() {
    let cpus: Vec<usize> = CpuList::allowed().iter().collect();
    let &[here, there, ..] = cpus.as_slice() else { return };
    let placement = Placement::on(WideCpus::Cpus(CpuList::from_iter([there])));
    let runtime = Runtime::builder().workers(1).placement(placement).build().unwrap();
    let wide_tasks = runtime.shared().wide_tasks.as_ref().unwrap();
    let moves = || {
        runtime.scope(|s| {
            [here, there, here, there].map(|cpu| {
                go_to(cpu);
                s.task().wide().spawn(|| ());
                s.wait();
                wide_tasks.sleepers().preferring()
            })
        })
    };
    // On a thread of its own, which runs no other test.
    let seen = std::thread::scope(|threads| threads.spawn(moves).join().unwrap());
    assert_eq!(seen, [0, 1, 0, 1]);
}

#[test]
fn a_function_that_was_learned_is_placed_without_being_declared() {
    let runtime = runtime(3, &[2], LONG);
    are_ready(&runtime, 1);
    let wide_tasks = runtime.shared().wide_tasks.as_ref().unwrap();
    let leaves = Mutex::new(Vec::new());
    let functions = AtomicUsize::new(0);
    let spawn = |times: usize| {
        runtime.scope(|s| {
            for _ in 0..times {
                s.spawn(|s| {
                    // SAFETY: the task runs.
                    let function = unsafe { s.worker().function_of(&raw const s.task_of().queued) };
                    functions.store(function, Ordering::Relaxed);
                    lock_std(&leaves).push(leaf());
                });
            }
        });
    };
    spawn(1);
    (0..3).for_each(|_| wide_tasks.saw(functions.load(Ordering::Relaxed), true));
    lock_std(&leaves).clear();
    // These use no wide registers: after some more, the function would count as scalar again.
    spawn(8);
    assert_eq!(leaves.into_inner().unwrap(), [2; 8]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_task_is_lost_whatever_is_wide_and_whichever_worker_prefers_it(
        workers in 1_usize..6,
        prefer in prop::collection::vec(0_usize..6, 0..4),
        tasks in prop::collection::vec((any::<bool>(), 0_usize..4, any::<bool>()), 1..300),
        long in any::<bool>(),
    ) {
        let wait = if long { Duration::from_millis(20) } else { Duration::ZERO };
        let runtime = runtime(workers, &prefer, wait);
        let data: [Data<usize>; 4] = Default::default();
        let free = AtomicUsize::new(0);
        runtime.scope(|s| {
            for &(is_wide, which, has_data) in &tasks {
                let task = if is_wide { s.task().wide() } else { s.task() };
                if has_data {
                    task.inout(&data[which]).spawn(|runs| *runs += 1);
                } else {
                    task.spawn(|| _ = free.fetch_add(1, Ordering::Relaxed));
                }
            }
        });
        let ordered: usize = data.into_iter().map(Data::into_inner).sum();
        prop_assert_eq!(ordered + free.into_inner(), tasks.len());
    }
}

#[test]
fn the_cpus_of_a_file_count_from_the_first_task_on() {
    let path = std::env::temp_dir().join(format!("evenkeel-first-{}", std::process::id()));
    std::fs::write(&path, "3\n").unwrap();
    let wide_tasks = WideTasks::new(Placement::on(WideCpus::File(path.clone())), 2);
    assert!(wide_tasks.has(0, 3) && !wide_tasks.has(0, 2));
    std::fs::remove_file(path).unwrap();
}
