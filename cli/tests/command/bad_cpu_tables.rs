//! Mistakes in CPU tables of the user.

use crate::harness::{Folder, repository};

fn small() -> String {
    std::fs::read_to_string(repository("cpu-model/tests/reader/small.toml")).unwrap()
}

/// Asserts how every way into a CPU table refuses the small one with one piece of it replaced.
#[track_caller]
fn refused(from: &str, to: &str, sentence: &str) {
    let table = small();
    assert_eq!(table.matches(from).count(), 1, "{from}");
    let folder = Folder::new();
    folder.write("cpu.toml", table.replace(from, to));
    folder.refused(&["cpu", "check", "cpu.toml"], sentence);
    folder.refused(&["cpu", "show", "cpu.toml"], sentence);
    let flag = format!("--cpu: {sentence}");
    folder.refused(&["compare", "half-load", "--cpu", "cpu.toml", "--json", "r.json"], &flag);
}

#[test]
fn a_table_without_a_mistake_is_used() {
    let folder = Folder::new();
    folder.write("cpu.toml", small());
    let said = folder.succeed(&["cpu", "check", "cpu.toml"]);
    assert_eq!(said, "cpu.toml: complete, a run can use it\n");
    let flags = ["--background", "avx2", "--scheduler", "fair", "--replicates", "1"];
    let table = folder.succeed(
        &[&["compare", "parsec-synthetic-two-cores", "--cpu", "cpu.toml"], &flags[..]].concat(),
    );
    assert!(table.contains("parsec-synthetic-two-cores on cpu.toml"), "{table}");
}

#[test]
fn frequencies_that_rise_with_the_level_or_the_cores_are_refused() {
    let by_level = "cpu.toml:20: turbo.rows[0]: found 3100 MHz at level slow above 3000 MHz at";
    refused("slow = 2500", "slow = 3100", by_level);
    refused("fast = 2800", "fast = 3100", "cpu.toml:21: turbo.rows[1]");
    refused("cores = [3, 4]", "cores = [2, 4]", "cpu.toml:21: turbo.rows[1].cores");
}

#[test]
fn unknown_fields_bad_numbers_and_too_many_levels_are_refused() {
    refused("threads = 2", "treads = 2", "cpu.toml:10: machine.treads: found an unknown field");
    refused("ref_mhz = 2000", "ref_mhz = -1", "cpu.toml:11: machine.ref_mhz: found -1, expected");
    refused("ref_mhz = 2000", "ref_mhz = 1e300", "cpu.toml:11: machine.ref_mhz: found ");
    refused(
        "[\"fast\", \"slow\"]",
        "[\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\"]",
        "cpu.toml:15: levels.names: found 7",
    );
}

#[test]
fn a_newer_schema_is_refused_by_name() {
    refused("schema = 1", "schema = 2", "cpu.toml:1: schema: found 2, expected at most 1");
}

#[test]
fn what_is_no_table_is_refused() {
    let folder = Folder::new();
    folder.write("junk.toml", [0xff, 0xfe, 0x00, 0x1b]);
    folder.write("empty.toml", "");
    folder.refused(&["cpu", "check", "junk.toml"], "junk.toml:1: not UTF-8\n");
    folder.refused(&["cpu", "check", "empty.toml"], "empty.toml:1: schema: found nothing");
    folder.refused(&["cpu", "check", "."], "reading .: is a directory");
    folder.refused(&["cpu", "check", "none.toml"], "reading none.toml: No such file");
    folder.refused(&["cpu", "show", "./none"], "reading ./none: No such file");
}
