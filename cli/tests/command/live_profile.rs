//! Profiling this machine. Needs root and a kernel with BTF, and reports a skip without them.

use serde_json::Value;

use crate::harness::recording;

/// Two loops that share a CPU.
const LOOPS: &str = "taskset -c 0 timeout 1.5 sh -c 'while :; do :; done' & \
                     taskset -c 0 timeout 1.5 sh -c 'while :; do :; done'; wait; exit 3";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// What one loop waited for another at most, in a profile by process.
fn longest_wait_s(found: &Value) -> f64 {
    let is_loop = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("sh/"));
    let losses = found["losses"].as_array().unwrap().iter();
    let between = losses.filter(|it| {
        is_loop(&it["victim"]) && is_loop(&it["culprit"]) && it["victim"] != it["culprit"]
    });
    between.map(|it| number(&it["waited_s"])).fold(0.0, f64::max)
}

#[test]
fn two_programs_that_share_a_cpu_wait_for_each_other() {
    let Some(folder) = recording() else { return };
    let args = ["profile", "--by", "process", "--record", "p.ektrace", "--json", "live.json"];
    let ran = folder.run(&[&args[..], &["--", "sh", "-c", LOOPS]].concat());
    assert_eq!(ran.code, 3, "the exit code of the command: {}", ran.stderr);
    assert!(ran.stderr.contains("switches a second this costs about"), "{}", ran.stderr);
    assert!(ran.stdout.contains("of the time for which it was runnable."), "{}", ran.stdout);
    let live: Value = serde_json::from_str(&folder.read("live.json")).unwrap();
    assert!(longest_wait_s(&live) > 0.2, "{live}");

    let again = ["profile", "--replay", "p.ektrace", "--by", "process", "--json", "-"];
    let replayed: Value = serde_json::from_str(&folder.succeed(&again)).unwrap();
    for part in ["victims", "losses", "estimator", "cpu", "length_s"] {
        assert_eq!(live[part], replayed[part], "{part}");
    }
    let threads = ["profile", "--replay", "p.ektrace", "--by", "thread", "--json", "-"];
    let threads: Value = serde_json::from_str(&folder.succeed(&threads)).unwrap();
    assert!(number(&threads["victims"].as_array().unwrap().len().into()) > 2.0);
}

#[test]
fn pauses_of_this_machine_are_recorded_and_replayed() {
    let Some(folder) = recording() else { return };
    let args = ["profile", "-a", "--pauses", "--rate", "40", "--duration", "3"];
    let outputs = ["--record", "p.ektrace", "--json", "live.json"];
    let ran = folder.run(&[&args[..], &outputs].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("each core stands still for about"), "{}", ran.stderr);
    let live: Value = serde_json::from_str(&folder.read("live.json")).unwrap();
    assert_eq!(live["estimator"], "clock");
    let samples = &live["samples"];
    let all: f64 = ["taken", "idle"].iter().map(|it| number(&samples[it])).sum();
    assert!(all > 20.0, "{samples}");
    assert!(number(&samples["paused_ns"]) > 0.7e6 * all && number(&live["paused_pct"]) < 20.0);
    let replay = ["profile", "--replay", "p.ektrace", "--json", "-"];
    let replayed: Value = serde_json::from_str(&folder.succeed(&replay)).unwrap();
    for part in ["victims", "losses", "estimator", "samples", "nothing_to_gain"] {
        assert_eq!(live[part], replayed[part], "{part}");
    }
    let compare = ["compare", "--trace", "p.ektrace", "--cpu", "xeon-gold-6130"];
    let refused = folder.run(&compare);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("record without pauses"), "{}", refused.stderr);
    let mixed = "--json -: the command writes to standard output, too; name a file instead";
    folder.refused(&["profile", "--json", "-", "--", "true"], mixed);
    folder.refused(&["profile", "-a", "--rate", "9"], "--rate: on this machine it needs --pauses");
}

#[test]
fn a_process_and_a_control_group_that_do_not_exist_are_refused() {
    let Some(folder) = recording() else { return };
    let no_pid = "--pid 4194303: no such process";
    folder.refused(&["profile", "-p", "4194303"], no_pid);
    let no_group = "--cgroup /no/such.slice: no such control group; `systemd-cgls` lists them";
    folder.refused(&["profile", "--cgroup", "/no/such.slice"], no_group);
}

#[test]
fn profiles_of_machines_become_one_and_a_machine_counts_once() {
    let Some(folder) = recording() else { return };
    for name in ["a.json", "b.json"] {
        let ran = folder.run(&["profile", "-a", "--duration", "0.5", "--json", name]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let merge = ["profile", "merge", "a.json", "b.json"];
    let text = folder.succeed(&[&merge[..], &["--parquet", "fleet.parquet"]].concat());
    assert!(text.starts_with("2 machines, ") && text.contains("costs others most"), "{text}");
    assert!(folder.path("fleet.parquet").metadata().unwrap().len() > 500);
    std::fs::create_dir(folder.path("c")).unwrap();
    folder.write("c/a.json", folder.read("a.json"));
    let twice = "two files are called a: a machine would count twice; give each file another name";
    folder.refused(&["profile", "merge", "a.json", "c/a.json"], twice);
    folder.write("e.json", "[]");
    let none = "e.json: no result of `evenkeel profile --json`: invalid length 0, expected a \
                profile, which is an object";
    folder.refused(&["profile", "merge", "e.json"], none);
    folder.write("d.json", "{\"schema\":1}");
    folder.refused(
        &["profile", "merge", "d.json"],
        "d.json: no result of `evenkeel profile --json`: missing field `estimator` at line 1 column 12",
    );
}

/// Counts to a number in the shell, which takes as many instructions each time.
fn counting(to: u32) -> String {
    format!("i=0; while [ $i -lt {to} ]; do i=$((i+1)); done")
}

#[test]
fn the_same_work_with_less_code_gains_cpu_time() {
    let Some(folder) = recording() else { return };
    let (short, long) = (counting(50_000), counting(500_000));
    let outputs = ["--json", "g.json", "--page", "g.html", "--record", "first.ektrace"];
    let flags = [&["profile", "--narrow", &long], &outputs[..]].concat();
    let ran = folder.run(&[&flags[..], &["--", "sh", "-c", &short]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("Run ").count(), 6, "{}", ran.stderr);
    assert!(ran.stdout.contains("3 runs of each, in turn"), "{}", ran.stdout);
    let found: Value = serde_json::from_str(&folder.read("g.json")).unwrap();
    let gain = &found["gain"];
    assert_eq!(gain["narrow"].as_str(), Some(long.as_str()));
    // Ten times the work; a shell that starts is part of both.
    let ratio = number(&gain["cpu_time"]["ratio"]["value"]);
    assert!((3.0..15.0).contains(&ratio), "{gain}");
    let gain_s = &gain["gain_s"];
    let difference = number(&gain["cpu_time"]["narrow_s"]) - number(&gain["cpu_time"]["wide_s"]);
    assert!((number(&gain_s["value"]) - difference).abs() < 1e-6, "{gain}");
    assert!(folder.path("first.ektrace").metadata().unwrap().len() > 100);
    assert!(folder.read("g.html").contains("narrow/wide"));
}

#[test]
fn commands_that_fail_have_no_figures_and_their_exit_code() {
    let Some(folder) = recording() else { return };
    let compare = |narrow: &str, command: &str| {
        let args = ["profile", "--json", "g.json", "--narrow", narrow, "--", "sh", "-c", command];
        let ran = folder.run(&args);
        let found: Value = serde_json::from_str(&folder.read("g.json")).expect(&ran.stderr);
        assert!(found["gain"].get("gain_s").is_none(), "{found}");
        (ran.code, found["gain"]["failed"].as_str().unwrap().to_owned())
    };
    let (code, why) = compare("no-such-command-of-evenkeel", "true");
    assert_eq!(code, 127);
    assert!(why.contains("Run 2 of 6") && why.contains("sh found no such command"), "{why}");
    let (code, why) = compare("true", "exit 7");
    assert_eq!(code, 7);
    assert!(why.contains("Run 1 of 6, CMD: ended with exit code 7"), "{why}");
    let (code, why) = compare("kill -9 $$", "true");
    assert_eq!(code, 137);
    assert!(why.contains("ended by signal 9"), "{why}");
}

#[test]
fn a_comparison_that_cannot_be_made_is_refused_before_a_command_runs() {
    let Some(folder) = recording() else { return };
    folder.refused_flag(&["profile", "--narrow", "true"], &["CMD"]);
    for flag in [&["--duration", "2"][..], &["-a"], &["--trace", "x.ektrace"]] {
        let command = ["--", "touch", "ran"];
        let words = [&["profile", "--narrow", "true"], flag, &command[..]].concat();
        folder.refused_flag(&words, &["cannot be used with"]);
    }
    let with = |flag: &[&'static str]| -> Vec<&'static str> {
        [&["profile"], flag, &["--", "touch", "ran"]].concat()
    };
    folder.refused(&with(&["--narrow", " "]), "--narrow: expected a command for sh");
    let one = with(&["--narrow", "true", "--runs", "1"]);
    folder.refused(&one, "--runs: expected 2 to 100 runs of each command with --narrow");
    folder.refused(&with(&["--runs", "3"]), "--runs: on this machine it needs --narrow");
    let class = with(&["--narrow", "true", "--class", "x=avx2-heavy"]);
    folder.refused(&class, "--class: with --narrow a program has one name and two classes");
    std::fs::create_dir(folder.path("taken")).unwrap();
    folder.refused(&with(&["--narrow", "true", "--json", "taken"]), "writing taken");
}
