//! Whole outputs, as they stand in `expected/`.

use crate::harness::{Folder, expect, recorded, repository};

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

/// Everything that the examples name.
fn folder_of_a_newcomer() -> Folder {
    let folder = recorded();
    // Forms are told by content, so this text does for other files as well.
    for name in ["rec.txt", "recording.txt", "rec.data", "perf.data", "rec.pftrace", "rec.ekdec"] {
        let text = std::fs::read(repository("trace/fixtures/x265_avx512_xz.perf-script.zst"));
        folder.write(name, text.unwrap());
    }
    std::fs::copy(folder.path("rec.ektrace"), folder.path("recording.ektrace")).unwrap();
    for name in ["my-scenario.toml", "mine.toml"] {
        folder.write(name, include_str!("good.toml"));
    }
    folder
}

#[test]
fn help_of_every_verb_shows_examples_that_run_as_printed() {
    for verb in [
        &[][..],
        &["compare"],
        &["mixes"],
        &["simulate"],
        &["cpu"],
        &["trace"],
        &["trace", "import"],
    ] {
        let folder = folder_of_a_newcomer();
        if verb == ["cpu"] {
            let table = std::fs::read(repository("cpu-model/tables/xeon-gold-6130.toml")).unwrap();
            folder.write("mine.toml", table);
        }
        let help = folder.succeed(&[verb, &["--help"]].concat());
        let (_, examples) = help.split_once("Example").expect("help shows examples");
        let commands: Vec<&str> =
            examples.lines().filter_map(|line| line.trim().strip_prefix("evenkeel ")).collect();
        assert!(!commands.is_empty(), "{help}");
        // Recording needs rights, and programs to record; the tests of the recorder have both.
        for command in commands.iter().filter(|command| !command.starts_with("trace record")) {
            // The recording at hand is of x265 and not of prog1.
            let command = command.replace("prog1", "x265");
            let mut words: Vec<&str> =
                command.split(' ').map(|word| word.trim_matches('\'')).collect();
            if words[0] == "compare" {
                // One run of each is enough to see that the command works.
                words.extend(["--replicates", "1"]);
            }
            let ran = folder.run(&words);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
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
