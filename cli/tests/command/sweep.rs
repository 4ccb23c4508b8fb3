//! `evenkeel sweep` as its users meet the program.

use std::time::Duration;

use crate::harness::Folder;

const GRID: &str = r#"
schema = 1
compare = "half-load"
schedulers = ["cfs", "fair-isolation"]
replicates = 1
axis = [
    { set = "smt-share", values = [550, 650] },
    { set = "hold-us", from = 0, to = 600, steps = 3 },
]
"#;

fn grid() -> Folder {
    let folder = Folder::new();
    folder.write("grid.toml", GRID);
    folder
}

fn parts(folder: &Folder, of: &str) -> Vec<String> {
    let files = folder.files();
    let names = files.keys().filter_map(|path| path.to_str());
    names.filter(|name| name.contains(of)).map(str::to_owned).collect()
}

#[test]
fn any_number_of_shards_makes_the_same_table() {
    let folder = grid();
    let mut tables = Vec::new();
    for of in 1..=3 {
        let parts = format!("parts{of}");
        for number in 1..=of {
            let shard = format!("{number}/{of}");
            folder.succeed(&["sweep", "grid.toml", "-o", &parts, "--shard", &shard]);
        }
        let said = folder.succeed(&["sweep", "merge", &parts, "-o", "table.csv"]);
        assert_eq!(said, "table.csv: 24 rows\n");
        tables.push(folder.read("table.csv"));
        folder.succeed(&["sweep", "merge", &parts, "-o", &format!("table{of}.parquet")]);
    }
    assert!(tables.iter().all(|table| *table == tables[0]));
    let of = |number: u32| folder.path(&format!("table{number}.parquet"));
    let parquet = [1, 2, 3].map(|number| std::fs::read(of(number)).unwrap());
    assert!(parquet.iter().all(|table| *table == parquet[0]));
    // Twelve points of two backgrounds, and a longer hold costs more.
    let overhead = |line: &str| line.split(',').nth(9).unwrap().parse::<f64>().unwrap();
    let lines: Vec<&str> = tables[0].lines().skip(1).collect();
    let of = |begin: &str| overhead(lines.iter().find(|line| line.starts_with(begin)).unwrap());
    assert_eq!(lines.len(), 24);
    assert!(of("0,550,0,cfs,avx512") <= of("4,550,600,cfs,avx512"), "{lines:#?}");
    let kept = folder.succeed(&["sweep", "grid.toml", "-o", "parts1"]);
    assert!(kept.ends_with("is there already and is kept\n"), "{kept}");
}

#[test]
fn missing_double_foreign_and_cut_parts_are_named() {
    let folder = grid();
    let merge = ["sweep", "merge", "parts", "-o", "table.csv"];
    let run = |shard: &str| {
        folder.succeed(&["sweep", "grid.toml", "-o", "parts", "--shard", shard]);
    };
    run("1/3");
    run("3/3");
    folder.refused(&merge, "parts: 1 of 3 shards are missing: 2\n");
    run("2/3");
    folder.succeed(&merge);
    let first = folder.path(&parts(&folder, "part-00001")[0]);
    let bytes = std::fs::read(&first).unwrap();
    std::fs::write(&first, &bytes[..bytes.len() - 3]).unwrap();
    let stderr = folder.run(&merge).stderr;
    assert!(stderr.contains("it is no whole part; remove it"), "{stderr}");
    std::fs::write(&first, &bytes).unwrap();
    run("1/2");
    let stderr = folder.run(&merge).stderr;
    assert!(stderr.contains("are of different numbers of shards"), "{stderr}");
    std::fs::remove_file(folder.path(&parts(&folder, "-of-00002")[0])).unwrap();
    std::fs::copy(&first, first.with_file_name("part-x.parquet")).unwrap();
    let stderr = folder.run(&merge).stderr;
    assert!(stderr.contains("are both shard 1/3"), "{stderr}");
    std::fs::remove_file(first.with_file_name("part-x.parquet")).unwrap();
    folder.write("grid.toml", GRID.replace("600", "700"));
    let again = ["sweep", "grid.toml", "-o", "parts", "--shard", "1/3"];
    let stderr = folder.run(&again).stderr;
    assert!(stderr.contains("it is of another grid or version"), "{stderr}");
    std::fs::remove_file(&first).unwrap();
    run("1/3");
    let stderr = folder.run(&merge).stderr;
    assert!(stderr.contains("is of another grid or version than"), "{stderr}");
    assert_eq!(folder.run(&["sweep", "merge", "nothing", "-o", "table.csv"]).code, 2);
    // The table of the last merge that succeeded is whole.
    assert_eq!(folder.read("table.csv").lines().count(), 25);
}

#[test]
fn a_shard_that_is_killed_leaves_no_part_and_runs_again() {
    let folder = grid();
    folder.write("grid.toml", GRID.replace("replicates = 1", "replicates = 200"));
    let args = ["sweep", "grid.toml", "-o", "parts"];
    let mut child = folder.command(&args).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(parts(&folder, "part-0"), Vec::<String>::new());
    folder.write("grid.toml", GRID);
    folder.succeed(&args);
    folder.succeed(&["sweep", "merge", "parts", "-o", "table.csv"]);
}

#[test]
fn random_mixes_are_an_axis_with_the_figures_of_the_verb_mixes() {
    let folder = Folder::new();
    folder.write(
        "grid.toml",
        "schema = 1\nmixes = 3\nschedulers = [\"fair\", \"even\"]\nreplicates = 1\n\
         axis = [{ set = \"smt-share\", values = [600, 625] }]\n",
    );
    for shard in ["1/2", "2/2"] {
        folder.succeed(&["sweep", "grid.toml", "-o", "parts", "--shard", shard]);
    }
    folder.succeed(&["sweep", "merge", "parts", "-o", "table.csv"]);
    let table = folder.read("table.csv");
    let of = |row: &[&str]| {
        let lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let mut slowdowns = lines.filter(|words| words[1..5] == *row).map(|words| words[6].parse());
        slowdowns.next().unwrap().unwrap()
    };
    let mixes = ["mixes", "--mixes", "3", "--replicates", "1", "--scheduler", "fair,even"];
    let json = folder.succeed(&[&mixes[..], &["--json", "-"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for mix in json["mixes"].as_array().unwrap() {
        let seed = mix["seed"].to_string();
        for run in mix["runs"].as_array().unwrap() {
            let scheduler = run["scheduler"].as_str().unwrap();
            let background = run["background"].as_str().unwrap();
            let ours: f64 = of(&[&seed, "625", scheduler, background]);
            let theirs = run["isolation_slowdown_pct"].as_f64().unwrap();
            assert!((ours - theirs).abs() < 1e-3, "{seed} {scheduler}: {ours} {theirs}");
        }
    }
    folder.write("grid.toml", "schema = 1\nschedulers = [\"fair\"]\n");
    let stderr = folder.run(&["sweep", "grid.toml", "-o", "parts"]).stderr;
    assert!(stderr.contains("name one of `compare` and `mixes`"), "{stderr}");
}

#[test]
fn a_full_disk_is_told_and_leaves_no_part() {
    let folder = grid();
    // A limit of one block stands for a file system that is full; ignored, the signal is an error.
    let full = "trap '' XFSZ; ulimit -f 1; exec \"$0\" sweep grid.toml -o parts";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", full, env!("CARGO_BIN_EXE_evenkeel")]).current_dir(folder.path(""));
    let output = shell.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("parts/part-00001-of-00001.parquet"), "{stderr}");
    assert!(stderr.contains("File too large"), "{stderr}");
    assert_eq!(parts(&folder, "parts/"), Vec::<String>::new());
    folder.succeed(&["sweep", "grid.toml", "-o", "parts"]);
}

/// Two threads that take turns; one of them comes too seldom where it has fewer turns.
const TURNS: &str = r#"
schema = 1
name = "turns"
description = "Two threads that take turns."
source = "our choice"
cpu = "xeon-gold-6130"

[machine]
packages = 1
cores = 1
threads_per_core = 1

[run]
foreground = "each"
limit_s = 1
replicates = 1

[parameters]
turns = 10

[[foreground]]
name = "pair"
threads = 2
phases = [
    { first = [{ repeat = { times = 10, phases = [
        { compute = { work_us = 100 } },
        { wait = "ball" },
    ] } }] },
    { others = [{ repeat = { times = "@turns", phases = [
        { compute = { work_us = 100 } },
        { wake = "ball" },
    ] } }] },
]

[[background]]
name = "sse4"
control = true
classes = { kernel = "scalar" }
[[background.application]]
name = "other"
threads = 1
phases = [{ repeat = { times = 100, phases = [{ compute = { work_us = 100, class = "@kernel" } }] } }]

[[background]]
name = "avx512"
like = "sse4"
classes = { kernel = "avx512-heavy" }
"#;

#[test]
fn a_point_that_cannot_be_simulated_has_a_row_that_says_why() {
    let folder = Folder::new();
    folder.write("turns.toml", TURNS);
    folder.write(
        "grid.toml",
        "schema = 1\ncompare = \"turns.toml\"\nschedulers = [\"cfs\"]\n\
         axis = [{ set = \"turns\", values = [10, 9, 20] }]\n",
    );
    let said = folder.succeed(&["sweep", "grid.toml", "-o", "parts"]);
    assert!(said.contains("1 of them could not be simulated, and say why"), "{said}");
    folder.succeed(&["sweep", "merge", "parts", "-o", "table.csv"]);
    let table = folder.read("table.csv");
    let lines: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].starts_with("0,10,cfs,avx512,d7,") && lines[0].ends_with(','), "{table}");
    assert!(lines[1].starts_with("1,9,cfs,,") && lines[1].ends_with("waits for ever"), "{table}");
}

#[test]
fn mistakes_in_a_grid_are_named_before_anything_runs() {
    let folder = Folder::new();
    for (text, said) in [
        ("schema = 2\ncompare = \"half-load\"\nschedulers = [\"cfs\"]", "grid.toml: `schema`"),
        ("schema = 1\ncompare = \"half-load\"\nschedulers = []", "grid.toml: `schedulers`"),
        ("schema = 1\ncompare = \"none\"\nschedulers = [\"cfs\"]", "no scenario \"none\""),
        ("schema = 1\ncompare = \"half-load\"\nschedulers = [\"x\"]", "--scheduler: \"x\""),
        (
            "schema = 1\ncompare = \"half-load\"\nschedulers = [\"cfs\"]\n\
             axis = [{ set = \"nothing\", values = [1] }]",
            "no parameter `nothing`",
        ),
    ] {
        folder.write("grid.toml", text);
        let ran = folder.run(&["sweep", "grid.toml", "-o", "parts"]);
        assert_eq!(ran.code, 2, "{text}");
        assert!(ran.stderr.contains(said), "{text}: {}", ran.stderr);
        assert!(parts(&folder, "part-0").is_empty());
    }
}
