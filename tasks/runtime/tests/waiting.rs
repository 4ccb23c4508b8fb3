//! Waiting for some of the tasks, and tasks that run in parallel.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Data, Resume, Runtime, Scope};

const RULES: [&str; 3] = ["tree-nocutoff", "tree", "central-fifo-nocutoff"];

fn runtime(rules: &str, workers: usize) -> Runtime {
    Runtime::builder().workers(workers).config(rules.parse().unwrap()).build().unwrap()
}

/// Tasks wait at the door until the test opens the door.
struct Door(Mutex<Option<Vec<Resume>>>);

impl Door {
    fn closed() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }

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
fn a_wait_for_one_piece_of_data_waits_for_no_other() {
    for rules in RULES {
        let runtime = runtime(rules, 2);
        let (x, slow) = (Data::new(1), Data::new(0));
        let door = Door::closed();
        runtime.scope(|s| {
            // This task ends only after the code that waits for `x` has gone on.
            s.task().inout(&slow).spawn_with(|s, slow| {
                door.wait(s);
                *slow = 20;
            });
            s.task().inout(&x).spawn(|x| *x += 1);
            let seen = s.task().inout(&x).run(|x| {
                *x *= 10;
                *x
            });
            assert_eq!(seen, 20);
            door.open();
        });
        assert_eq!((x.into_inner(), slow.into_inner()), (20, 20), "{rules}");
    }
}

#[test]
fn later_tasks_run_after_a_wait_for_data_that_panicked() {
    let runtime = runtime("tree-nocutoff", 2);
    let x = Data::new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        runtime.scope(|s| {
            s.task().inout(&x).spawn(|x| *x += 1);
            let panic = catch_unwind(AssertUnwindSafe(|| {
                s.task().inout(&x).run(|x| {
                    *x += 1;
                    panic!("within")
                })
            }));
            assert!(panic.is_err());
            s.task().inout(&x).spawn(|x| *x *= 10);
        });
    }));
    assert!(panic.is_ok());
    assert_eq!(x.into_inner(), 20);
}

#[test]
fn a_group_waits_for_its_own_tasks_and_all_below_them() {
    for rules in RULES {
        let runtime = runtime(rules, 3);
        let (door, ended) = (Door::closed(), AtomicUsize::new(0));
        runtime.scope(|s| {
            let ended = &ended;
            // This task ends only after the group has ended.
            s.task().spawn_with(|s| door.wait(s));
            s.group(|s| {
                for _ in 0..10 {
                    s.task().spawn_with(|s| {
                        s.spawn(|_| _ = ended.fetch_add(1, Ordering::SeqCst));
                    });
                }
            });
            assert_eq!(ended.load(Ordering::SeqCst), 10, "{rules}");
            door.open();
        });
    }
}

#[test]
fn a_panic_of_a_task_comes_out_of_its_group() {
    let runtime = runtime("tree-nocutoff", 2);
    runtime.scope(|s| {
        let panic = catch_unwind(AssertUnwindSafe(|| s.group(|s| s.spawn(|_| panic!("in it")))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"in it"));
    });
}

#[test]
fn tasks_of_a_final_one_run_before_their_creator_goes_on() {
    for rules in RULES {
        let runtime = runtime(rules, 2);
        let (x, ran) = (Data::new(1), AtomicUsize::new(0));
        runtime.scope(|s| {
            let ran = &ran;
            s.task().weak_inout(&x).final_if(true).spawn_with(move |s, x| {
                for round in 0..100 {
                    s.spawn(|s| s.spawn(|_| _ = ran.fetch_add(1, Ordering::Relaxed)));
                    s.task().inout(x).spawn_with(|_, x| *x += 1);
                    assert_eq!(ran.load(Ordering::Relaxed), round + 1);
                }
                assert_eq!(s.task().input(x).run(|x| *x), 101);
            });
        });
        assert_eq!(x.into_inner(), 101);
    }
}

#[test]
fn concurrent_tasks_run_at_once_and_others_before_or_after() {
    for rules in RULES {
        let runtime = runtime(rules, 2);
        let x = Data::new(AtomicUsize::new(0));
        let seen = runtime.scope(|s| {
            s.task().inout(&x).spawn(|x| *x.get_mut() = 10);
            for _ in 0..2 {
                s.task().concurrent(&x).spawn_with(|_, x| {
                    x.fetch_add(1, Ordering::SeqCst);
                    // Both tasks run at the same time.
                    while x.load(Ordering::SeqCst) < 12 {
                        std::thread::yield_now();
                    }
                });
            }
            s.task().input(&x).run(|x| x.load(Ordering::SeqCst))
        });
        assert_eq!(seen, 12, "{rules}");
    }
}
