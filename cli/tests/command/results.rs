//! The JSON that other programs read.

use serde_json::Value;

use crate::harness::Folder;

/// The kinds of values under a key.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Count,
    Number,
    /// Null without a value, such as the completion of work that never ends.
    NumberOrNull,
    List,
    /// The figure with its source; null where nothing was published.
    PublishedOrNull,
}
use Kind::{Count, List, Number, NumberOrNull, PublishedOrNull, Text};

const COMPARISON: &[(&str, Kind)] = &[
    ("schema", Count),
    ("evenkeel", Text),
    ("cpu", Text),
    ("scenario", Text),
    ("seed", Count),
    ("sensors", Text),
    ("calibrated_on", List),
    ("runs", List),
];
const RUN: &[(&str, Kind)] = &[
    ("scheduler", Text),
    ("background", Text),
    ("tasks", List),
    ("losses", List),
    ("isolation_slowdown_pct", Number),
    ("signed_slowdown_pct", Number),
    ("slowdown_only_pct", Number),
    ("remote_avx_overhead_pct", Number),
    ("cpu_time_vs_sse_pct", Number),
    ("unfairness", Number),
    ("jain", Number),
    ("published", PublishedOrNull),
    ("switches", Number),
    ("migrations", Number),
    ("simulated_s", Number),
    ("events", Number),
];
const TASK: &[(&str, Kind)] = &[
    ("name", Text),
    ("class", Text),
    ("cpu_time_s", Number),
    ("completion_s", NumberOrNull),
    ("progress", Number),
    ("slowdown", Number),
    ("remote_avx_overhead_pct", Number),
    ("slices", Number),
];
const LOSS: &[(&str, Kind)] =
    &[("victim", Text), ("culprit", Text), ("lost_s", Number), ("repaid_s", Number)];

#[track_caller]
fn has(object: &Value, keys: &[(&str, Kind)]) {
    for (key, kind) in keys {
        let value = object.get(key).unwrap_or_else(|| panic!("{key} is missing in {object}"));
        let fits = match kind {
            Text => value.is_string(),
            Count => value.is_u64(),
            Number => value.is_number(),
            NumberOrNull => value.is_number() || value.is_null(),
            List => value.is_array(),
            PublishedOrNull => value.is_null() || value["value"].is_number(),
        };
        assert!(fits, "{key} is {value}, expected {kind:?}");
    }
}

fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().unwrap()
}

fn compared(args: &[&str]) -> Value {
    let text = Folder::new().succeed(&[&["compare"], args, &["--json", "-"]].concat());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_documented_key_is_there_for_every_run() {
    let result = compared(&["light512", "--replicates", "2"]);
    has(&result, COMPARISON);
    assert_eq!((&result["schema"], &result["seed"]), (&1.into(), &1.into()));
    assert_eq!(result["evenkeel"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["cpu"], "xeon-gold-6130");
    assert_eq!((&result["scenario"], &result["sensors"]), (&"light512".into(), &"d7".into()));
    let runs = list(&result, "runs");
    assert_eq!(runs.len(), 7 * 2, "seven schedulers beside two backgrounds");
    for run in runs {
        has(run, RUN);
        assert!(!list(run, "tasks").is_empty());
        list(run, "tasks").iter().for_each(|task| has(task, TASK));
        list(run, "losses").iter().for_each(|loss| has(loss, LOSS));
    }
    assert!(runs.iter().any(|run| !list(run, "losses").is_empty()));
}

#[test]
fn classes_are_those_the_command_line_takes() {
    const CLASSES: [&str; 6] =
        ["scalar", "avx2-light", "avx2-heavy", "avx512-light", "avx512-heavy", "amx"];
    let result = compared(&["light512", "--replicates", "1", "--scheduler", "fair"]);
    let classes: Vec<&str> = list(&result, "runs")
        .iter()
        .flat_map(|run| list(run, "tasks"))
        .map(|task| task["class"].as_str().unwrap())
        .collect();
    assert!(classes.iter().all(|class| CLASSES.contains(class)), "{classes:?}");
    assert!(["scalar", "avx512-light", "avx512-heavy"].iter().all(|class| classes.contains(class)));
}

#[test]
fn published_figure_stands_beside_the_run_it_belongs_to() {
    let args = ["parsec-x265-two-cores", "--replicates", "1", "--scheduler", "fair-isolation"];
    let result = compared(&args);
    let published: Vec<&Value> = list(&result, "runs")
        .iter()
        .filter(|run| run["background"] == "avx512")
        .map(|run| &run["published"]["value"])
        .collect();
    assert_eq!(published, [&Value::from(2.5)]);
    assert!(list(&result, "calibrated_on").is_empty());
}

/// The sleep of the encoder's threads is set by this figure alone.
#[test]
fn encoders_built_for_sse4_alone_keep_as_many_cpus_busy_as_published() {
    let folder = Folder::new();
    folder.write(
        "alone.toml",
        "schema = 1\nbase = 'parsec-x265-builds'\nname = 'alone'\ndescription = 'x265 alone'\n\
         source = 'D 7.2'\n[[foreground]]\nname = 'sleeper'\nthreads = 1\n\
         phases = [{ sleep = { us = 2e6 } }]\n",
    );
    let args = ["simulate", "alone.toml", "--background", "sse4", "--scheduler", "cfs"];
    let text = folder.succeed(&[&args[..], &["--json", "-"]].concat());
    let result: Value = serde_json::from_str(&text).unwrap();
    let busy_ns: f64 = list(&result, "tasks")
        .iter()
        .filter(|task| task["application"] == "x265")
        .map(|task| task["cpu_time_ns"].as_f64().unwrap())
        .sum();
    let busy = busy_ns / result["simulated_ns"].as_f64().unwrap();
    assert!((busy - 24.6).abs() < 0.8, "{busy} CPUs busy, 24.6 published");
}

#[test]
fn a_mean_over_all_programs_is_not_held_against_one_program() {
    let args = ["--program", "ferret", "--replicates", "1", "--scheduler", "fair-isolation"];
    let result = compared(&[&["parsec-x265-two-cores"], &args[..]].concat());
    assert!(list(&result, "runs").iter().all(|run| run["published"].is_null()));
}

/// Traps of the C library spoil the sensor: the result must state that they were on.
#[test]
fn worse_sensors_refund_less_and_are_stated() {
    let args = ["parsec-synthetic-two-cores", "--replicates", "1", "--scheduler", "fair-isolation"];
    let (good, bad) =
        (compared(&args), compared(&[&args[..], &["--set", "evex-strings=true"]].concat()));
    let repaid = |result: &Value| -> f64 {
        let runs = list(result, "runs").iter();
        runs.flat_map(|run| list(run, "losses"))
            .map(|loss| loss["repaid_s"].as_f64().unwrap())
            .sum()
    };
    assert!(repaid(&good) > 0.0);
    assert_eq!(repaid(&bad), 0.0);
    let names = |result: &Value| {
        list(result, "parameters").iter().map(|p| p["name"].to_string()).collect::<Vec<_>>()
    };
    assert!(!names(&good).contains(&"\"EVEX string functions\"".to_owned()));
    assert!(names(&bad).contains(&"\"EVEX string functions\"".to_owned()));
}

/// Each setting changes the decisions of `even`, and the result states the setting.
#[test]
fn what_the_policy_gets_wrong_shows_and_is_stated() {
    let compared = |flags: &[&str]| {
        let args = ["parsec-synthetic-two-cores", "--replicates", "2", "--scheduler", "even"];
        compared(&[&args[..], flags].concat())
    };
    let exact = compared(&[]);
    for (setting, name, value) in [
        ("stall-error=-300", "stall error", "-300 permille"),
        ("table-error=-100", "table error", "-100 permille"),
        ("false-detections=50", "false detections", "50 permille"),
        ("deaf-cpus=500", "cores without sensors", "500 permille"),
        ("steady-cores=500", "cores that keep their clock", "500 permille"),
        ("smt-share=500", "SMT share believed", "625 permille"),
        ("believed-smt-share=900", "SMT share believed", "900 permille"),
    ] {
        let wrong = compared(&["--set", setting]);
        let is_stated = |result: &Value| {
            list(result, "parameters").iter().any(|it| it["name"] == name && it["value"] == value)
        };
        assert!(is_stated(&wrong) && !is_stated(&exact), "{setting}");
        assert_ne!(wrong["runs"], exact["runs"], "{setting}");
    }
}

#[test]
fn new_files_are_as_readable_as_the_umask_wants() {
    use std::os::unix::fs::PermissionsExt;
    for (umask, expected) in [("077", 0o600), ("022", 0o644), ("002", 0o664)] {
        let folder = Folder::new();
        let line = format!("umask {umask} && exec \"$0\" cpu list --json cpus.json");
        let program = env!("CARGO_BIN_EXE_evenkeel");
        let mut shell = std::process::Command::new("sh");
        let ran = shell.args(["-c", &line, program]).current_dir(folder.path("")).output().unwrap();
        assert!(ran.status.success());
        let mode = std::fs::metadata(folder.path("cpus.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected, "umask {umask}");
    }
}

#[test]
fn nothing_says_where_or_when_it_ran() {
    fn keys(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                found.push(key.clone());
                keys(value, found);
            }),
            _ => {}
        }
    }
    let folder = Folder::new();
    let text = folder.succeed(&["compare", "light512", "--replicates", "1", "--json", "-"]);
    let mut found = Vec::new();
    keys(&serde_json::from_str(&text).unwrap(), &mut found);
    for word in ["host", "date", "duration", "elapsed", "wall", "pid", "path", "user"] {
        assert!(!found.iter().any(|key| key.split('_').any(|part| part == word)), "{word}");
    }
    let program = env!("CARGO_BIN_EXE_evenkeel");
    let build = std::path::Path::new(program).parent().unwrap().to_str().unwrap();
    let place = folder.path("");
    assert!(!text.contains(build) && !text.contains(place.to_str().unwrap()));
}

#[test]
fn csv_has_a_row_for_every_task_of_the_json() {
    let folder = Folder::new();
    let files = ["--csv", "r.csv", "--json", "r.json"];
    folder.succeed(&[&["compare", "light512", "--replicates", "1"], &files[..]].concat());
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let tasks: usize = list(&result, "runs").iter().map(|run| list(run, "tasks").len()).sum();
    let csv = folder.read("r.csv");
    let columns = |line: &str| line.split(',').count();
    assert_eq!(csv.lines().count(), 1 + tasks);
    assert!(csv.lines().all(|line| columns(line) == columns(csv.lines().next().unwrap())));
}
