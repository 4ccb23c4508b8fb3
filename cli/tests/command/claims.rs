//! `--check`: claims of a scenario decide whether the command succeeds.

use crate::harness::Folder;

/// The shipped canary, with one piece of it replaced.
fn canary(from: &str, to: &str) -> Folder {
    let (_, text) = scenarios::by_name("canary").unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let folder = Folder::new();
    folder.write("canary.toml", text.replace(from, to));
    folder
}

fn check(folder: &Folder, scenario: &str) -> (i32, String, String) {
    let flags = ["--replicates", "2", "--scheduler", "fair", "--check"];
    let ran = folder.run(&[&["compare", scenario], &flags[..]].concat());
    (ran.code, ran.stdout, ran.stderr)
}

#[test]
fn a_claim_that_is_false_on_purpose_is_caught_and_that_is_success() {
    let (code, stdout, stderr) = check(&Folder::new(), "canary");
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("false on purpose was caught"), "{stdout}");
}

#[test]
fn a_claim_that_is_false_on_purpose_but_holds_fails_the_check() {
    let (code, stdout, stderr) = check(&canary("max = 0.5", "max = 50.0"), "canary.toml");
    assert_eq!(
        (code, stderr.as_str()),
        (2, "evenkeel: 1 of 1 claims of the scenario do not hold\n")
    );
    assert!(!stdout.contains("was caught"), "{stdout}");
}

#[test]
fn a_broken_claim_fails_the_check_and_only_the_check() {
    let folder = canary("must_fail = true\n", "");
    let (code, stdout, stderr) = check(&folder, "canary.toml");
    assert_eq!(
        (code, stderr.as_str()),
        (2, "evenkeel: 1 of 1 claims of the scenario do not hold\n")
    );
    assert!(stdout.contains("FAILS: signed_slowdown_pct under fair with avx512"), "{stdout}");
    let args = ["compare", "canary.toml", "--replicates", "2", "--scheduler", "fair"];
    assert_eq!(folder.succeed(&args), stdout);
}

#[test]
fn a_check_of_nothing_fails() {
    let args = ["compare", "canary", "--replicates", "1", "--scheduler", "eevdf", "--check"];
    let ran = Folder::new().run(&args);
    let sentence = "evenkeel: --check: no claim of the scenario is about what was run\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (2, sentence));
}

#[test]
fn claims_that_hold_pass_the_check() {
    for scenario in ["closed-form-isolation", "closed-form-relative"] {
        let args = ["compare", scenario, "--replicates", "4", "--check"];
        assert!(!Folder::new().succeed(&args).contains("FAILS"), "{scenario}");
    }
}

#[test]
fn a_claim_about_a_scheduler_that_is_none_is_refused() {
    canary("\"fair\"", "\"fairr\"").refused(
        &["compare", "canary.toml", "--check"],
        "canary.toml: `claim[0].scheduler`: \"fairr\" is not one of cfs, eevdf",
    );
}
