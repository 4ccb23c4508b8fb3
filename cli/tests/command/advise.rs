//! `evenkeel advise` as its users meet the program. `scheduler/tests/lab/advise.py` has `--live`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

#[cfg(feature = "scx")]
use crate::harness::expect;
use crate::harness::{Folder, repository, skipped};

/// Threads of scalar code, and threads with bursts of 512-bit code, on four cores.
const MIX: &str = r#"
schema = 1
name = "mix"
description = "A mix."
source = "our choice"
cpu = "xeon-gold-6130"

[machine]
packages = 1
cores = 4
threads_per_core = 1

[run]
foreground = "each"
limit_s = 30
replicates = 1

[[foreground]]
name = "plain"
threads = 6
phases = [{ repeat = { times = 300, phases = [{ compute = { work_us = 5000 } }] } }]

[[background]]
name = "sse4"
control = true
classes = { kernel = "scalar" }
[[background.application]]
name = "heavy"
threads = 6
phases = [{ forever = [
    { compute = { work_us = 50, class = "@kernel" } },
    { system_call = true },
    { compute = { work_us = 2000 } },
] }]

[[background]]
name = "avx512"
like = "sse4"
classes = { kernel = "avx512-heavy" }
"#;

/// A recording of openssl, xz and x265 on two CPUs, with registers.
const RECORDED: &str = "trace/fixtures/openssl_xz_x265.ektrace";

fn recorded() -> String {
    repository(RECORDED).to_str().unwrap().to_owned()
}

/// The advice for that recording on a busy package.
fn advised(folder: &Folder, more: &[&str]) -> Value {
    let recorded = recorded();
    let words = ["advise", "--trace", &recorded, "--cpu", "xeon-gold-6130", "--json", "-"];
    let seeds = ["--replicates", "6", "--set", "turbo-cores=16"];
    serde_json::from_str(&folder.succeed(&[&words[..], &seeds, more].concat())).unwrap()
}

fn named<'a>(advice: &'a Value, name: &str) -> &'a Value {
    let actions = advice["actions"].as_array().unwrap();
    actions.iter().find(|action| action["name"] == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn a_recording_becomes_actions_with_gains_and_commands() {
    let folder = Folder::new();
    let advice = advised(&folder, &[]);
    let actions = advice["actions"].as_array().unwrap();
    // Their registers show it.
    assert_eq!(advice["wide_programs"].as_array().unwrap(), &["openssl", "x265"]);
    assert!(actions.iter().any(|action| action["kind"] == "nothing"));
    let confined = named(&advice, "wide programs on 1 core");
    let change = |of: &str, end: &str| confined["changes"][of][end].as_f64().unwrap();
    // xz has the other CPU for itself.
    assert!(change("victims_pct", "low") > 1.0 && change("wide_pct", "high") < -1.0, "{confined}");
    assert!(change("all_pct", "value") < change("victims_pct", "value"), "{confined}");
    assert_eq!(confined["verdict"], "trades");
    assert_eq!(confined["commands"][1], "taskset -c 1 openssl ARGUMENTS");
    let even = named(&advice, "scx_evenkeel --mode even");
    assert_eq!(
        even["commands"][0],
        "sudo scx_evenkeel --mode even --cpu xeon-gold-6130 --sensors rules --rule \
         'openssl=avx512-heavy' --rule 'x265=avx512-heavy'"
    );
    assert_eq!(even["changes"]["all_pct"]["samples"], 6);
    assert_eq!(advice, advised(&folder, &[]));
}

/// The kernel scheduler's own source is what the advice is computed with.
#[cfg(feature = "scx")]
#[test]
fn the_text_is_as_expected() {
    let folder = Folder::new();
    let name = "recording.ektrace";
    std::fs::copy(recorded(), folder.path(name)).unwrap();
    let class = ["--class", "openssl=avx512-heavy", "--cpu", "xeon-gold-6130"];
    let words = ["advise", "--trace", name, "--replicates", "6", "--set", "turbo-cores=16"];
    expect("advise.txt", &folder.succeed(&[&words[..], &class].concat()));
}

#[test]
fn a_program_without_wide_code_is_judged_by_its_speedup_alone() {
    let folder = Folder::new();
    let class = ["--class", "openssl=avx512-heavy"];
    let advice = advised(&folder, &class);
    let narrow = named(&advice, "openssl without 512-bit code");
    assert!(narrow["verdict"].is_null() && narrow["changes"].is_null(), "{narrow}");
    let at = narrow["break_even"]["speedup"]["value"].as_f64().unwrap();
    assert!(at > 1.0, "{narrow}");
    let all = |factor: f64| {
        let speedup = format!("open*={factor}");
        let advice = advised(&folder, &[&class[..], &["--speedup", &speedup]].concat());
        let narrow = named(&advice, "openssl without 512-bit code");
        narrow["changes"]["all_pct"]["value"].as_f64().unwrap()
    };
    let (below, near, above) = (all(1.0), all(at), all(2.0 * at));
    assert!(below > near && near > above, "{below} {near} {above}");
    assert!(near.abs() < 1.5 && below > 2.0 && above < -2.0, "{below} {near} {above}");
}

#[test]
fn where_no_code_lowers_the_clock_the_advice_is_to_do_nothing() {
    let folder = Folder::new();
    let advise =
        |words: &[&str]| folder.succeed(&[&["advise", "--trace", &recorded()], words].concat());
    let class = ["--cpu", "xeon-gold-6130", "--class", "openssl=avx2-light"];
    let text = advise(&class);
    assert!(text.contains("Do nothing: no recorded program runs code that lowers"), "{text}");
    let registers = advise(&["--cpu", "xeon-gold-6130", "--replicates", "6"]);
    assert!(registers.contains("openssl=avx512-heavy, x265=avx512-heavy"), "{registers}");
    let json = advise(&[&class[..], &["--json", "-"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["actions"].as_array().unwrap().len(), 1);
}

/// Whether a command that sh runs succeeds.
fn run_by_sh(folder: &Path, command: &str) -> bool {
    let sh = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    sh.status.success()
}

#[test]
fn every_command_of_the_scheduler_has_arguments_that_the_scheduler_knows() {
    let evenkeel = Path::new(env!("CARGO_BIN_EXE_evenkeel"));
    let scheduler = evenkeel.with_file_name("scx_evenkeel");
    if !scheduler.exists() {
        skipped("scx_evenkeel is not built");
        return;
    }
    let folder = Folder::new();
    let advice = advised(&folder, &["--class", "openssl=avx512-heavy"]);
    let actions = advice["actions"].as_array().unwrap();
    let commands = actions.iter().flat_map(|action| action["commands"].as_array().unwrap());
    let mut checked = 0;
    for command in commands.map(|command| command.as_str().unwrap()) {
        let ours = [("sudo scx_evenkeel", scheduler.as_path()), ("evenkeel exec", evenkeel)];
        let Some((start, program)) = ours.into_iter().find(|(start, _)| command.starts_with(start))
        else {
            continue;
        };
        // clap reads the words before --help first, and refuses unknown ones.
        let (rest, verb) = (&command[start.len()..], start.strip_prefix("evenkeel ").unwrap_or(""));
        let rest = rest.split(" -- ").next().unwrap();
        let run = |rest: &str| {
            let words = format!("'{}' {verb} {rest} --help", program.display());
            run_by_sh(&folder.path(""), &words)
        };
        assert!(run(rest), "{command}");
        assert!(!run(&format!("{rest} --unknown")), "{command}");
        checked += 1;
    }
    assert_eq!(checked, 6);
}

#[test]
fn switching_finds_what_whole_runs_find() {
    let folder = Folder::new();
    folder.write("mix.toml", MIX);
    let advise = ["advise", "mix.toml", "--replicates", "6", "--scheduler", "fair-specialize"];
    let text = folder.succeed(&advise);
    let json = folder.succeed(&[&advise[..], &["--json", "-"]].concat());
    let found: Value = serde_json::from_str(&json).unwrap();
    let change = |way: &str| found[way]["change_pct"]["value"].as_f64().unwrap();
    let (switched, whole) = (change("switched"), change("whole_runs"));
    assert!(whole > 1.0 && (switched - whole).abs() < 1.0, "{switched} {whole}");
    assert_eq!(found["whole_runs"]["verdict"], "pays");
    assert!(text.contains(&format!("It pays: {whole:.1} % more work is done")), "{text}");
    assert_eq!(found["work"], "mix, plain beside avx512");
    assert!(found["switched"]["pairs"].as_array().unwrap().len() > 20);
    assert_eq!(json, folder.succeed(&[&advise[..], &["--json", "-"]].concat()));
}

#[test]
fn what_cannot_be_advised_is_a_sentence() {
    let folder = Folder::new();
    folder.write("mix.toml", MIX);
    let says = |words: &[&str], expected: &str| {
        let ran = folder.run(&[&["advise"], words].concat());
        assert_eq!(ran.code, 2, "{words:?}");
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
        assert_eq!((ran.stderr.lines().count(), ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    };
    says(&[], "name a scenario or a recording (--trace), or measure this machine (--live)");
    says(&["mix.toml", "--scheduler", "even"], "even has no core specialization to switch");
    says(&["mix.toml", "--background", "avx9"], "backgrounds: avx512");
    says(&["mix.toml", "--program", "other"], "programs: plain");
    says(&["--trace", "none.ektrace"], "none.ektrace");
    let recorded = recorded();
    let trace = ["--trace", &recorded, "--cpu", "xeon-gold-6130"];
    let of_trace = |words: &[&str], expected: &str| says(&[&trace[..], words].concat(), expected);
    of_trace(&["--pairs", "9"], "--pairs: name the --scheduler");
    of_trace(&["--class", "xx=amx"], "fits no task");
    of_trace(&["--speedup", "xz=1.1"], "fits no program with wide code; these are openssl, x265");
    of_trace(&["--speedup", "x265=fast"], "expected GLOB=FACTOR");
    says(&["mix.toml", "--speedup", "plain=2"], "--speedup is for advice from a recording");
    says(&["--live", "--cpu", "xeon-gold-6130"], "--live measures");
    says(&["--live", "--progress", "echo none"], "printed \"none\", and not one number");
    says(&["--live", "--progress", "echo 1; exit 7"], "ended with exit status: 7");
    says(&["--live", "--progress", "echo 1"], "no scx_evenkeel runs here");
}

#[test]
fn work_that_is_too_short_to_switch_is_judged_by_whole_runs() {
    let folder = Folder::new();
    folder.write("mix.toml", MIX.replace("times = 300", "times = 2"));
    let text = folder.succeed(&["advise", "mix.toml", "--replicates", "6"]);
    assert!(text.contains("Not switched off and on: 0 pairs of windows had work"), "{text}");
    assert!(text.contains("whole runs with and without"), "{text}");
}
