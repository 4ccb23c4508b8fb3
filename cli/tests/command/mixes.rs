//! Random program mixes on the command line.

use serde_json::Value;

use crate::harness::Folder;

fn mixes(flags: &[&str]) -> Value {
    let args = [&["mixes", "--replicates", "1", "--json", "-"], flags].concat();
    serde_json::from_str(&Folder::new().succeed(&args)).unwrap()
}

#[test]
fn programs_of_mixes_end_and_every_summary_is_of_all_mixes() {
    let result = mixes(&["--mixes", "12", "--scheduler", "fair,fair-isolation"]);
    assert_eq!((&result["schema"], &result["half"]), (&1.into(), &"development".into()));
    assert_eq!(result["mixes"].as_array().unwrap().len(), 12);
    let summaries = result["summaries"].as_array().unwrap();
    let named: Vec<(&str, &str)> = summaries
        .iter()
        .map(|one| (one["scheduler"].as_str().unwrap(), one["background"].as_str().unwrap()))
        .collect();
    let [fair, isolation] = ["fair", "fair-isolation"];
    assert_eq!(
        named,
        [(fair, "avx2"), (fair, "avx512"), (isolation, "avx2"), (isolation, "avx512")]
    );
    for one in summaries {
        assert_eq!((&one["mixes"], &one["unfinished"]), (&12.into(), &0.into()));
        assert_eq!(one["less_first"].is_null(), one["scheduler"] == fair);
        for figure in ["isolation_slowdown_pct", "slowdown_only_pct", "culprit_rate_pct"] {
            assert!(one[figure]["mean"].is_f64() && one[figure]["ci95_half_width"].is_f64());
        }
    }
}

/// AVX-512 slows more than AVX2, and compensated programs are slowed less.
#[test]
fn figures_react_to_what_they_are_of() {
    let result = mixes(&["--mixes", "12", "--scheduler", "fair,fair-isolation"]);
    let mean =
        |index: usize, figure: &str| result["summaries"][index][figure]["mean"].as_f64().unwrap();
    let slowdown = |index| mean(index, "isolation_slowdown_pct");
    assert!(slowdown(0) > 2.0 && slowdown(1) > 1.5 * slowdown(0));
    assert!(slowdown(2) < slowdown(0) && slowdown(3) < slowdown(1));
    for figure in ["throughput_pct", "culprit_rate_pct"] {
        assert!(mean(1, figure) < mean(0, figure) && mean(0, figure) < 100.0, "{figure}");
    }
    let less = result["summaries"][3]["less_first"]["isolation_slowdown_pct"]["mean"].as_f64();
    assert!((less.unwrap() - (slowdown(3) - slowdown(1))).abs() < 1e-9);
}

#[test]
fn a_mix_that_is_shown_is_the_scenario_that_was_run() {
    let folder = Folder::new();
    let shown = folder.succeed(&["mixes", "--show", "2"]);
    assert_eq!(shown, scenarios::mix(2));
    folder.write("mix.toml", shown);
    let flags = ["--scheduler", "fair", "--replicates", "1", "--json", "-"];
    let compared = folder.succeed(&[&["compare", "mix.toml"], &flags[..]].concat());
    let compared: Value = serde_json::from_str(&compared).unwrap();
    let result = mixes(&["--mixes", "2", "--scheduler", "fair"]);
    assert_eq!(result["mixes"][1]["seed"], 2);
    for (run, of_mix) in [(1, 0), (2, 1)] {
        let (ours, theirs) = (&compared["runs"][run], &result["mixes"][1]["runs"][of_mix]);
        assert_eq!(ours["background"], theirs["background"]);
        assert_eq!(ours["isolation_slowdown_pct"], theirs["isolation_slowdown_pct"]);
    }
}

#[test]
fn number_of_jobs_changes_no_byte_of_mixes() {
    let folder = Folder::new();
    let flags = ["--mixes", "4", "--replicates", "2", "--scheduler", "fair,fair-isolation"];
    let results = |jobs: &str, json: &str| {
        let with = ["--sensors", "d7,rules", "--jobs", jobs, "--json", json];
        folder.succeed(&[&["mixes"], &flags[..], &with[..]].concat())
    };
    assert_eq!(results("1", "-"), results("3", "-"));
    let table = results("1", "r.json");
    assert_eq!(table, results("2", "r.json"));
    assert!(table.contains("fair-isolation  rules") && !table.contains("fair            rules"));
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
}

#[test]
fn mistakes_are_refused_before_any_mix_runs() {
    let folder = Folder::new();
    for (flag, value) in [("--mixes", "0"), ("--mixes", "10001"), ("--replicates", "0")] {
        folder.refused_flag(&["mixes", flag, value], &[flag, value]);
    }
    folder.refused_flag(&["mixes", "--show", "first"], &["--show", "first"]);
    folder.refused_flag(&["mixes", "--show", "1", "--held-out"], &["--show", "--held-out"]);
    let schedulers = "--scheduler: \"nope\" is not one of cfs, eevdf, muqss, fair";
    folder.refused(&["mixes", "--scheduler", "fair,nope"], schedulers);
    // The other half is not looked at for a mistake either.
    folder.refused(&["mixes", "--held-out", "--scheduler", "nope"], schedulers);
    folder.refused(&["mixes", "--set", "share=1"], "mix 1: there is no parameter `share`");
    std::fs::create_dir(folder.path("taken")).unwrap();
    folder.refused(&["mixes", "--json", "taken"], "writing taken: is a directory");
}
