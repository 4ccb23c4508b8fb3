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
        ("--set", "hz=0"),
        ("--set", "smt-share=0"),
        ("--set", "smt-share=1001"),
        ("--set", "believed-smt-share=0"),
        ("--set", "steady-cores=1001"),
        ("--set", "counter-noise=1001"),
        ("--set", "stall-error=-1001"),
        ("--set", "table-error=-501"),
        ("--set", "false-detections=1001"),
        ("--set", "deaf-cpus=1001"),
        ("--set", "turbo-cores=0"),
        ("--set", "kernel=5.0"),
        ("--set", "ideal=maybe"),
        ("--sensors", "eyes"),
        ("--set", "share=nan"),
        ("--set", "share"),
        ("--seed", "18446744073709551616"),
        ("--seed", "-1"),
        ("--replicates", "-1"),
        ("--set", "shown=-1..2"),
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
fn an_option_that_became_a_setting_is_refused_with_its_new_name() {
    let folder = Folder::new();
    for (old, sentence) in [
        (
            &["compare", "light512", "--table-error", "5"][..],
            "`--table-error 5` is now `--set table-error=5`",
        ),
        (&["mixes", "--stall-error", "-5"], "`--stall-error -5` is now `--set stall-error=-5`"),
        (&["simulate", "light512", "--hz=100"], "`--hz 100` is now `--set hz=100`"),
        (&["compare", "light512", "--ideal"], "`--ideal` is now `--set ideal=true`"),
        (&["compare", "light512", "--svg", "a.svg"], "`--svg a.svg` is now `--page a.svg`"),
        (&["compare", "--list"], "`--list` is now `evenkeel scenarios`"),
    ] {
        folder.refused(old, sentence);
    }
    folder.refused_flag(
        &["compare", "light512", "--set", "svg=a.svg"],
        &["`--set svg=a.svg` is now `--page a.svg`"],
    );
    folder.refused_flag(
        &["compare", "light512", "--set", "perfetto=a"],
        &["`--set perfetto=a` is now `--page FILE.pftrace`"],
    );
    // Elsewhere these options are none, or mean something else.
    folder.refused_flag(&["doctor", "--hz", "100"], &["unexpected argument '--hz'"]);
}

#[test]
fn a_scheduler_that_was_renamed_is_refused_with_its_new_name() {
    let folder = Folder::new();
    for source in ["", "scx:"] {
        let old = format!("{source}even-without-airing");
        let sentence =
            format!("--scheduler: `{old}` is now `{source}even-without-forced-switch-out`");
        folder.refused(&["compare", "light512", "--scheduler", &old], &sentence);
    }
}

/// A reader sees all options of the verb without scrolling; the rest is one list.
#[test]
fn comparing_has_at_most_sixteen_options_and_all_others_are_listed() {
    let folder = Folder::new();
    let help = folder.succeed(&["compare", "--help"]);
    let is_option = |line: &&str| line.starts_with("      --") || line.starts_with("  -");
    let options: Vec<&str> = help.lines().filter(is_option).collect();
    assert!(options.len() <= 16, "{options:#?}");
    for heading in ["Work:", "Simulation:", "Results:"] {
        assert!(help.lines().any(|line| line == heading), "{help}");
    }
    assert!(help.contains("--help-experiments"), "{help}");
    let lists = [&["compare"][..], &["mixes"], &["simulate"], &["simulate", "light512"]]
        .map(|verb| folder.succeed(&[verb, &["--help-experiments"]].concat()));
    assert!(lists.iter().all(|list| *list == lists[0]));
    for key in ["hz=", "smt-share=", "table-error=", "lazy-binding=", "marks=", "shown="] {
        assert!(lists[0].contains(&format!("\n  {key}")), "{key}\n{}", lists[0]);
    }
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let folder = recorded();
    folder.refused_flag(&["compare", "light512", "--trace", "rec.ektrace"], &["--trace"]);
    folder.refused_flag(&["compare", "light512", "--class=x=amx"], &["--class", "SCENARIO"]);
    for setting in ["marks=m.csv", "cpus=4", "recorded-mhz=2000"] {
        let (key, _) = setting.split_once('=').unwrap();
        let only = format!("--set {key}: only a recording (--trace) is replayed\n");
        folder.refused(&["compare", "light512", "--set", setting], &only);
        let only = format!("--set {key}: only `compare --trace` replays a recording\n");
        folder.refused(&["mixes", "--set", setting], &only);
        folder.refused(&["simulate", "light512", "--set", setting], &only);
    }
    let only = "--set shown: only `compare` writes that\n";
    folder.refused(&["simulate", "light512", "--set", "shown=0..1"], only);
    let none = "--set length: a recording has no parameters (--help-experiments lists the other";
    folder.refused(
        &["compare", "--trace", "rec.ektrace", "--class", "x265*=amx", "--set", "length=2"],
        none,
    );
    for key in ["warm-up-ms", "arrival-window-ms"] {
        let setting = format!("{key}=5");
        let command = ["compare", "--trace", "rec.ektrace", "--class", "x265*=amx"];
        folder.refused(
            &[&command[..], &["--set", &setting]].concat(),
            "--set warm-up-ms, arrival-window-ms: a recording says when threads begin\n",
        );
    }
    let sentence = "name a scenario (evenkeel scenarios lists them), or a recording with --trace\n";
    folder.refused(&["compare"], sentence);
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
    for flag in ["--json=", "--csv=", "--page="] {
        let refused = |path: &str, sentence: &str| {
            folder.refused(&["compare", "light512", &format!("{flag}{path}")], sentence);
        };
        refused("taken", "writing taken: is a directory");
        for file in ["r", "r.svg", "r.pftrace"] {
            refused(&format!("file/{file}"), &format!("writing file/{file}: "));
            let hidden = format!("/proc/evenkeel/{file}");
            refused(&hidden, &format!("writing {hidden}: "));
        }
    }
    let two = ["compare", "light512", "--page", "a.svg", "--page", "b.svg"];
    folder.refused(&two, "--page: a.svg and b.svg hold the same\n");
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
        &["simulate", "light512", "-o"],
        &["cpu", "list", "--json"],
        &["trace", "export", "rec.ektrace", "-o"],
        &["trace", "page", "rec.ektrace", "-o"],
        &["generate", "completions", "bash", "-o"],
    ] {
        let args = [args, &["/proc/evenkeel"]].concat();
        folder.refused(&args, "writing /proc/evenkeel: No such file or directory (os error 2)\n");
    }
    folder.refused(
        &["compare", "light512", "--page", "/proc/evenkeel.pftrace"],
        "writing /proc/evenkeel.pftrace: No such file or directory (os error 2)\n",
    );
}

#[test]
fn two_results_cannot_share_standard_output() {
    let folder = Folder::new();
    let sentence = "standard output (-) can take one of --json, --csv, --page\n";
    folder.refused(&["compare", "light512", "--json", "-", "--csv", "-"], sentence);
    let text = crate::harness::repository("trace/fixtures/x265_sse4_xz.perf-script.zst");
    folder.refused(
        &["trace", "import", text.to_str().unwrap(), "-o", "-", "--json", "-"],
        "standard output (-) can take one of --output, --json\n",
    );
}
