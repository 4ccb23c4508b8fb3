//! Mistakes in the environment are reported.
#![cfg(not(evenkeel_model))]

use std::env;
use std::process::Command;

use evenkeel_runtime::{Runtime, scope};

/// Says that this process is the one that a test watches.
const VARIABLE: &str = "EVENKEEL_TEST_VARIABLES";

/// The standard error of a test's process with these variables; `None` in that process, which runs
/// a task of the default runtime.
fn said(test: &str, variables: &[(&str, &str)]) -> Option<String> {
    if env::var_os(VARIABLE).is_some() {
        scope(|s| s.spawn(|_| ()));
        assert!(Runtime::global().workers() > 0);
        return None;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    Some(said)
}

#[test]
fn a_misspelt_variable_is_told_once_and_others_are_not() {
    let test = "a_misspelt_variable_is_told_once_and_others_are_not";
    let variables = [("EVENKEEL_SUMARY", "1"), ("EVENKEEL_TRACE", "")];
    let Some(said) = said(test, &variables) else { return };
    assert_eq!(said.matches("evenkeel: ").count(), 1, "{said}");
    assert!(said.contains("EVENKEEL_SUMARY is known"), "{said}");
    assert!(said.contains("; is EVENKEEL_SUMMARY meant?\n"), "{said}");
}

#[test]
fn a_recording_that_nothing_writes_is_told_once() {
    let test = "a_recording_that_nothing_writes_is_told_once";
    let variables = [("EVENKEEL_SUMMARY", "1"), ("EVENKEEL_TRACE", "0"), ("EVENKEEL_PAGE", "")];
    let Some(said) = said(test, &variables) else { return };
    assert_eq!(said.matches("evenkeel: ").count(), 1, "{said}");
    assert!(said.contains("EVENKEEL_SUMMARY is ignored: the program has not called"), "{said}");
}

#[test]
fn a_function_that_no_task_had_is_told_at_the_end() {
    let test = "a_function_that_no_task_had_is_told_at_the_end";
    let variables = [("EVENKEEL_WIDE_CPUS", "0-1023"), ("EVENKEEL_WIDE", "nosuch")];
    let Some(said) = said(test, &variables) else { return };
    let line = "evenkeel: no task was seen of `nosuch`, which EVENKEEL_WIDE names\n";
    assert_eq!(said, line);
}
