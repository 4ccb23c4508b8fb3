//! `evenkeel reproduce` as its users meet the program.

use serde_json::Value;

use crate::harness::Folder;

fn answers(folder: &Folder, args: &[&str]) -> Vec<Value> {
    let json =
        folder.succeed(&[&["reproduce", "--replicates", "1"], args, &["--json", "-"]].concat());
    let found: Value = serde_json::from_str(&json).unwrap();
    found["answers"].as_array().unwrap().clone()
}

#[test]
fn each_kind_of_figure_has_its_verdict() {
    let folder = Folder::new();
    let ids = "T002,T007,T030,T031,T060,T071,T072,T075,T077,T080,T082,T094,T100,T101";
    let found = answers(&folder, &["--only", ids]);
    let verdicts: Vec<&str> = found.iter().map(|it| it["verdict"].as_str().unwrap()).collect();
    let expected = [
        "hit",
        "missing",
        "cited",
        "hit",
        "miss",
        "hit",
        "shown",
        "contradicted",
        "hit",
        "hit",
        "input",
        "hit",
        "miss",
        "elsewhere",
    ];
    assert_eq!(verdicts, expected, "{found:#?}");
    for answer in &found {
        let needs_why = !["hit", "shown", "input"].contains(&answer["verdict"].as_str().unwrap());
        assert!(!needs_why || !answer["why"].as_str().unwrap().is_empty(), "{answer}");
    }
}

#[test]
fn the_page_and_the_text_have_every_figure_and_the_counts() {
    let folder = Folder::new();
    let args = ["reproduce", "--only", "T001,T019,T064,T100", "--replicates", "1"];
    let text = folder.succeed(&[&args[..], &["--page", "page.html"]].concat());
    let page = folder.read("page.html");
    for id in ["T001", "T019", "T064", "T100"] {
        assert!(text.lines().any(|line| line.starts_with(id)), "{text}");
        assert!(page.contains(id), "{page}");
    }
    assert!(text.contains("\n   4 published figures\n"), "{text}");
    let within = "0 of 1 simulated figures, 1 of 2 constants, formulas and recorded figures\n";
    assert!(text.replace("\n  ", " ").ends_with(within), "{text}");
    assert!(page.contains("0 of 1 simulated figures are within their tolerance."), "{page}");
}

#[test]
fn an_unknown_figure_is_named() {
    let sentence = "--only: no figure \"T999\"; they are T001 to T107, and P01 to P24\n";
    Folder::new().refused(&["reproduce", "--only", "T999"], sentence);
}
