//! `evenkeel profile` as its users meet the program.

use serde_json::Value;

use crate::harness::{Folder, recorded};

fn json(folder: &Folder, args: &[&str]) -> Value {
    let text = folder.succeed(&[&["profile"], args, &["--json", "-"]].concat());
    serde_json::from_str(&text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn both_estimators_find_victim_and_culprit() {
    let folder = Folder::new();
    let work = ["parsec-x265", "--program", "ferret", "--background", "avx512", "--runs", "4"];
    for more in [&[][..], &["--split-causes"], &["--no-pauses"], &["--set", "counter-noise=20"]] {
        let found = json(&folder, &[&work[..], more].concat());
        let victim = &found["victims"][0];
        assert_eq!(victim["name"], "ferret");
        assert_eq!(victim["demands"], "non-avx");
        let (estimate, truth) =
            (number(&victim["overhead_pct"]["value"]), number(&victim["true_overhead_pct"]));
        assert!(truth > 10.0 && (estimate - truth).abs() < 1.5, "{more:?}: {estimate} {truth}");
        let first = &found["losses"][0];
        assert_eq!((&first["victim"], &first["culprit"]), (&"ferret".into(), &"x265".into()));
        assert!(number(&first["by_sibling_s"]) > number(&first["by_hold_s"]));
    }
}

#[test]
fn the_published_way_of_reading_samples_finds_less() {
    let folder = Folder::new();
    let work = ["parsec-x265", "--program", "canneal", "--background", "avx512", "--rate", "200"];
    let overhead = |method: &str| {
        let found = json(&folder, &[&work[..], &["--method", method]].concat());
        number(&found["victims"][0]["overhead_pct"]["value"])
    };
    let (ours, published) = (overhead("ours"), overhead("published"));
    assert!(published < ours - 4.0, "{published} {ours}");
}

#[test]
fn text_says_what_rests_on_what() {
    let folder = Folder::new();
    let scalar = folder.succeed(&["profile", "parsec-x265", "--background", "sse4", "--runs", "1"]);
    assert!(scalar.contains("No program lost"), "{scalar}");
    let counters = folder.succeed(&["profile", "nginx-crypto", "--no-pauses", "--runs", "1"]);
    assert!(counters.contains("≥ 0.0 %") && counters.contains("uses wide code"), "{counters}");
    let few = ["profile", "parsec-x265", "--rate", "0.1", "--runs", "1", "--background", "avx512"];
    let few = folder.succeed(&few);
    assert!(few.contains("too few samples") && few.contains("*"), "{few}");
}

/// The recording has x265 beside other programs.
#[test]
fn a_recording_shows_waits_and_what_the_table_predicts() {
    let folder = recorded();
    let trace = ["profile", "--trace", "rec.ektrace"];
    let text = folder.succeed(&trace);
    assert!(text.contains("Recorded: rec.ektrace") && text.contains("waited"), "{text}");
    let json =
        folder.succeed(&[&trace[..], &["--class", "x265*=avx512-heavy", "--json", "-"]].concat());
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["estimator"], "classes");
    let victims = found["victims"].as_array().unwrap();
    let encoder = victims.iter().find(|it| it["name"] == "x265").unwrap();
    assert_eq!((&encoder["basis"], &encoder["demands"]), (&"table".into(), &"avx-512".into()));
    let lost = |it: &Value| number(&it["lost_s"]["value"]);
    let of_encoder = |it: &&Value| it["culprit"] == "x265" && it["victim"] != "x265";
    let losses = found["losses"].as_array().unwrap();
    assert!(losses.iter().filter(of_encoder).map(lost).sum::<f64>() > 0.0);
    assert!(losses.iter().filter(|it| it["culprit"] != "x265").all(|it| lost(it) == 0.0));
    assert!(losses.iter().map(|it| number(&it["waited_s"])).sum::<f64>() > 0.0);
    for flag in [&["--no-pauses"][..], &["--rate", "5"], &["--scheduler", "cfs"]] {
        let sentence = "is for simulated scenarios; this profile is of a real schedule";
        let sentence = format!("{}: {sentence}", flag[0]);
        folder.refused(&[&trace[..], flag].concat(), &sentence);
    }
}

#[test]
fn a_profile_is_the_same_each_time() {
    let folder = Folder::new();
    let args = ["light512", "--runs", "3"];
    assert_eq!(json(&folder, &args), json(&folder, &args));
    assert_ne!(json(&folder, &args), json(&folder, &[&args[..], &["--seed", "2"]].concat()));
}

#[test]
fn mistakes_end_in_a_sentence() {
    let folder = Folder::new();
    let rate = ["profile", "light512", "--rate", "0"];
    folder.refused_flag(&rate, &["--rate", "from 0.1 to 1000"]);
    let both = ["profile", "light512", "--no-pauses", "--split-causes"];
    folder.refused_flag(&both, &["--no-pauses"]);
    folder.refused(&["profile"], "expected -a for this machine, a command after --, a scenario");
    folder.refused(
        &["profile", "light512", "--program", "x"],
        "--program, --background: no such run; programs: light, plain; backgrounds: avx512",
    );
    let placebo = ["profile", "light512", "--set", "placebo=true"];
    folder.refused(&placebo, "--set placebo: a profile is of a CPU as it is");
}
