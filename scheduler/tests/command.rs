//! The loader's arguments, as scripts and `evenkeel advise` give them.

use std::process::Command;

fn run(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_scx_evenkeel")).args(words).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn every_mode_is_named_in_the_help_and_taken() {
    let (code, help) = run(&["--help"]);
    assert_eq!(code, Some(0));
    for mode in ["fair", "fair-relative", "fair-isolation", "even", "specialize", "fair-specialize"]
    {
        assert!(help.contains(mode), "{mode}");
        assert_eq!(run(&["--mode", mode, "--help"]).0, Some(0), "{mode}");
    }
}

#[test]
fn an_unknown_mode_is_refused_with_the_known_ones() {
    let (code, text) = run(&["--mode", "fairest"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("fairest") && text.contains("fair-isolation"), "{text}");
}
