//! Studies on the command line.

use serde_json::Value;

use crate::harness::Folder;

const STUDY: &str = r#"
schema = 1
title = "A study"
description = "Of a test."
judged = "even"
schedulers = ["fair", "fair-isolation", "even"]
ablations = ["even-without-swaps"]
beside = ["fair", "even"]
replicates = 2

[mixes]
count = 2
[mixes.goals]
slowdown_max_pct = { avx2 = 100, avx512 = 100 }
throughput_at_least_of = "fair"

[[work]]
name = "half"
compare = "half-load"
[work.goals]
slowdown_max_pct = { avx512 = 0.01 }

[[work]]
name = "constant"
compare = "pingpong"
varies = false

[[variant]]
name = "names only"
flags = "--sensors rules"
allowance = 100
works = ["half"]
replicates = 1

[[variant]]
name = "a core without sensors"
flags = "--deaf-cpus 250"
allowance = 2
"#;

fn study() -> Folder {
    let folder = Folder::new();
    folder.write("study.toml", STUDY);
    folder
}

const FEW: [&str; 6] = ["evaluate", "study.toml", "--mixes", "2", "--replicates", "1"];

#[test]
fn a_study_runs_every_work_and_variant_and_judges_them() {
    let folder = study();
    let files = ["--page", "out/p.html", "--csv", "out/c.csv", "--json", "out/r.json"];
    let table = folder.succeed(&[&FEW[..], &files].concat());
    assert!(table.starts_with("even reaches "), "{table}");
    assert!(table.contains("MISSED") && table.contains("names only"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    let result: Value = serde_json::from_str(&folder.read("out/r.json")).unwrap();
    let works = result["works"].as_array().unwrap();
    let named: Vec<(&str, Option<&str>)> = works
        .iter()
        .map(|work| (work["name"].as_str().unwrap(), work["variant"]["name"].as_str()))
        .collect();
    let [only, core] = ["names only", "a core without sensors"].map(Some);
    let all = [("half", None), ("constant", None), ("mixes", None), ("half", only), ("half", core)];
    assert_eq!(named[..5], all);
    assert_eq!(named[5..], [("mixes", core)]);
    let half = &works[0];
    // What nobody who never waits can be given back, places that are changed give.
    let slowdown = |scheduler: &str| {
        let summaries = half["summaries"].as_array().unwrap().iter();
        let mut of = summaries.filter(|one| one["scheduler"] == scheduler);
        let one = of.find(|one| one["background"] == "avx512").unwrap();
        one["isolation_slowdown_pct"]["mean"].as_f64().unwrap()
    };
    assert!(slowdown("fair") > 40.0 && slowdown("fair-isolation") > 40.0);
    assert!(slowdown("even") < 2.0);
    assert_eq!(half["goals"][0]["holds"], false);
    assert_eq!(half["ablations"][0]["scheduler"], "even-without-swaps");
    let less = &half["ablations"].as_array().unwrap().last().unwrap()["less_first"];
    assert!(less["isolation_slowdown_pct"]["mean"].as_f64().unwrap() > 0.0, "{less}");
    // A variant runs less, and its goals are wider.
    assert_eq!(works[3]["summaries"].as_array().unwrap().len(), 2 * 2);
    assert_eq!(works[3]["goals"][0]["bound"], 1.0);
    assert_eq!(folder.read("out/c.csv").lines().count(), 1 + 8 + 4 + 16 + 4 + 4 + 8);
    assert!(folder.read("out/p.html").contains("a core without sensors"));
}

#[test]
fn the_figures_are_those_of_the_work_run_alone() {
    let folder = study();
    let json = [&FEW[..], &["--json", "-"]].concat();
    let result: Value = serde_json::from_str(&folder.succeed(&json)).unwrap();
    let alone = ["compare", "half-load", "--deaf-cpus", "250", "--scheduler", "fair,even"];
    let alone = folder.succeed(&[&alone[..], &["--replicates", "1", "--json", "-"]].concat());
    let alone: Value = serde_json::from_str(&alone).unwrap();
    let works = result["works"].as_array().unwrap();
    let core = |work: &&Value| work["variant"]["name"] == "a core without sensors";
    let ours = works.iter().filter(core).find(|work| work["name"] == "half").unwrap();
    for one in ours["summaries"].as_array().unwrap() {
        let same = |run: &&Value| {
            run["scheduler"] == one["scheduler"] && run["background"] == one["background"]
        };
        let run = alone["runs"].as_array().unwrap().iter().find(same).unwrap();
        assert_eq!(run["isolation_slowdown_pct"], one["isolation_slowdown_pct"]["mean"]);
    }
}

#[test]
fn number_of_jobs_changes_no_byte_of_a_study() {
    let folder = study();
    let page = |jobs: &str, page: &str| {
        folder.succeed(&[&FEW[..], &["--jobs", jobs, "--csv", page]].concat());
        folder.read(page)
    };
    assert_eq!(page("1", "a.csv"), page("3", "b.csv"));
}

#[test]
fn a_missed_goal_fails_only_when_asked() {
    let folder = study();
    assert_eq!(folder.run(&FEW).code, 0);
    let checked = folder.run(&[&FEW[..], &["--check"]].concat());
    assert_eq!(checked.code, 2);
    assert!(checked.stderr.contains("goals are missed"), "{}", checked.stderr);
}

#[test]
fn mistakes_in_a_study_are_refused_before_anything_runs() {
    let folder = Folder::new();
    let refused = |from: &str, to: &str, sentence: &str| {
        assert!(STUDY.contains(from), "{from}");
        folder.write("study.toml", STUDY.replace(from, to));
        folder.refused(&["evaluate", "study.toml"], sentence);
    };
    refused("schema = 1", "schema = 2", "study.toml: `schema`: expected 1");
    refused("judged = \"even\"", "judge = 3", "study.toml:5: unknown field `judge`");
    refused("judged = \"even\"", "judged = \"cfs\"", "study.toml: `judged`: \"cfs\" is not in");
    refused("beside = [\"fair\", ", "beside = [\"cfs\", ", "study.toml: `beside`: \"cfs\" is not");
    refused(
        "beside = [\"fair\", \"even\"]",
        "beside = [\"fair\"]",
        "study.toml: `beside`: \"even\"",
    );
    refused("\"fair-isolation\", ", "\"nope\", ", "half: --scheduler: \"nope\" is not one of");
    refused("count = 2", "count = 0", "study.toml: `mixes.count`: expected 1 to 10000");
    refused(
        "name = \"constant\"",
        "name = \"half\"",
        "study.toml: \"half\" is the name of several",
    );
    refused("name = \"constant\"", "name = \"mixes\"", "study.toml: \"mixes\" is the name");
    refused("_of = \"fair\"", "_of = \"cfs\"", "study.toml: goals: \"cfs\" is not in `schedulers`");
    refused("{ avx512 = 0.01", "{ avx = 0.01", "half: a goal is for \"avx\", which is not one of");
    refused("\"half-load\"", "\"half-lod\"", "half: no scenario \"half-lod\": expected a file or");
    refused("\"half-load\"", "\"half-load 'x\"", "work \"half\": half-load 'x : an open quote");
    refused(
        "--sensors rules",
        "--sensor rules",
        "work \"half\", variant \"names only\": unexpected",
    );
    refused("--deaf-cpus 250", "light512", "work \"half\", variant \"a core without sensors\": ");
    refused(
        "allowance = 100",
        "allowance = 0.5",
        "study.toml: variant \"names only\": `allowance`",
    );
    refused(
        "works = [\"half\"]",
        "works = [\"hal\"]",
        "study.toml: variant \"names only\": there is",
    );
    folder.refused(&["evaluate", "none.toml"], "reading none.toml: ");
    folder.refused_flag(&["evaluate"], &["<STUDY>"]);
    folder.write("study.toml", STUDY);
    let both = ["evaluate", "study.toml", "--json", "-", "--csv", "-"];
    folder.refused(&both, "standard output (-) can take one of");
}
