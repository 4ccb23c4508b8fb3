//! The shipped recording of x265 beside xz, from perf's text to the answer.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::{Folder, Ran, recorded, repository};

const X265: [&str; 4] = ["--trace", "rec.ektrace", "--class", "x265*=avx512-heavy"];

/// Tasks of `trace info`, without the summary above them.
fn tasks(folder: &Folder, file: &str) -> Vec<String> {
    let text = folder.succeed(&["trace", "info", file, "--top", "1000"]);
    text.split_once("\n\n").unwrap().1.lines().map(str::to_owned).collect()
}

fn json(folder: &Folder, flags: &[&str]) -> Value {
    let text = folder.succeed(&[&["compare"], &X265[..], flags, &["--json", "-"]].concat());
    serde_json::from_str(&text).unwrap()
}

fn run<'a>(result: &'a Value, scheduler: &str, background: &str) -> &'a Value {
    let mut runs = result["runs"].as_array().unwrap().iter();
    runs.find(|run| run["scheduler"] == scheduler && run["background"] == background).unwrap()
}

fn task<'a>(run: &'a Value, name: &str) -> &'a Value {
    run["tasks"].as_array().unwrap().iter().find(|task| task["name"] == name).unwrap()
}

#[test]
fn import_says_what_it_met() {
    let folder = Folder::new();
    for name in ["x265_avx512_xz", "x265_sse4_xz"] {
        let text = repository(&format!("trace/fixtures/{name}.perf-script.zst"));
        let args = ["trace", "import", text.to_str().unwrap(), "-o", "r.ektrace"];
        let said = folder.succeed(&args);
        assert!(said.contains(" switches on 2 CPUs in 8."), "{said}");
        assert!(said.contains("% of the time on CPUs was accounted to tasks"), "{said}");
    }
}

#[test]
fn validate_compares_with_a_model_and_fails_for_misses_only_when_asked_to() {
    let folder = Folder::new();
    let text = repository("trace/fixtures/x265_avx512_xz.perf-script.zst");
    folder.succeed(&["trace", "import", text.to_str().unwrap(), "-o", "r.ektrace"]);
    let said = folder.succeed(&["trace", "validate", "r.ektrace", "--json", "v.json"]);
    assert!(said.starts_with("r.ektrace: sound\n"), "{said}");
    assert!(said.contains(" tasks on 2 CPUs, replayed under eevdf at HZ 250."), "{said}");
    let result: Value = serde_json::from_str(&folder.read("v.json")).unwrap();
    let rows = result["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["program"] == "x265"), "{said}");
    let old =
        ["trace", "validate", "r.ektrace", "--scheduler", "cfs", "--check", "--json", "w.json"];
    let Ran { code, stderr, .. } = folder.run(&old);
    let misses = folder.read("w.json").matches("\"verdict\": \"miss\"").count();
    assert!(misses > 0, "CFS is not what recorded this");
    let sentence =
        format!("evenkeel: r.ektrace: {misses} figures of the model are not within tolerance\n");
    assert_eq!((code, stderr), (1, sentence));
}

#[test]
fn import_reads_standard_input_and_unpacked_text() {
    let packed =
        std::fs::read(repository("trace/fixtures/x265_avx512_xz.perf-script.zst")).unwrap();
    let folder = recorded();
    folder.write("rec.txt", zstd::decode_all(&packed[..]).unwrap());
    let args = ["trace", "import", "-", "-o", "from-stdin.ektrace"];
    let input = std::fs::File::open(folder.path("rec.txt")).unwrap();
    assert!(folder.command(&args).stdin(input).output().unwrap().status.success());
    let history = |name| std::fs::read(folder.path(name)).unwrap();
    assert!(history("from-stdin.ektrace") == history("rec.ektrace"));
}

#[test]
fn info_lists_who_ran_longest() {
    let folder = recorded();
    let tasks = tasks(&folder, "rec.ektrace");
    assert!(tasks[1].contains(" xz ") && tasks[2].contains(" xz "), "{tasks:#?}");
    assert!(tasks[3].contains(" x265 "), "{tasks:#?}");
    let short = folder.succeed(&["trace", "info", "rec.ektrace", "--top", "1"]);
    assert!(short.ends_with("more (--top)\n"), "{short}");
}

#[test]
fn exported_text_comes_back_with_equal_run_times() {
    let folder = recorded();
    folder.succeed(&["trace", "export", "rec.ektrace", "--format", "ftrace", "-o", "rec.txt"]);
    folder.succeed(&["trace", "import", "rec.txt", "-o", "again.ektrace"]);
    assert_eq!(tasks(&folder, "rec.ektrace"), tasks(&folder, "again.ektrace"));
}

#[test]
fn exported_protobuf_holds_the_names() {
    let folder = recorded();
    folder.succeed(&["trace", "export", "rec.ektrace", "-o", "rec.pftrace"]);
    let bytes = std::fs::read(folder.path("rec.pftrace")).unwrap();
    // Field 1 of a Perfetto trace, length-delimited: its first packet.
    assert_eq!(bytes[0], 0x0a);
    assert!(bytes.windows(4).any(|window| window == b"x265"));
}

#[test]
fn scrubbing_keeps_times_and_takes_names() {
    let folder = recorded();
    folder.succeed(&["trace", "scrub", "rec.ektrace", "--keep", "xz*", "-o", "clean.ektrace"]);
    let clean = tasks(&folder, "clean.ektrace");
    assert!(clean.iter().any(|line| line.contains(" xz ")));
    for name in ["x265", "cargo", "rustc", "mix1.sh"] {
        assert!(!clean.iter().any(|line| line.contains(name)), "{name}");
    }
    let run_times = |lines: &[String]| -> Vec<Vec<String>> {
        let fields =
            |line: &String| line.split_whitespace().rev().take(9).map(str::to_owned).collect();
        lines.iter().skip(1).map(fields).collect()
    };
    assert_eq!(run_times(&tasks(&folder, "rec.ektrace")), run_times(&clean));
}

#[test]
fn the_table_names_victim_and_culprit() {
    let folder = recorded();
    for cpus in [&[][..], &["--set", "cpus=1"]] {
        let flags = ["--scheduler", "eevdf,fair-isolation", "--replicates", "1"];
        let table = folder.succeed(&[&["compare"], &X265[..], &flags, cpus].concat());
        let row = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
        let victim: Vec<&str> = row("xz ").split_whitespace().collect();
        assert_eq!(victim[1], "scalar", "{table}");
        assert!(victim.contains(&"x265"), "{table}");
        let culprit: Vec<&str> = row("x265 (background)").split_whitespace().collect();
        assert!(culprit.contains(&"avx512-heavy"), "{table}");
        assert!(table.contains("A hypervisor stole 1.126 s"), "{table}");
    }
}

/// Text with single spaces, wherever a line is broken.
fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn it_is_said_what_wakes_and_frequencies_were_taken_for() {
    let folder = recorded();
    let info = folder.succeed(&["trace", "info", "rec.ektrace"]);
    let wakes = info.lines().find(|line| line.starts_with("  wake-ups: ")).unwrap();
    assert!(wakes.contains(" uncertain: no interrupts are recorded"), "{info}");
    let flags = ["--scheduler", "fair", "--replicates", "1"];
    let table = unbroken(&folder.succeed(&[&["compare"], &X265[..], &flags].concat()));
    assert!(table.contains(" uncertain and count as sleeps: the recording shows no interrupts"));
    assert!(table.contains("at 2800 MHz, assumed by default (--set recorded-mhz=MHZ changes it)."));
    let given = [&["compare"], &X265[..], &flags, &["--set", "recorded-mhz=2100"]].concat();
    assert!(unbroken(&folder.succeed(&given)).contains("at 2100 MHz (--set recorded-mhz)."));
}

/// Two virtual CPUs of a busy host lose more than two cores that have the package to themselves.
#[test]
fn a_recording_of_a_part_says_so_and_can_be_taken_for_a_part() {
    let folder = recorded();
    let flags = ["--scheduler", "fair", "--replicates", "1"];
    let table = unbroken(&folder.succeed(&[&["compare"], &X265[..], &flags].concat()));
    let alone = "Turbo: the 2 recorded cores are taken for all that are active, so that the clock \
                 falls from 3700 to 3500 MHz at most; --set turbo-cores=16 makes that 2800 to \
                 1900 MHz";
    assert!(table.contains(alone), "{table}");
    let slowdown = |flags: &[&str]| {
        run(&json(&folder, flags), "fair", "recorded")["isolation_slowdown_pct"].as_f64().unwrap()
    };
    let busy = [&flags[..], &["--set", "turbo-cores=16"]].concat();
    let overhead = |flags: &[&str]| {
        run(&json(&folder, flags), "fair", "recorded")["remote_avx_overhead_pct"].as_f64().unwrap()
    };
    assert!(overhead(&busy) > 3.0 * overhead(&flags));
    let answer = "On a package whose 16 cores are all busy it is ";
    let stated = format!("{answer}{:.1} % under fair.", slowdown(&busy));
    assert!(table.contains(&stated), "{stated}: {table}");
    let table = unbroken(&folder.succeed(&[&["compare"], &X265[..], &busy].concat()));
    assert!(table.contains("Turbo: as with 16 active cores, 2800 to 1900 MHz at most."), "{table}");
    assert!(!table.contains(answer), "{table}");
}

#[test]
fn the_control_does_the_work_that_was_recorded() {
    let folder = recorded();
    // At the frequency of two active cores of this CPU, so that CPU times compare as they are.
    let at_turbo = ["--set=recorded-mhz=3700", "--set=ideal=true"];
    let at_turbo = [&at_turbo[..], &["--scheduler", "fair", "--replicates", "1"]].concat();
    let result = json(&folder, &at_turbo);
    let text = repository("trace/fixtures/x265_avx512_xz.perf-script.zst");
    let args = ["trace", "import", text.to_str().unwrap(), "-o", "again.ektrace"];
    folder.succeed(&[&args[..], &["--json", "import.json"]].concat());
    let report: Value = serde_json::from_str(&folder.read("import.json")).unwrap();
    let mut recorded: BTreeMap<&str, f64> = BTreeMap::new();
    for task in report["tasks"].as_array().unwrap() {
        let ns = task["runtime_ns"].as_f64().unwrap();
        *recorded.entry(task["comm"].as_str().unwrap()).or_default() += ns / 1e9;
    }
    let control = run(&result, "fair", "scalar");
    for name in ["xz", "x265"] {
        let replayed = task(control, name)["cpu_time_s"].as_f64().unwrap();
        let off = replayed / recorded[name] - 1.0;
        assert!(off.abs() < 0.02, "{name}: {replayed} s replayed, {} s recorded", recorded[name]);
    }
}

#[test]
fn isolation_bills_the_culprit_and_repays_the_victim() {
    let folder = recorded();
    let result = json(&folder, &["--scheduler", "fair,fair-isolation", "--replicates", "2"]);
    let loss = |scheduler| {
        let losses = run(&result, scheduler, "recorded")["losses"].as_array().unwrap();
        let pair = losses.iter().find(|loss| loss["victim"] == "xz" && loss["culprit"] == "x265");
        let pair = pair.unwrap_or_else(|| panic!("{losses:?}"));
        (pair["lost_s"].as_f64().unwrap(), pair["repaid_s"].as_f64().unwrap())
    };
    let (lost, repaid) = loss("fair");
    assert!(lost > 0.0 && repaid == 0.0, "{lost} {repaid}");
    let (lost, repaid) = loss("fair-isolation");
    assert!(repaid > 0.5 * lost && repaid < 1.2 * lost, "{lost} {repaid}");
}

#[test]
fn a_simulated_history_travels_like_a_recorded_one() {
    let folder = Folder::new();
    folder.succeed(&["simulate", "light512", "-o", "run.ektrace"]);
    assert_eq!(folder.succeed(&["trace", "validate", "run.ektrace"]), "run.ektrace: sound\n");
    folder.succeed(&["trace", "export", "run.ektrace", "-o", "run.pftrace"]);
    let Ran { code, stdout, stderr } = folder.run(&["compare", "--trace", "run.ektrace"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "the history knows its classes");
    let said = unbroken(&stdout);
    assert!(said.contains(" on CPUs, at the recorded frequencies."), "{stdout}");
    assert!(said.contains("the recording tells them apart."), "{stdout}");
}
