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
shown = ["fair", "even"]
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
flags = "--set deaf-cpus=250"
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
    // Tasks that never wait can be given nothing back by virtual runtime; a change of places helps.
    let slowdown = |scheduler: &str| {
        let summaries = half["summaries"].as_array().unwrap().iter();
        let mut of = summaries.filter(|one| one["scheduler"] == scheduler);
        let one = of.find(|one| one["background"] == "avx512").unwrap();
        one["isolation_slowdown_pct"]["mean"].as_f64().unwrap()
    };
    assert!(slowdown("fair") > 40.0 && slowdown("fair-isolation") > 40.0);
    assert!(slowdown("even") < 2.0);
    let goal = &half["goals"][0];
    assert!(goal["found"].as_f64() > goal["bound"].as_f64(), "{goal}");
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
    let alone = ["compare", "half-load", "--set", "deaf-cpus=250", "--scheduler", "fair,even"];
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
fn a_missed_goal_fails_only_when_asked_and_with_any_reader() {
    let folder = study();
    assert_eq!(folder.run(&FEW).code, 0);
    let checked = folder.run(&[&FEW[..], &["--check"]].concat());
    assert_eq!(checked.code, 1);
    assert!(checked.stderr.contains("goals are missed"), "{}", checked.stderr);
    let args = [&FEW[..], &["--check", "--page", "p.html"]].concat();
    let mut closed = folder.command(&args);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = closed.stdout(writer).stderr(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(folder.read("p.html").contains("Goals and what became of them"));
}

#[test]
fn a_variant_replaces_a_flag_and_paths_start_at_the_study() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sub")).unwrap();
    let scenario = scenarios::by_name("half-load").unwrap().1;
    folder.write("sub/mine.toml", scenario);
    let study = r#"
schema = 1
title = "T"
description = "D"
judged = "even"
schedulers = ["fair", "even"]
shown = ["fair", "even"]
[[work]]
name = "w"
compare = "mine.toml --sensors d7 --cpu xeon-gold-6130"
[[variant]]
name = "v"
flags = "--sensors xinuse --set smt-share=700"
allowance = 1
"#;
    folder.write("sub/study.toml", study);
    let args = ["evaluate", "sub/study.toml", "--replicates", "1", "--json", "-"];
    let result: Value = serde_json::from_str(&folder.succeed(&args)).unwrap();
    let sensors = |work: usize| &result["works"][work]["summaries"][0]["sensors"];
    assert_eq!((sensors(0), sensors(1)), (&"d7".into(), &"xinuse".into()));
    assert_eq!(result["half"], Value::Null);
    for (flag, value) in [("--mixes", Some("2")), ("--held-out", None)] {
        let args = ["evaluate", "sub/study.toml", flag].into_iter().chain(value);
        let sentence = format!("{flag}: the study has no mixes");
        folder.refused(&args.collect::<Vec<_>>(), &sentence);
    }
    // Without goals and mixes the page has the other parts.
    folder.succeed(&["evaluate", "sub/study.toml", "--replicates", "1", "--page", "p.html"]);
    let page = folder.read("p.html");
    assert!(page.contains("Experiments under every scheduler") && !page.contains("Goals and"));
}

#[test]
fn mistakes_in_a_study_are_refused_before_anything_runs() {
    let folder = Folder::new();
    let refused = |from: &str, to: &str, sentence: &str| {
        assert!(STUDY.contains(from), "{from}");
        folder.write("study.toml", STUDY.replace(from, to));
        folder.refused(&["evaluate", "study.toml"], &format!("study.toml: {sentence}"));
    };
    refused("schema = 1", "schema = 2", "`schema`: expected 1");
    refused("judged = \"even\"", "judged = \"cfs\"", "`judged`: \"cfs\" is not in");
    refused("shown = [\"fair\", ", "shown = [\"cfs\", ", "`shown`: \"cfs\" is not");
    refused("shown = [\"fair\", \"even\"]", "shown = [\"fair\"]", "`shown`: \"even\"");
    refused("shown = [\"fair\", ", "shown = [", "`shown`: \"fair\" is missing");
    refused("\"even-without-swaps\"", "\"even\"", "`schedulers` and `ablations`: \"even\" stands");
    refused("\"fair-isolation\", ", "\"nope\", ", "half: --scheduler: \"nope\" is not one of");
    refused("count = 2", "count = 0", "`mixes.count`: expected 1 to 10000");
    refused("replicates = 2", "replicates = 4000000000", "`replicates`: expected 1 to 10000");
    refused("name = \"constant\"", "name = \"half\"", "`work.name`: \"half\" stands there twice");
    refused("name = \"constant\"", "name = \"mixes\"", "`work.name`: \"mixes\" are the random");
    refused("\"constant\"", "\"\\u001b[31m\"", "\"\\u{1b}[31m\" holds characters");
    refused(
        "\"a core without sensors\"",
        "\"names only\"",
        "`variant.name`: \"names only\" stands",
    );
    refused(
        "_of = \"fair\"",
        "_of = \"cfs\"",
        "goals of \"mixes\": \"cfs\" is not in `schedulers`",
    );
    refused("{ avx512 = 0.01", "{ avx = 0.01", "half: a goal is for \"avx\", which is not one of");
    refused(
        "{ avx512 = 0.01",
        "{ avx512 = -1",
        "goals of \"half\": slowdown, % beside \"avx512\": -1",
    );
    refused("{ avx512 = 0.01", "{ avx512 = nan", "goals of \"half\": slowdown, % beside");
    refused("\"half-load\"", "\"half-lod\"", "half: no scenario \"half-lod\": expected a file or");
    refused("\"half-load\"", "\"half-load 'x\"", "half: half-load 'x: an open quote");
    refused("\"half-load\"", "\"\"", "half: `compare` names neither a scenario nor --trace");
    refused(
        "\"half-load\"",
        "\"half-load --set a=1\"",
        "half: half-load.toml: there is no parameter",
    );
    refused("\"half-load\"", "\"half-load --sensors d7,rules\"", "half: name one sensor set");
    refused("--sensors rules", "--sensor rules", "half, names only: unexpected argument");
    refused("--set deaf-cpus=250", "light512", "half, a core without sensors: ");
    let renamed = "half, a core without sensors: `--deaf-cpus 250` is now `--set deaf-cpus=250`\n";
    refused("--set deaf-cpus=250", "--deaf-cpus 250", renamed);
    let own =
        "half, a core without sensors: --set shown: the results of a study or grid are its own\n";
    refused("--set deaf-cpus=250", "--set shown=0..1", own);
    refused("allowance = 100", "allowance = 0.5", "variant \"names only\": `allowance`");
    refused("works = [\"half\"]", "works = [\"hal\"]", "variant \"names only\": there is no work");
    folder.write("study.toml", STUDY.replace("judged =", "judge ="));
    let unknown = "study.toml:5: judge = \"even\": unknown field `judge`";
    folder.refused(&["evaluate", "study.toml"], unknown);
    folder.refused(&["evaluate", "none.toml"], "reading none.toml: ");
    folder.refused_flag(&["evaluate"], &["<STUDY>"]);
    folder.write("study.toml", STUDY);
    let both = ["evaluate", "study.toml", "--json", "-", "--csv", "-"];
    folder.refused(&both, "standard output (-) can take one of");
    let twice = ["compare", "half-load", "--scheduler", "fair,even,fair"];
    folder.refused(&twice, "--scheduler: \"fair\" is named twice");
}
