//! Mistakes in flags, and results that have nowhere to go.

use crate::harness::{Folder, recorded};

#[test]
fn unknown_names_are_refused_with_those_there_are() {
    let folder = Folder::new();
    let schedulers = "--scheduler: \"nope\" is not one of cfs, eevdf, muqss, fair";
    folder.refused(&["compare", "light512", "--scheduler", "fair,nope"], schedulers);
    folder.refused(&["simulate", "light512", "--scheduler", "nope"], schedulers);
    for (flag, known) in [("--background", "avx512, sse4"), ("--program", "light, plain")] {
        let sentence = format!("{flag}: \"nope\" is not one of {known}\n");
        folder.refused(&["compare", "light512", flag, "nope"], &sentence);
    }
    let backgrounds = "--background: \"nope\" is not one of sse4, avx512\n";
    folder.refused(&["simulate", "light512", "--background", "nope"], backgrounds);
    let programs = "--program: \"nope\" is not one of light, plain\n";
    folder.refused(&["simulate", "light512", "--program", "nope"], programs);
    let parameter = "light512.toml: there is no parameter `nope`";
    folder.refused(&["compare", "light512", "--set", "nope=1"], parameter);
    let cpus = "--cpu: found CPU name `nope`, expected one of cascade-lake, ";
    folder.refused(&["compare", "light512", "--cpu", "nope"], cpus);
    folder.refused(&["simulate", "light512", "--cpu", "nope"], cpus);
    folder.refused(&["cpu", "show", "nope"], "found CPU name `nope`, expected one of cascade-lake");
}

#[test]
fn values_out_of_range_are_refused() {
    let folder = Folder::new();
    for (flag, value) in [
        ("--replicates", "0"),
        ("--replicates", "10001"),
        ("--jobs", "0"),
        ("--jobs", "100000"),
        ("--hz", "0"),
        ("--smt-share", "0"),
        ("--smt-share", "1001"),
        ("--believed-smt-share", "0"),
        ("--steady-cores", "1001"),
        ("--counter-noise", "1001"),
        ("--stall-error", "-1001"),
        ("--table-error", "-501"),
        ("--false-detections", "1001"),
        ("--deaf-cpus", "1001"),
        ("--turbo-cores", "0"),
        ("--kernel", "5.0"),
        ("--sensors", "eyes"),
        ("--set", "share=nan"),
        ("--set", "share"),
        ("--seed", "18446744073709551616"),
        ("--seed", "-1"),
        ("--replicates", "-1"),
        ("--shown", "-1..2"),
    ] {
        folder.refused_flag(&["compare", "light512", flag, value], &[flag, value]);
    }
    for limit in ["0", "1e7", "nan", "inf", "-1", "-1s"] {
        let sentence = format!(
            "invalid value '{limit}' for '--limit <SECONDS>': expected 0.000001s to 1000000s \
             (--help says more)\n"
        );
        folder.refused(&["simulate", "light512", "--limit", limit], &sentence);
    }
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let folder = recorded();
    folder.refused_flag(&["compare", "light512", "--trace", "rec.ektrace"], &["--trace"]);
    for flag in ["--class=x=amx", "--marks=m.csv", "--cpus=4", "--recorded-mhz=2000"] {
        let (name, _) = flag.split_once('=').unwrap();
        folder.refused_flag(&["compare", "light512", flag], &[name, "SCENARIO"]);
    }
    folder
        .refused(&["compare"], "name a scenario (--list has them), or a recording with --trace\n");
    folder.refused(
        &["compare", "rec.ektrace"],
        "rec.ektrace: a recording, no scenario: say --trace rec.ektrace\n",
    );
    folder.refused_flag(&["nonsense"], &["nonsense"]);
}

#[test]
fn results_that_have_nowhere_to_go_are_refused_before_the_runs() {
    let folder = recorded();
    std::fs::create_dir(folder.path("taken")).unwrap();
    folder.write("file", "");
    for flag in ["--json", "--csv", "--page", "--svg"] {
        let args = |path| ["compare", "light512", flag, path];
        folder.refused(&args("taken"), "writing taken: is a directory");
        folder.refused(&args("file/r"), "writing file/r: ");
        folder.refused(&args("/proc/evenkeel/r"), "writing /proc/evenkeel/r: ");
    }
    for args in [
        &["simulate", "light512", "-o"][..],
        &["simulate", "light512", "--json"],
        &["trace", "export", "rec.ektrace", "-o"],
        &["trace", "scrub", "rec.ektrace", "-o"],
    ] {
        folder.refused(&[args, &["taken"]].concat(), "writing taken: ");
        folder.refused(&[args, &["file/r"]].concat(), "writing file/r: ");
    }
}

#[test]
fn an_error_names_the_file_that_was_asked_for_and_the_reason() {
    let folder = recorded();
    for args in [
        &["compare", "light512", "--json"][..],
        &["compare", "light512", "--perfetto"],
        &["simulate", "light512", "-o"],
        &["cpu", "list", "--json"],
        &["trace", "export", "rec.ektrace", "-o"],
        &["trace", "page", "rec.ektrace", "-o"],
        &["generate", "completions", "bash", "-o"],
    ] {
        let args = [args, &["/proc/evenkeel"]].concat();
        folder.refused(&args, "writing /proc/evenkeel: No such file or directory (os error 2)\n");
    }
}

#[test]
fn two_results_cannot_share_standard_output() {
    let folder = Folder::new();
    let sentence = "standard output (-) can take one of --json, --csv, --page, --svg\n";
    folder.refused(&["compare", "light512", "--json", "-", "--csv", "-"], sentence);
    let text = crate::harness::repository("trace/fixtures/x265_sse4_xz.perf-script.zst");
    folder.refused(
        &["trace", "import", text.to_str().unwrap(), "-o", "-", "--json", "-"],
        "standard output (-) can take one of --output, --json\n",
    );
}
