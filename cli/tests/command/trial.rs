//! `evenkeel trial` as its users meet the program.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::Folder;

/// Processes whose command line holds a text.
fn processes_with(text: &str) -> usize {
    let found = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(text) && !line.contains("evenkeel")
    });
    found.count()
}

/// Waits until a condition holds; a machine may be busy, but not for that long.
fn holds_soon(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > Duration::from_secs(20) {
            return false;
        }
        sleep(Duration::from_millis(20));
    }
    true
}

#[test]
fn nothing_outlives_a_trial_that_was_killed() {
    // A number that no other process has.
    let mark = format!("77{}.5", std::process::id());
    let script = format!("sh -c 'sleep {mark} & wait'");
    let mut trial = Command::new(env!("CARGO_BIN_EXE_evenkeel"))
        .args(["trial", "--pairs", "100000", "--culprit", &script, "--control", &script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Two shells with their children.
    assert!(holds_soon(|| processes_with(&mark) >= 4), "{}", processes_with(&mark));
    trial.kill().unwrap();
    trial.wait().unwrap();
    assert!(holds_soon(|| processes_with(&mark) == 0), "{} are left", processes_with(&mark));
}

#[test]
fn a_trial_says_by_what_wide_instructions_are_hidden() {
    let folder = Folder::new();
    let spin = "sh -c 'while :; do :; done'";
    let trial = ["trial", "--culprit", spin, "--hide", "--pairs", "6", "--block", "20"];
    let json = [&trial[..], &["--json", "found.json"]].concat();
    let text = folder.succeed(&json);
    let found: Value = serde_json::from_str(&folder.read("found.json")).unwrap();
    let doctor: Value = serde_json::from_str(&folder.succeed(&["doctor", "--json", "-"])).unwrap();
    let (by, says) = match doctor["facts"]["cpuid_faulting"] == "offered" {
        true => ("cpuid-faulting-and-library-switches", "CPUID faulting and library switches."),
        false => ("library-switches", "library switches (CPUID cannot fault here: "),
    };
    assert_eq!(found["hidden_by"], by);
    assert!(text.contains(&format!("\nWide instructions hidden by: {says}")), "{text}");
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::new();
    for (arguments, says) in [
        (&["trial", "--victim", "'open"][..], "--victim: \"'open\" is neither a class"),
        (&["trial", "--culprit", "sleep 9"], "a command needs --control or --hide"),
        (&["trial", "--hide", "--culprit", "scalar"], "--hide is for a command"),
        (&["trial", "--culprit", "sleep 9", "--control", "scalar"], "--culprit and --control must"),
        (&["trial", "--culprit", "scalar", "--cpus", "1000"], "--cpus: no CPU 1000 here"),
        (&["trial", "--culprit", "/no/such", "--control", "true"], "cannot start `/no/such`"),
    ] {
        folder.refused(arguments, says);
    }
}
