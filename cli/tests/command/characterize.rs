//! `evenkeel characterize` on the machine that runs the tests, whatever it is like.

use crate::harness::{Folder, Ran};

/// One short measurement that writes everything.
fn measure(folder: &Folder) -> Ran {
    let files = ["-o", "mine.toml", "--page", "mine.html", "--json", "mine.json"];
    let args = [&["characterize", "--duration", "2s"], files.as_slice()].concat();
    // A neighbour on the same core may slow additions more than multiplications for seconds.
    let tries = (0..5).map(|_| folder.run(&args));
    let is_told = |ran: &Ran| !ran.stderr.contains("cannot be measured this way");
    tries.into_iter().find(is_told).expect("a CPU that is measured once in five times")
}

#[test]
fn a_measurement_answers_first_and_its_table_is_one_that_runs_can_use() {
    let folder = Folder::new();
    let ran = measure(&folder);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let answer = ran.stdout.lines().next().unwrap();
    let says = ["yes: ", "no: ", "cannot say: "];
    assert!(says.iter().any(|start| answer.starts_with(start)), "{answer}");

    let found: serde_json::Value = serde_json::from_str(&folder.read("mine.json")).unwrap();
    assert_eq!(found["schema"].as_u64(), Some(1));
    // A long sentence continues in the next line.
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.starts_with(answer), "{found}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 120), "{}", ran.stdout);
    let alone = found["conditions"][0]["classes"].as_array().unwrap();
    assert_eq!(alone.len(), 5);
    let is_known = |verdict: &serde_json::Value| {
        ["affected", "unaffected", "hidden", "unsupported"].contains(&verdict.as_str().unwrap())
    };
    assert!(alone.iter().all(|class| is_known(&class["verdict"])));
    assert!(folder.read("mine.html").contains("<h1 class=\"verdict\">"));

    assert_eq!(folder.run(&["cpu", "check", "mine.toml"]).code, 0);
    // The table leaves out values that noise hid and says so; a run needs these values.
    let table = folder.read("mine.toml");
    let is_left_out = table.contains("left out, because noise hid them");
    if !is_left_out && !sentence.contains("cannot be told") {
        folder.write("good.toml", include_str!("good.toml"));
        let ran = folder.run(&["compare", "good.toml", "--cpu", "mine.toml"]);
        // A CPU without 512-bit instructions runs none in the simulator either.
        let unsupported = table.lines().find(|line| line.starts_with("unsupported")).unwrap();
        if unsupported.contains("avx512-heavy") {
            assert!(ran.stderr.contains("which CPU mine does not have"), "{}", ran.stderr);
        } else {
            assert_eq!(ran.code, 0, "{}", ran.stderr);
        }
    }
}

#[test]
fn a_cpu_or_a_duration_that_cannot_be_is_refused_in_a_sentence() {
    let folder = Folder::new();
    for (args, says) in [
        (["--cpu", "8191"], "CPU 8191 cannot be used, expected one of "),
        (["--duration", "1s"], "expected 2s to 600s"),
        (["-o", "."], "."),
    ] {
        let ran = folder.run(&[&["characterize"], args.as_slice()].concat());
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
    assert!(folder.files().is_empty());
}
