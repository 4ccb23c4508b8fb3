//! Mistakes in scenarios: one sentence with file, line and field, and nothing is written.

use crate::harness::Folder;

const GOOD: &str = include_str!("good.toml");

/// Asserts how both verbs refuse the good scenario with one piece of it replaced.
#[track_caller]
fn refused(from: &str, to: &str, sentence: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    let folder = Folder::new();
    folder.write("it.toml", GOOD.replace(from, to));
    let files = ["--json", "r.json", "--csv", "r.csv", "--page", "r.html"];
    folder.refused(&[&["compare", "it.toml"], &files[..]].concat(), sentence);
    folder.refused(&["simulate", "it.toml", "--json", "r.json", "-o", "r.ektrace"], sentence);
}

#[test]
fn the_scenario_without_a_mistake_runs() {
    let folder = Folder::new();
    folder.write("it.toml", GOOD);
    folder.succeed(&["compare", "it.toml"]);
    folder.succeed(&["simulate", "it.toml"]);
}

#[test]
fn unknown_fields_are_refused() {
    refused("cores = 1", "core = 1", "it.toml:8: `machine.core` is not a field here");
    refused("limit_s = 5", "limit_s = 5\nseeds = 1", "it.toml:12: `run.seeds` is not a field here");
    refused("[machine]", "[machines]", "it.toml:6: `machines` is not a field here");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let work = "it.toml:17: `foreground[0].phases[0].repeat.phases[0].compute.work_us`: expected a";
    for number in ["-500", "0", "1e300", "nan", "inf", "99999999999999999999", "\"many\"", "[]"] {
        refused("work_us = 500", &format!("work_us = {number}"), work);
    }
    let times = "it.toml:17: `foreground[0].phases[0].repeat.times`: expected a";
    for number in ["-1", "0", "9223372036854775807", "1.5"] {
        refused("times = 20", &format!("times = {number}"), times);
    }
    for number in ["-1", "0", "1e9", "inf"] {
        let expected = "it.toml:11: `run.limit_s`: expected a number";
        refused("limit_s = 5", &format!("limit_s = {number}"), expected);
    }
}

#[test]
fn an_unknown_cpu_is_refused_with_those_there_are() {
    let sentence = "it.toml: `cpu`: found CPU name `xeon-gold-9999`, expected one of cascade-lake";
    refused("xeon-gold-6130", "xeon-gold-9999", sentence);
    refused(
        "xeon-gold-6130",
        "xeon-gold-5120",
        "it.toml: `cpu`: CPU xeon-gold-5120: a run needs turbo for 3 to 12 active cores",
    );
    refused("xeon-gold-6130", "none.toml", "it.toml: `cpu`: reading none.toml: No such file");
}

#[test]
fn too_many_tasks_and_cpus_are_refused() {
    let threads = "it.toml:15: `foreground[0].threads`: expected a number from 1 to 65536";
    refused("threads = 2", "threads = 100000000", threads);
    refused("threads = 2", "threads = 0", threads);
    refused(
        "threads = 2",
        "threads = 65536\ninstances = 65536",
        "it.toml:15: `foreground[0].threads`: expected at most 65536 threads",
    );
    let cores = "it.toml:8: `machine.cores`: expected a whole number from 1 to 1024";
    refused("cores = 1", "cores = 4000000000", cores);
    refused("cores = 1", "cores = 1025", cores);
}

#[test]
fn threads_that_would_wait_for_ever_are_refused() {
    refused(
        "{ barrier = \"end\" }",
        "{ first = [{ barrier = \"end\" }] }",
        "it.toml:18: `foreground[0].phases[1].first[0].barrier`: expected all 2 threads",
    );
    refused(
        "{ barrier = \"end\" }",
        "{ first = [{ wait = \"a\" }, { wake = \"b\" }] }, \
         { others = [{ wait = \"b\" }, { wake = \"a\" }] }",
        "it.toml:18: `foreground[0].phases[1].first[0].wait`: expected enough wakes",
    );
    refused(
        "{ barrier = \"end\" }",
        "{ lock = \"l\" }, { barrier = \"end\" }, { unlock = \"l\" }",
        "it.toml:18: `foreground[0].phases[",
    );
}

#[test]
fn threads_that_take_two_locks_in_opposite_order_are_refused() {
    let take = |one: &str, other: &str| {
        format!(
            "[{{ lock = \"{one}\" }}, {{ compute = {{ work_us = 9 }} }}, {{ lock = \"{other}\" }}, \
             {{ unlock = \"{other}\" }}, {{ unlock = \"{one}\" }}]"
        )
    };
    refused(
        "{ barrier = \"end\" }",
        &format!("{{ first = {} }}, {{ others = {} }}", take("a", "b"), take("b", "a")),
        "it.toml:18: `foreground[0].phases[1].first[2].lock`: expected a lock that is given back",
    );
}

#[test]
fn loops_without_bound_or_work_are_refused() {
    let depth = 20_000;
    let deep = "{ repeat = { times = 1, phases = [".repeat(depth)
        + "{ barrier = \"end\" }"
        + &"] } }".repeat(depth);
    refused("{ barrier = \"end\" }", &deep, "it.toml:18: this is not TOML: cannot recurse further");
    let body = "forever = [{ compute = { work_us = 700, class = \"scalar\" } }]";
    let variants = "forever = { variants = 16, phases = [{ sleep = { us = 9 } }] }";
    let place = "it.toml:26: `background[0].application[0].phases[0].forever";
    refused(body, variants, &format!("{place}.variants`: expected `forever = […]`, a list"));
    refused(body, "forever = []", &format!("{place}`: expected at least one phase"));
    refused(
        body,
        "forever = [{ wake = \"s\" }]",
        &format!("{place}`: expected a compute or sleep"),
    );
}

#[test]
fn a_program_that_never_works_is_refused_when_it_runs() {
    let folder = Folder::new();
    let idle = "{ repeat = { times = 1000000000, phases = [{ wake = \"s\" }] } }";
    folder.write("it.toml", GOOD.replace("{ barrier = \"end\" }", idle));
    let flags = ["--scheduler", "fair", "--background", "sse4", "--jobs", "1", "--json", "r.json"];
    let args = [&["compare", "it.toml"], &flags[..]].concat();
    folder.refused(&args, "it.toml: fair with victim beside sse4, seed 1: thread victim/0 runs");
    folder.refused(
        &["simulate", "it.toml", "-o", "r.ektrace"],
        "it.toml: thread victim/0 runs through",
    );
}

#[test]
fn a_newer_schema_is_refused_by_name() {
    let sentence = "it.toml:1: `schema` is 2, expected at most 1; use a newer Evenkeel";
    refused("schema = 1", "schema = 2", sentence);
    refused("schema = 1\n", "", "it.toml:1: `schema`: expected the version of the format");
}

#[test]
fn names_that_a_terminal_or_page_would_obey_are_refused() {
    let sentence = "it.toml:14: `foreground[0].name`: expected a name of 1 to 64 letters";
    for name in ["\\u001b[2J", "<script>alert(1)</script>", "", "a,b", "a\\nb", &"x".repeat(65)] {
        refused("\"victim\"", &format!("\"{name}\""), sentence);
    }
}

#[test]
fn what_is_quoted_from_a_file_cannot_command_the_terminal() {
    // The field's name is the file's own text.
    refused("limit_s = 5", "\"a\\u001b[2J\" = 1", "it.toml:11: `run.a");
}

#[test]
fn what_is_no_text_is_refused() {
    let folder = Folder::new();
    folder.write("junk.toml", [b'\n', 0xff, 0x00, 0x1b, 0x80, b'=', b'[']);
    folder.write("cut.toml", &GOOD[..GOOD.len() - 20]);
    folder.write("empty.toml", "");
    std::fs::create_dir(folder.path("folder.toml")).unwrap();
    let cases = [
        ("junk.toml", "junk.toml:2: not UTF-8\n"),
        ("cut.toml", "cut.toml:32: this is not TOML: "),
        ("empty.toml", "empty.toml:1: `schema`: expected the version of the format"),
        ("folder.toml", "reading folder.toml: is a directory"),
        ("none.toml", "reading none.toml: No such file"),
        ("none", "no scenario \"none\": expected a file or one of parsec-x265, "),
    ];
    for (file, sentence) in cases {
        folder.refused(&["compare", file, "--json", "r.json"], sentence);
        folder.refused(&["simulate", file, "--json", "r.json"], sentence);
    }
}

#[test]
fn a_file_larger_than_any_scenario_is_refused() {
    let folder = Folder::new();
    std::fs::File::create(folder.path("huge.toml")).unwrap().set_len(17 << 20).unwrap();
    for file in ["huge.toml", "/dev/zero"] {
        let ran = folder.run(&["compare", file]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert_eq!(ran.stderr, format!("evenkeel: {file}: larger than 16 MiB\n"));
    }
}
