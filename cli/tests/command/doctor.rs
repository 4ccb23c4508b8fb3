//! The doctor's answers for the machine that runs the tests.

use serde_json::Value;

use crate::harness::Folder;

#[test]
fn the_first_line_answers_and_every_gap_has_a_remedy_or_none_exists() {
    let folder = Folder::new();
    let text = folder.succeed(&["doctor"]);
    assert!(text.starts_with("this machine can: record schedules ("), "{text}");
    let report: Value = serde_json::from_str(&folder.succeed(&["doctor", "--json", "-"])).unwrap();
    assert_eq!(report["schema"], 1);
    for ability in report["abilities"].as_array().unwrap() {
        let what = ability["what"].as_str().unwrap();
        assert!(text.contains(what), "{what}");
        let is_of_the_cpu = what.starts_with("run ") || what.contains("APERF");
        if ability["answer"] != "yes" && !is_of_the_cpu {
            assert!(ability["remedy"].is_string(), "{ability}");
        }
    }
    assert!(!report["facts"]["kernel"].as_str().unwrap().is_empty());
    assert!(text.contains("  control groups  "), "{text}");
    assert!(report["facts"]["control_groups"]["version"].is_string(), "{report}");
    assert!(!report["facts"]["online"].as_array().unwrap().is_empty());
}
