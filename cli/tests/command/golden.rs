//! Whole outputs, as they stand in `expected/`.

use crate::harness::{Folder, expect};

const FAIR: &str = "fair,fair-relative,fair-isolation";

#[test]
fn table_of_a_comparison() {
    let args = ["compare", "light512", "--replicates", "1", "--scheduler", FAIR];
    expect("compare-light512.txt", &Folder::new().succeed(&args));
}

#[test]
fn history_and_metrics_of_one_run() {
    let table = Folder::new().succeed(&["simulate", "closed-form-isolation"]);
    expect("simulate-closed-form-isolation.txt", &table);
}

#[test]
fn list_of_cpu_tables() {
    expect("cpu-list.txt", &Folder::new().succeed(&["cpu", "list"]));
}

#[test]
fn cpu_table_with_its_sources() {
    expect("cpu-show.txt", &Folder::new().succeed(&["cpu", "show", "xeon-gold-6130"]));
}

#[test]
fn help_of_every_verb_shows_an_example_that_parses() {
    let folder = Folder::new();
    for verb in [&[][..], &["compare"], &["simulate"], &["cpu"], &["trace"]] {
        let help = folder.succeed(&[verb, &["--help"]].concat());
        let (_, examples) = help.split_once("Example").expect("help shows examples");
        let commands: Vec<&str> =
            examples.lines().filter_map(|line| line.trim().strip_prefix("evenkeel ")).collect();
        assert!(!commands.is_empty(), "{help}");
        for command in commands {
            let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
            // With --help at the end every flag is read and nothing runs.
            let ran = folder.run(&[&words[..], &["--help"]].concat());
            assert_eq!(ran.code, 0, "{command}\n{}", ran.stderr);
        }
    }
}

#[test]
fn version_names_the_commit() {
    let version = Folder::new().succeed(&["--version"]);
    let numbers = format!("evenkeel {} (", env!("CARGO_PKG_VERSION"));
    let commit = version.strip_prefix(&numbers).and_then(|rest| rest.strip_suffix(")\n"));
    let commit = commit.unwrap_or_else(|| panic!("{version}"));
    let is_hash = commit.len() == 12 && commit.chars().all(|c| c.is_ascii_hexdigit());
    let is_checkout = crate::harness::repository(".git").exists();
    assert!(if is_checkout { is_hash } else { is_hash || commit == "unknown" }, "{version}");
}
