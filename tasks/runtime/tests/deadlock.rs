//! Tasks that wait for each other are reported, in a process of their own, which ends.

use std::env;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Data, Resume, Runtime, join, over, scope};

const VARIABLE: &str = "EVENKEEL_TEST_STUCK";

/// Runs a test of this file again, alone, in a process whose environment asks for the deadlock.
fn again(test: &str) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1").output().unwrap()
}

fn is_alone() -> bool {
    env::var_os(VARIABLE).is_some()
}

fn runtime(workers: usize) -> Runtime {
    let rules = "tree-nocutoff".parse().unwrap();
    Runtime::builder().workers(workers).config(rules).closed(true).build().unwrap()
}

#[test]
fn two_tasks_that_wait_to_be_resumed_by_each_other_are_named() {
    if is_alone() {
        let places: [Mutex<Option<Resume>>; 2] = Default::default();
        let cell = Data::new(0);
        runtime(3).scope(|s| {
            let [one, other] = &places;
            for (mine, its) in [(one, other), (other, one)] {
                s.task().spawn_with(|s| {
                    s.pause(|resume| *lock_std(mine) = Some(resume));
                    drop(lock_std(its).take());
                });
            }
            s.task().inout(&cell).spawn(|cell| *cell = 1);
            s.wait();
        });
        return;
    }
    let output = again("two_tasks_that_wait_to_be_resumed_by_each_other_are_named");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert_eq!(said.matches("somebody waits to be resumed").count(), 2, "{said}");
    assert!(said.contains("deadlock.rs:"), "{said}");
    assert!(said.contains("2 events or pauses are theirs to end"), "{said}");
}

#[test]
fn a_wait_for_data_of_a_task_whose_event_the_waiter_has_is_named() {
    if is_alone() {
        let cell = Data::new(0);
        let kept = Mutex::new(None);
        runtime(1).scope(|s| {
            s.task().inout(&cell).spawn_with(|s, _| *lock_std(&kept) = Some(s.event()));
            s.task().inout(&cell).run(|cell| *cell = 1);
            drop(lock_std(&kept).take());
        });
        return;
    }
    let output = again("a_wait_for_data_of_a_task_whose_event_the_waiter_has_is_named");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("somebody waits for data that other tasks have"), "{said}");
}

#[test]
fn a_deadlock_of_alternating_scopes_of_two_runtimes_is_reported() {
    fn nest(runtimes: [&Runtime; 2], depth: usize) {
        if depth > 0 {
            let [one, other] = runtimes;
            one.scope(|_| nest([other, one], depth - 1));
        }
    }
    if is_alone() {
        thread::spawn(|| {
            thread::sleep(Duration::from_secs(3));
            std::process::exit(1);
        });
        return nest([&runtime(1), &runtime(1)], 40);
    }
    let output = again("a_deadlock_of_alternating_scopes_of_two_runtimes_is_reported");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert_eq!(said.matches("a thread waits to begin a scope").count(), 1, "{said}");
}

/// The line of the call that is marked, as the message names it.
fn marked(mark: &str) -> String {
    let line = include_str!("deadlock.rs").lines().position(|line| line.ends_with(mark)).unwrap();
    format!("deadlock.rs:{}:", line + 1)
}

/// Creates a task that never ends: the message names the waiting task by the line of this file.
fn names_who_waits(test: &str, mark: &str, what: &str) {
    let said = String::from_utf8(again(test).stderr).unwrap();
    let line = said.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains(&marked(mark)), "{mark}: {said}");
    assert!(!said.contains("src/"), "{said}");
    assert!(said.contains("\n1 event or pause is theirs to end"), "{said}");
}

const TASKS: &str = "somebody waits for tasks that it created to end";
const JOIN: &str = "somebody waits for the other half of a join";

#[test]
fn a_scope_that_never_ends_is_named_by_its_line() {
    if is_alone() {
        let kept = Mutex::new(None);
        runtime(2).scope(|s| *lock_std(&kept) = Some(s.event())); // opens it
        return;
    }
    let test = "a_scope_that_never_ends_is_named_by_its_line";
    names_who_waits(test, "// opens it", TASKS);
}

#[test]
fn a_scope_inside_of_a_task_is_named_by_its_line() {
    if is_alone() {
        let kept = Mutex::new(None);
        let kept = &kept;
        runtime(2).scope(|s| {
            s.task().spawn_with(|_| {
                scope(|s| *lock_std(kept) = Some(s.event())); // inside
            });
        });
        return;
    }
    let said = again("a_scope_inside_of_a_task_is_named_by_its_line").stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains(&marked("// inside")) && !said.contains("src/"), "{said}");
}

#[test]
fn a_wait_for_a_group_or_for_children_is_named_by_its_line() {
    if is_alone() {
        let kept = Mutex::new(Vec::new());
        let hold = |event| lock_std(&kept).push(event);
        runtime(3).scope(|s| {
            s.task().spawn_with(|s| {
                s.task().spawn_with(|s| hold(s.event()));
                s.wait(); // waits
            });
            s.group(|s| s.task().spawn_with(|s| hold(s.event()))); // a group
        });
        return;
    }
    let test = "a_wait_for_a_group_or_for_children_is_named_by_its_line";
    let said = String::from_utf8(again(test).stderr).unwrap();
    for mark in ["// waits", "// a group"] {
        assert!(said.contains(&marked(mark)), "{mark}: {said}");
    }
    assert!(!said.contains("src/"), "{said}");
}

/// Waits until the first thread has met another, which then stops for good.
struct Meeting {
    first: ThreadId,
    both: AtomicBool,
    kept: Mutex<Option<Resume>>,
}

impl Meeting {
    fn new() -> Self {
        let (both, kept) = (AtomicBool::new(false), Mutex::new(None));
        Self { first: thread::current().id(), both, kept }
    }

    fn comes(&self) {
        if thread::current().id() == self.first {
            while !self.both.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        } else if !self.both.swap(true, Ordering::SeqCst) {
            scope(|s| s.pause(|resume| *lock_std(&self.kept) = Some(resume)));
        }
    }
}

#[test]
fn a_join_is_named_by_its_line() {
    if is_alone() {
        runtime(2).scope(|_| {
            let meeting = Meeting::new();
            join(|| meeting.comes(), || meeting.comes()); // joins
        });
        return;
    }
    names_who_waits("a_join_is_named_by_its_line", "// joins", JOIN);
}

#[test]
fn a_join_in_a_runtime_is_named_by_its_line() {
    if is_alone() {
        let meeting = Meeting::new();
        runtime(2).join(|| meeting.comes(), || meeting.comes()); // joins there
        return;
    }
    names_who_waits("a_join_in_a_runtime_is_named_by_its_line", "// joins there", JOIN);
}

#[test]
fn a_loop_is_named_by_its_line() {
    if is_alone() {
        runtime(2).scope(|_| {
            let meeting = Meeting::new();
            // The first piece runs before any iteration goes to other workers: one iteration, or
            // more where no time stamp counter says how long it took.
            let piece = if cfg!(target_arch = "x86_64") { 1 } else { 4 };
            let come = |n| {
                if n >= piece {
                    meeting.comes()
                }
            };
            over(0..64).for_each(come); // loops
        });
        return;
    }
    names_who_waits("a_loop_is_named_by_its_line", "// loops", JOIN);
}

#[test]
fn a_wait_for_a_thread_of_the_program_is_no_deadlock() {
    let rules = "tree-nocutoff".parse().unwrap();
    let runtime = Runtime::builder().workers(2).config(rules).build().unwrap();
    thread::scope(|threads| {
        runtime.scope(|s| {
            s.pause(|resume| {
                _ = threads.spawn(|| {
                    thread::sleep(std::time::Duration::from_millis(50));
                    resume.resume();
                });
            });
        });
    });
}
