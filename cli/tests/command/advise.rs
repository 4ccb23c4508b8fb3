//! `evenkeel advise` as its users meet the program. `scheduler/tests/lab/advise.py` has `--live`.

use serde_json::Value;

use crate::harness::Folder;

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
