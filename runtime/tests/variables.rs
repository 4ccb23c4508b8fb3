//! A variable of the environment that is misspelt is told once a process.
#![cfg(not(evenkeel_model))]

use std::env;
use std::process::Command;

use evenkeel_runtime::{Runtime, scope};

#[test]
fn a_misspelt_variable_is_told_once_and_others_are_not() {
    const VARIABLE: &str = "EVENKEEL_TEST_VARIABLES";
    if env::var_os(VARIABLE).is_some() {
        scope(|s| s.spawn(|_| ()));
        assert!(Runtime::global().workers() > 0);
        return;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    let test = "a_misspelt_variable_is_told_once_and_others_are_not";
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1");
    let output = command.env("EVENKEEL_SUMARY", "1").env("EVENKEEL_TRACE", "").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("evenkeel: ").count(), 1, "{said}");
    assert!(said.contains("EVENKEEL_SUMARY is known"), "{said}");
    assert!(said.contains("; is EVENKEEL_SUMMARY meant?\n"), "{said}");
}
