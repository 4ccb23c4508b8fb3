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
    assert!(stdout.contains("FAILS: under fair with avx512, signed slowdown is 3."), "{stdout}");
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

/// Scenarios of less than a second each; the rest is for `evenkeel compare NAME --check`.
const CHEAP: [&str; 7] = [
    "closed-form-isolation",
    "closed-form-relative",
    "canary",
    "half-load",
    "light512",
    "pingpong",
    "amx-inference",
];

#[test]
fn every_claim_of_the_cheap_scenarios_is_tried_and_comes_out_as_it_says() {
    for scenario in CHEAP {
        let flags = ["--replicates", "4", "--sensors", "d7,truth", "--check"];
        let schedulers = match scenario {
            "pingpong" => &[
                "--scheduler",
                "cfs,fair-relative,fair-isolation,machauer,machauer-without-refund",
            ],
            _ => &[][..],
        };
        let args = [&["compare", scenario], &flags[..], schedulers].concat();
        let table = Folder::new().succeed(&args);
        assert!(!table.contains("FAILS") && !table.contains("Not run"), "{scenario}\n{table}");
    }
}

#[test]
fn every_claim_has_its_outcome_in_the_table() {
    let args = ["compare", "pingpong", "--replicates", "1", "--scheduler", "cfs,fair-isolation"];
    let table = Folder::new().succeed(&args);
    let outcome = |id: &str| {
        let line = table.lines().find(|line| line.starts_with(id));
        line.unwrap_or_else(|| panic!("{id}\n{table}")).to_owned()
    };
    assert!(outcome("T100").ends_with("not run, predicted"), "{table}");
    assert!(outcome("T103 overhead").ends_with("known MISS, predicted"), "{table}");
    assert!(outcome("T103 work").ends_with("hit, predicted"), "{table}");
}

#[test]
fn a_known_miss_is_said_and_passes_the_check_as_long_as_it_is_one() {
    let folder = canary("must_fail = true", "known_miss = \"it is so\"");
    let (code, stdout, _) = check(&folder, "canary.toml");
    assert_eq!(code, 0);
    assert!(stdout.contains("not at most 0.5: it is so."), "{stdout}");
    let text = folder.read("canary.toml").replace("max = 0.5", "max = 50.0");
    folder.write("canary.toml", text);
    let (code, stdout, _) = check(&folder, "canary.toml");
    assert_eq!(code, 2);
    assert!(stdout.contains("is called a miss, but HOLDS"), "{stdout}");
}

#[test]
fn a_claim_about_shared_run_queues_is_tried_with_them() {
    let folder = canary("scheduler = \"fair\"", "scheduler = \"muqss\"\nrq_sharing = \"smt\"");
    let args = ["compare", "canary.toml", "--replicates", "1", "--scheduler", "muqss"];
    assert!(folder.succeed(&args).contains("Not run, so not tested"));
    let shared = folder.succeed(&[&args[..], &["--set", "rq-sharing=smt"]].concat());
    assert!(!shared.contains("Not run"), "{shared}");
}

#[test]
fn a_claim_about_a_scheduler_that_is_none_is_refused() {
    canary("\"fair\"", "\"fairr\"").refused(
        &["compare", "canary.toml", "--check"],
        "canary.toml: `claim[0].scheduler`: \"fairr\" is not one of cfs, eevdf",
    );
}

#[test]
fn a_claim_about_sensors_that_are_none_is_refused() {
    canary("\"fair\"", "\"fair\"\nminus = { sensors = \"eyes\" }").refused(
        &["compare", "canary.toml", "--check"],
        "canary.toml: `claim[0].sensors`: \"eyes\" is not one of d7, xinuse",
    );
}
