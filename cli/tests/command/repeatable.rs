//! Results depend on the command and the seed, on nothing else.

use crate::harness::Folder;

/// Everything that a comparison with these flags writes and prints.
fn results(flags: &[&str]) -> Vec<(String, Vec<u8>)> {
    let folder = Folder::new();
    let files = ["--csv", "r.csv", "--page", "r.html", "--page", "r.svg", "--json", "r.json"];
    let table = folder
        .succeed(&[&["compare", "half-load", "--replicates", "3"], &files[..], flags].concat());
    let name = |path: std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut results: Vec<_> =
        folder.files().into_iter().map(|(p, bytes)| (name(p), bytes)).collect();
    assert_eq!(
        results.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["r.csv", "r.html", "r.json", "r.svg"]
    );
    results.push(("table".to_owned(), table.into_bytes()));
    results
}

#[test]
fn number_of_jobs_changes_no_byte() {
    let one = results(&["--jobs", "1"]);
    for jobs in [&["--jobs", "2"][..], &["--jobs=5"], &[]] {
        for ((name, expected), (_, found)) in one.iter().zip(results(jobs)) {
            assert!(*expected == found, "{name} with {jobs:?}");
        }
    }
}

#[test]
fn json_on_standard_output_is_the_file() {
    let folder = Folder::new();
    let args = ["compare", "half-load", "--scheduler", "fair", "--json"];
    let printed = folder.succeed(&[&args[..], &["-", "--jobs", "5"]].concat());
    assert_eq!(printed, folder.succeed(&[&args[..], &["-", "--jobs", "1"]].concat()));
    folder.succeed(&[&args[..], &["r.json"]].concat());
    assert_eq!(printed.replace("--json -", "--json r.json"), folder.read("r.json"));
}

#[test]
fn another_seed_gives_another_result() {
    let folder = Folder::new();
    let run = |seed| {
        let flags = ["--seed", seed, "--json", "r.json", "-o", "r.ektrace"];
        folder.succeed(&[&["simulate", "light512"], &flags[..]].concat());
        (
            std::fs::read(folder.path("r.json")).unwrap(),
            std::fs::read(folder.path("r.ektrace")).unwrap(),
        )
    };
    let (metrics, history) = run("1");
    assert!((metrics.clone(), history.clone()) == run("1"));
    let (other_metrics, other_history) = run("2");
    assert!(metrics != other_metrics && history != other_history);
}

#[test]
fn progress_and_colour_stay_off_what_is_no_terminal() {
    let ran = Folder::new().run(&["compare", "light512", "--replicates", "1"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 120), "{}", ran.stdout);
}
