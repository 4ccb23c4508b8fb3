//! The reader of CPU tables: accepted files, refused files and messages.

mod numbers;
mod timing;

use cpu_model::{CpuTable, CpuTableError, TurboMode};

const SMALL: &str = include_str!("small.toml");

/// The message about the small table with one of its pieces replaced.
fn message(piece: &str, replacement: &str) -> String {
    assert_eq!(SMALL.matches(piece).count(), 1, "{piece} must occur once");
    let text = SMALL.replace(piece, replacement);
    CpuTable::parse(&text, "small.toml").unwrap_err().to_string()
}

#[test]
fn the_small_table_is_complete_and_means_what_it_says() {
    let table = CpuTable::parse(SMALL, "small.toml").unwrap();
    assert_eq!(table.missing(), [""; 0]);
    let model = table.model(TurboMode::On).unwrap();
    assert_eq!((model.cpus(), model.turbo.khz(0, 1)), (8, 2_500_000));
    assert_eq!(model.license.hold_ns[1], 670_000);
    assert_eq!(model.transition_cost_ns(0, 1, true, false), 11_125);
    assert_eq!(model.transition_cost_ns(0, 1, false, true), 11_500);
    assert_eq!(table.model(TurboMode::Off).unwrap().turbo.khz(0, 1), 2_000_000);
}

#[test]
fn text_that_is_not_a_table_is_refused_with_its_line() {
    let cases = [
        ("packages = 1", "packages = ", "small.toml:8: TOML syntax: "),
        ("cores = 4", "packages = 4", "small.toml:9: TOML syntax: duplicate key"),
    ];
    for (piece, replacement, expected) in cases {
        let message = message(piece, replacement);
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let empty = CpuTable::parse("", "empty.toml").unwrap_err().to_string();
    assert_eq!(empty, "empty.toml:1: schema: found nothing, expected schema = 1");
    let huge = CpuTable::parse(&"#".repeat((1 << 20) + 1), "huge.toml").unwrap_err().to_string();
    assert_eq!(huge, "huge.toml:1: the whole file: found 1048577 bytes, expected at most 1048576");
}

#[test]
fn a_newer_schema_is_refused_by_name_before_its_fields_are_looked_at() {
    let text = SMALL.replace("schema = 1", "quantum = true\nschema = 2");
    let error = CpuTable::parse(&text, "small.toml").unwrap_err();
    let expected =
        CpuTableError::NewerSchema { file: "small.toml".to_owned(), line: 2, found: 2, newest: 1 };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "small.toml:2: schema: found 2, expected at most 1, the newest schema that this version \
         reads"
    );
    assert_eq!(
        message("schema = 1", "schema = 0"),
        "small.toml:1: schema: found 0, expected a whole number from 1 to 4294967295"
    );
}

/// Piece of the small table, its replacement, and the whole message.
type Case = (&'static str, &'static str, &'static str);

fn check(cases: &[Case]) {
    for &(piece, replacement, expected) in cases {
        assert_eq!(message(piece, replacement), format!("small.toml:{expected}"));
    }
}

#[test]
fn unknown_and_absent_fields_are_refused() {
    check(&[
        (
            "threads = 2",
            "treads = 2",
            "10: machine.treads: found an unknown field, expected one of source, packages, cores, \
             threads, ref_mhz",
        ),
        (
            "threads = 2",
            "\"\" = 2",
            "10: machine.\"\": found an unknown field, expected one of source, packages, cores, \
             threads, ref_mhz",
        ),
        (
            "fast = 2000",
            "quick = 2000",
            "26: turbo_off.mhz.quick: found an unknown field, expected one of fast, slow",
        ),
        (
            "[license]\nsource = \"our choice\"",
            "[license]",
            "36: license.source: found nothing, expected the source of this section's values",
        ),
        (
            "class = \"avx2-light\", ",
            "",
            "32: demand.rules[0].class: found nothing, expected this field",
        ),
        ("name = \"small\"\n", "", "1: name: found nothing, expected this field"),
        (
            "\"Four cores, two levels\"",
            "\"\\u001b[31m\"",
            "3: description: found \"\\u{1b}[31m\", expected a string of 1 to 2000 bytes without \
             control characters",
        ),
        (
            "\"small\"",
            "\"Small!\"",
            "2: name: found \"Small!\", expected a name of 1 to 64 lower-case letters, digits, \
             dots and hyphens",
        ),
    ]);
}

#[test]
fn values_that_are_absent_are_missing_and_stop_a_run() {
    let cases = [
        ("threads = 2\n", "machine.threads"),
        (
            "    { cores = [3, 4], mhz = { fast = 2800, slow = 2000 } },\n",
            "turbo for 3 to 4 active cores",
        ),
        (", slow = 2500", "turbo.slow for 1 to 2 active cores"),
        ("    { class = \"avx2-light\", level = \"fast\" },\n", "demand.rules for avx2-light"),
        ("domain = \"core\"\n", "license.domain"),
        ("fall_halt_us = 10\n", "license.fall_halt_us"),
        ("hold_us = { slow = 670 }\n", "license.hold_us.slow"),
        ("[widen]\nsource = \"our choice\"\nus = 0\nhold_us = 0\n", "widen"),
    ];
    for (piece, missing) in cases {
        assert_eq!(SMALL.matches(piece).count(), 1, "{piece}");
        let table = CpuTable::parse(&SMALL.replace(piece, ""), "small.toml").unwrap();
        assert_eq!(table.missing(), [missing]);
        assert_eq!(
            table.model(TurboMode::On).unwrap_err().to_string(),
            format!("CPU small: a run needs {missing}, which the table does not give")
        );
    }
    let light_only = SMALL.replace("to = \"slow\"\n", "to = \"slow\"\nheavy = false\n");
    let table = CpuTable::parse(&light_only, "small.toml").unwrap();
    assert_eq!(table.missing(), ["rise fast -> slow (heavy)"]);
}

#[test]
fn the_example_of_the_readme_is_a_table() {
    let readme = include_str!("../../README.md");
    let example = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let table = CpuTable::parse(example, "README.md").unwrap();
    assert_eq!(table.transition_cost_ns(0, 2, true, false), Some(45_000));
}
