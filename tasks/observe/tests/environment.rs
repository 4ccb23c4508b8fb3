//! The default runtime of a Rust program is recorded where its environment asks for that.

use std::env;
use std::process::Command;

use evenkeel_runtime::scope;

/// Says that this process is the one that a test watches.
const VARIABLE: &str = "EVENKEEL_TEST_OBSERVE";

#[inline(never)]
fn of_the_environment() {
    scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
}

/// The standard error of a test's process with these variables; `None` in that process, which runs
/// 100 tasks of the default runtime.
fn said(test: &str, variables: &[(&str, &str)]) -> Option<String> {
    if env::var_os(VARIABLE).is_some() {
        evenkeel_observe::of_environment();
        of_the_environment();
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
fn the_end_of_the_process_writes_the_recording_of_the_default_runtime() {
    let test = "the_end_of_the_process_writes_the_recording_of_the_default_runtime";
    let Some(said) = said(test, &[("EVENKEEL_SUMMARY", "1")]) else { return };
    assert!(said.starts_with("100 tasks in "), "{said}");
    assert!(said.contains("of_the_environment") && !said.contains("ignored"), "{said}");
}

#[test]
fn without_a_variable_nothing_is_written() {
    let test = "without_a_variable_nothing_is_written";
    let Some(said) = said(test, &[("EVENKEEL_SUMMARY", "0"), ("EVENKEEL_PAGE", "")]) else {
        return;
    };
    assert_eq!(said, "");
}
