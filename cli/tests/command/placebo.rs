//! A placebo, classes without any effect, slows no task: else the control differs in more.

use serde_json::Value;

use crate::harness::Folder;

/// Ends of bursts fall on whole nanoseconds.
const ROUNDING_PCT: f64 = 0.01;
const SCHEDULERS: &str = "cfs,eevdf,muqss,fair,fair-relative,fair-isolation,even";

/// Signed slowdowns of all runs beside a background, and twice their intervals.
fn slowdowns(folder: &Folder, scenario: &str, more: &[&str]) -> Vec<(String, f64, f64)> {
    let args = ["compare", scenario, "--set", "placebo=true", "--json", "-"];
    let result: Value = serde_json::from_str(&folder.succeed(&[&args[..], more].concat())).unwrap();
    let runs = result["runs"].as_array().unwrap().iter().filter(|run| run["control"] == false);
    runs.map(|run| {
        let number = |key: &str| run[key].as_f64().unwrap();
        let name = format!("{scenario}, {}, {}", run["scheduler"], run["background"]);
        (name, number("signed_slowdown_pct"), 2.0 * number("signed_ci95_half_width_pct"))
    })
    .collect()
}

#[test]
fn a_placebo_slows_no_program_in_any_scenario_under_any_scheduler() {
    for scenario in scenarios::names() {
        let mut more = vec!["--scheduler", SCHEDULERS, "--replicates", "4"];
        if scenario.starts_with("parsec") {
            more.extend(["--program", "bodytrack"]);
        }
        for (name, found, bound) in slowdowns(&Folder::new(), scenario, &more) {
            assert!(found.abs() <= bound + ROUNDING_PCT, "{name}: {found} %, by chance {bound} %");
        }
    }
}

/// The control's threads never wait, those of the case wait for each other.
const UNLIKE: &str = r#"
schema = 1
name = "unlike"
description = "A control that is written apart from its case."
source = "our choice"
cpu = "xeon-gold-6130"

[machine]
packages = 1
cores = 2
threads_per_core = 2

[run]
replicates = 6

[[foreground]]
name = "plain"
threads = 4
phases = [{ repeat = { times = 60, phases = [{ compute = { work_us = 5000, spread_pct = 10 } }] } }]

[[background]]
name = "sse4"
control = true
[[background.application]]
name = "encoder"
threads = 4
phases = [{ forever = [{ compute = { work_us = 300, spread_pct = 10 } }] }]

[[background]]
name = "avx2"
[[background.application]]
name = "encoder"
threads = 4
phases = [{ forever = [
    { compute = { work_us = 300, spread_pct = 80, class = "avx2-heavy" } },
    { barrier = "frame" },
] }]
"#;

#[test]
fn a_control_that_differs_in_more_than_classes_is_said_and_its_placebo_has_an_effect() {
    let folder = Folder::new();
    folder.write("unlike.toml", UNLIKE);
    let more = ["--scheduler", "fair"];
    let found = slowdowns(&folder, "unlike.toml", &more);
    assert!(found.iter().all(|(_, found, bound)| found.abs() > *bound), "{found:?}");
    let table = folder.succeed(&[&["compare", "unlike.toml"], &more[..]].concat());
    assert!(table.contains("may differ in more than classes"), "{table}");
    let claim = "[[claim]]\nscheduler = \"fair\"\nbackground = \"avx2\"\n\
                 metric = \"jain\"\nmin = 0\nsource = \"our choice\"\n";
    folder.write("unlike.toml", format!("{UNLIKE}\n{claim}"));
    let ran = folder.run(&["compare", "unlike.toml", "--scheduler", "fair", "--check"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("a placebo changes completions by"), "{}", ran.stderr);
}
