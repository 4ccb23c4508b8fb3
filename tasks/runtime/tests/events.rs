//! Tasks whose wait no task ends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Config, Data, Event, Resume, Runtime, scope};
use proptest::prelude::*;

const RULES: [&str; 4] = ["tree", "tree-nocutoff", "central-fifo-nocutoff", "tree-fifo-rebalance"];

fn ruled(rules: &str, workers: usize) -> Runtime {
    let rules: Config = rules.parse().unwrap();
    Runtime::builder().workers(workers).config(rules).build().unwrap()
}

/// Lets other threads run until one of them has raised a flag.
fn wait_for(flag: &AtomicUsize) {
    while flag.load(Ordering::Relaxed) == 0 {
        thread::yield_now();
    }
}

/// Where an event of a test happens.
#[derive(Clone, Copy, Debug)]
enum Place {
    Within,
    Outside,
    Another,
}

fn places() -> impl Strategy<Value = Vec<Place>> {
    let place = prop_oneof![Just(Place::Within), Just(Place::Outside), Just(Place::Another)];
    prop::collection::vec(place, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_task_that_needs_the_data_runs_after_all_events(
        tasks in prop::collection::vec(places(), 1..30),
        rules in 0..RULES.len(),
        workers in 1_usize..4,
    ) {
        let runtime = ruled(RULES[rules], workers);
        let happened = AtomicUsize::new(0);
        let data = Data::new(0_u8);
        let mut expected = 0;
        thread::scope(|threads| {
            let happened = &happened;
            runtime.scope(|s| {
                for places in &tasks {
                    expected += places.len();
                    let before = expected;
                    s.task().inout(&data).spawn_with(move |s, _| {
                        for place in places {
                            let event = s.event();
                            let happens = move || {
                                happened.fetch_add(1, Ordering::Relaxed);
                                drop(event);
                            };
                            match place {
                                Place::Within => happens(),
                                Place::Outside => _ = threads.spawn(happens),
                                Place::Another => s.spawn(|_| happens()),
                            }
                        }
                    });
                    s.task().inout(&data).spawn(move |_| {
                        assert_eq!(happened.load(Ordering::Relaxed), before);
                    });
                }
            });
        });
        prop_assert_eq!(happened.into_inner(), expected);
    }
}

#[test]
fn a_scope_waits_for_its_own_events() {
    let runtime = ruled("tree", 2);
    let happened = AtomicUsize::new(0);
    thread::scope(|threads| {
        runtime.scope(|s| {
            let event = s.event();
            threads.spawn(|| {
                thread::sleep(std::time::Duration::from_millis(10));
                happened.store(1, Ordering::Relaxed);
                drop(event);
            });
        });
        assert_eq!(happened.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn an_event_fulfilled_inside_a_long_task_completes_its_task_at_once() {
    for rules in RULES {
        let runtime = ruled(rules, 2);
        let (known, cell) = (Mutex::new(None), Data::new(0));
        let (begun, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        runtime.scope(|s| {
            s.task().spawn_with(|_| {
                begun.store(1, Ordering::Relaxed);
                while lock_std(&known).take().map(drop).is_none() {
                    thread::yield_now();
                }
                wait_for(&passed);
            });
            wait_for(&begun);
            s.group(|s| {
                s.task().inout(&cell).spawn_with(|s, cell| {
                    *cell += 1;
                    *lock_std(&known) = Some(s.event());
                });
                s.task().inout(&cell).spawn_with(|_, cell| *cell += 1);
            });
            passed.store(1, Ordering::Relaxed);
        });
        assert_eq!(cell.into_inner(), 2, "{rules}");
    }
}

#[test]
fn a_resumed_task_notifies_the_parents_of_tasks_that_ran_during_the_pause() {
    for rules in RULES {
        let runtime = ruled(rules, 2);
        let paused: Mutex<Option<Resume>> = Mutex::new(None);
        let (begun, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        runtime.scope(|s| {
            s.task().spawn_with(|s| {
                s.pause(|resume| *lock_std(&paused) = Some(resume));
                wait_for(&passed);
            });
            while lock_std(&paused).is_none() {
                thread::yield_now();
            }
            s.group(|s| {
                s.task().spawn_with(|_| {
                    begun.store(1, Ordering::Relaxed);
                    lock_std(&paused).take().unwrap().resume();
                });
                wait_for(&begun);
            });
            passed.store(1, Ordering::Relaxed);
        });
    }
}

/// More tasks than threads.
const PAUSED: usize = 100;

#[test]
fn tasks_that_pause_go_on_when_they_are_told_wherever_that_is() {
    for rules in RULES {
        let runtime = ruled(rules, 2);
        let paused: Mutex<Vec<Resume>> = Mutex::new(Vec::new());
        let done = AtomicUsize::new(0);
        thread::scope(|threads| {
            let resumes = threads.spawn(|| {
                // All of them wait before the first is resumed.
                while lock_std(&paused).len() < PAUSED {
                    thread::yield_now();
                }
                lock_std(&paused).drain(..).for_each(Resume::resume);
            });
            runtime.scope(|s| {
                for _ in 0..PAUSED {
                    s.task().spawn_with(|s| {
                        s.pause(|resume| lock_std(&paused).push(resume));
                        done.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            resumes.join().unwrap();
        });
        assert_eq!(done.into_inner(), PAUSED, "{rules}");
    }
}

#[test]
fn a_task_told_to_go_on_before_it_pauses_does_not_wait() {
    let runtime = ruled("tree-nocutoff", 1);
    let mut went_on = false;
    runtime.scope(|s| {
        s.pause(Resume::resume);
        went_on = true;
    });
    assert!(went_on);
}

/// A creator with this many children runs some of them before creating more.
const MANY: usize = 3_000;

#[test]
fn a_creator_goes_on_though_tasks_that_it_helps_to_run_wait_for_it() {
    for workers in [1, 2] {
        let runtime = ruled("tree", workers);
        // Those that began before all were created.
        let early: Mutex<Option<Vec<Resume>>> = Mutex::new(Some(Vec::new()));
        let (done, cell) = (AtomicUsize::new(0), Data::new(0_usize));
        runtime.scope(|s| {
            for _ in 0..MANY {
                s.task().spawn_with(|s| {
                    s.pause(|resume| {
                        if let Some(early) = &mut *lock_std(&early) {
                            early.push(resume);
                        }
                    });
                    done.fetch_add(1, Ordering::Relaxed);
                });
                s.task().inout(&cell).spawn_with(|_, cell| *cell += 1);
            }
            let told = lock_std(&early).take().unwrap();
            told.into_iter().for_each(Resume::resume);
        });
        assert_eq!((done.into_inner(), cell.into_inner()), (MANY, MANY));
    }
}

#[test]
fn a_paused_task_waits_until_it_is_resumed_though_the_code_that_it_starts_panics() {
    static PAUSED: Mutex<Option<Resume>> = Mutex::new(None);
    for rules in RULES {
        let runtime = ruled(rules, 2);
        let resumed = AtomicUsize::new(0);
        let panics = |keeps: bool| {
            let run = || {
                runtime.scope(|s| {
                    s.task().spawn_with(|s| {
                        s.pause(|resume| {
                            *lock_std(&PAUSED) = keeps.then_some(resume);
                            panic!("in its start");
                        });
                    });
                    s.spawn(|_| {
                        if keeps {
                            let resume = std::iter::repeat_with(|| {
                                thread::yield_now();
                                lock_std(&PAUSED).take()
                            });
                            resumed.fetch_add(1, Ordering::Relaxed);
                            drop(resume.flatten().next());
                        }
                    });
                });
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
        };
        assert!(panics(false) && panics(true), "{rules}");
        assert_eq!(resumed.into_inner(), 1, "{rules}");
    }
}

/// Waits until another thread sets the flag.
fn until(said: &AtomicBool) {
    while !said.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

#[test]
fn who_is_resumed_while_a_task_above_waits_with_a_lock_held_goes_on_after_it() {
    let [other_is_busy, has_begun, child_runs]: [AtomicBool; 3] = Default::default();
    let say = |said: &AtomicBool| said.store(true, Ordering::Release);
    let resume = Mutex::new(None);
    ruled("tree-nocutoff", 2).scope(|s| {
        s.spawn(|_| {
            say(&other_is_busy);
            until(&has_begun);
        });
        until(&other_is_busy);
        s.spawn(|s| {
            say(&has_begun);
            s.spawn(|_| {
                say(&child_runs);
                thread::sleep(Duration::from_millis(20));
                drop(lock_std(&resume).take());
                thread::sleep(Duration::from_millis(20));
            });
            until(&child_runs);
            s.wait_holding();
        });
        s.pause(|paused| *lock_std(&resume) = Some(paused));
    });
}

#[test]
fn who_is_resumed_above_a_task_with_a_lock_lets_nobody_run_there_who_wants_it() {
    let [other_is_busy, has_begun, child_runs]: [AtomicBool; 3] = Default::default();
    let say = |said: &AtomicBool| said.store(true, Ordering::Release);
    let (locked, resume, last) = (Mutex::new(()), Mutex::new(None), Mutex::new(None));
    ruled("tree-nocutoff", 2).scope(|s| {
        s.spawn(|_| {
            say(&other_is_busy);
            until(&has_begun);
        });
        until(&other_is_busy);
        s.spawn(|s| {
            let _held = lock_std(&locked);
            say(&has_begun);
            s.spawn(|_| {
                say(&child_runs);
                drop(lock_std(&resume).take());
                thread::sleep(Duration::from_millis(50));
            });
            until(&child_runs);
            s.wait_holding();
        });
        s.task().spawn_with(|s| {
            s.pause(|paused| *lock_std(&resume) = Some(paused));
            s.spawn(|_| {
                let _held = lock_std(&locked);
                drop(lock_std(&last).take());
            });
        });
        s.pause(|paused: Resume| *lock_std(&last) = Some(paused));
    });
}

/// Lets an event happen some time later.
fn later(event: Event, happened: Arc<AtomicBool>) {
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(10));
        happened.store(true, Ordering::Relaxed);
        drop(event);
    });
}

#[test]
fn an_inlined_task_with_an_event_may_wait_for_tasks() {
    for (rules, workers) in RULES.into_iter().zip([1, 2, 1, 2]) {
        ruled(rules, workers).scope(|s| {
            s.task().spawn_with(|s| {
                s.spawn(|s| {
                    let event = s.event();
                    s.spawn(|_| ());
                    s.wait();
                    drop(event);
                });
            });
        });
    }
}

#[test]
fn a_task_that_follows_a_child_of_a_final_task_runs_after_the_childs_event() {
    for rules in RULES {
        let data = Data::new(0);
        ruled(rules, 2).scope(|s| {
            s.task().weak_inout(&data).final_if(true).spawn_with(move |s, data| {
                let happened = Arc::new(AtomicBool::new(false));
                let sees = happened.clone();
                s.task().inout(data).spawn_with(move |s, _| later(s.event(), sees));
                s.task().inout(data).spawn(move |_| {
                    assert!(happened.load(Ordering::Relaxed), "{rules}");
                });
            });
        });
    }
}

#[test]
fn a_scope_waits_for_its_tasks_and_not_for_its_own_events() {
    let happened = AtomicBool::new(false);
    scope(|s| {
        let event = s.event();
        s.spawn(|_| ());
        s.wait();
        assert!(!happened.load(Ordering::Relaxed));
        s.group(|s| {
            let event = s.event();
            s.wait();
            drop(event);
        });
        happened.store(true, Ordering::Relaxed);
        drop(event);
    });
    assert!(happened.into_inner());
}
