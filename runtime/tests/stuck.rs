//! Tasks that wait for each other are told, in a process of their own, which ends.

use std::env;
use std::process::{Command, Output};
use std::sync::Mutex;

use evenkeel_runtime::{Data, Resume, Runtime};

const VARIABLE: &str = "EVENKEEL_TEST_STUCK";

/// Runs a test of this file again, alone, in a process that knows that it is to stand still.
fn again(test: &str) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1").output().unwrap()
}

fn is_alone() -> bool {
    env::var_os(VARIABLE).is_some()
}

fn runtime(workers: usize) -> Runtime {
    let rules = "tree-nocutoff".parse().unwrap();
    Runtime::builder().workers(workers).rules(rules).closed(true).build().unwrap()
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
                    s.pause(|resume| *mine.lock().unwrap() = Some(resume));
                    drop(its.lock().unwrap().take());
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
    assert!(said.contains("stuck.rs:"), "{said}");
    assert!(said.contains("2 events or pauses are theirs to end"), "{said}");
}

#[test]
fn who_waits_for_data_of_a_task_whose_event_it_has_is_named() {
    if is_alone() {
        let cell = Data::new(0);
        let kept = Mutex::new(None);
        runtime(1).scope(|s| {
            s.task().inout(&cell).spawn_with(|s, _| *kept.lock().unwrap() = Some(s.event()));
            s.task().inout(&cell).run(|cell| *cell = 1);
            drop(kept.lock().unwrap().take());
        });
        return;
    }
    let output = again("who_waits_for_data_of_a_task_whose_event_it_has_is_named");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("somebody waits for data that other tasks have"), "{said}");
}

#[test]
fn who_waits_for_a_thread_from_outside_is_left_to_wait() {
    let rules = "tree-nocutoff".parse().unwrap();
    let runtime = Runtime::builder().workers(2).rules(rules).build().unwrap();
    std::thread::scope(|threads| {
        runtime.scope(|s| {
            s.pause(|resume| {
                _ = threads.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    resume.resume();
                });
            });
        });
    });
}
