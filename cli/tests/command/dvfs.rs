//! `evenkeel dvfs` as its users meet the program.

use serde_json::Value;

use crate::harness::Folder;

fn overheads(folder: &Folder, args: &[&str]) -> Vec<f64> {
    let json = folder.succeed(&[&["dvfs"], args, &["--json", "-"]].concat());
    let found: Value = serde_json::from_str(&json).unwrap();
    let policies = found["policies"].as_array().unwrap();
    policies.iter().map(|it| it["mean_overhead_pct"].as_f64().unwrap()).collect()
}

#[test]
fn policies_are_in_the_published_order_with_hyper_threads_and_without() {
    let folder = Folder::new();
    let of = |work| {
        let args = [work, "--replicates", "2", "--policy", "stock,2-competitive,oracle"];
        overheads(&folder, &args)
    };
    let with = of("nginx-crypto-four-cores");
    let without = of("nginx-crypto-four-cores-no-ht");
    for found in [&with, &without] {
        assert!(found[0] > found[1] && found[1] > found[2] && found[2] > 1.0, "{found:?}");
    }
    // A sibling lowers the clock of a core whatever the policy does.
    assert!(with[2] > without[2], "{with:?} {without:?}");
}

#[test]
fn a_timeout_of_the_cpus_own_hold_is_the_stock_policy() {
    let folder = Folder::new();
    let args = ["nginx-crypto-four-cores", "--replicates", "1", "--policy", "stock,timeout=670us"];
    let found = overheads(&folder, &args);
    assert_eq!(found[0].to_bits(), found[1].to_bits(), "{found:?}");
}

#[test]
fn a_recording_is_stretched_as_it_is() {
    let folder = Folder::new();
    let simulate = ["simulate", "light512", "--scheduler", "cfs", "-o", "run.ektrace"];
    folder.succeed(&simulate);
    let args = ["dvfs", "--trace", "run.ektrace", "--policy", "stock,oracle"];
    let text = folder.succeed(&args);
    assert!(text.contains("taken for those of a constant clock"), "{text}");
    for application in ["light", "heavy"] {
        assert!(text.lines().any(|line| line.starts_with(application)), "{text}");
    }
}

#[test]
fn mistakes_are_named() {
    let folder = Folder::new();
    for (args, said) in [
        (&["light512", "--background", "none"][..], "--background: no such background; there are"),
        (&["light512", "--program", "none"], "--program: no program \"none\""),
        (&["light512", "--policy", "oracle,oracle"], "--policy: oracle is named twice"),
        (&["light512", "--set", "marks=x"], "--set marks: only a recording (--trace) is replayed"),
    ] {
        folder.refused(&[&["dvfs"], args].concat(), said);
    }
    folder.refused_flag(&["dvfs", "light512", "--policy", "timeout=5"], &["timeout=N with us"]);
    folder.refused(&["dvfs"], "name a scenario");
}
