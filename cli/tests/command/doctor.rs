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

/// What the kernel says of threads needs no recording and no privilege, on a CPU with AVX-512.
#[test]
fn marks_without_a_recording_are_of_the_programs_that_run() {
    let folder = Folder::new();
    let status = std::fs::read_to_string("/proc/self/arch_status").unwrap_or_default();
    if !status.contains("AVX512_elapsed_ms") {
        let ran = folder.run(&["trace", "marks"]);
        assert!(ran.stderr.contains("does not say which threads use AVX-512"), "{}", ran.stderr);
        return;
    }
    let table = folder.succeed(&["trace", "marks"]);
    assert!(table.contains("program           threads   last 100 ms"), "{table}");
    let json: Value =
        serde_json::from_str(&folder.succeed(&["trace", "marks", "--json", "-"])).unwrap();
    for program in json.as_array().unwrap() {
        let of = |column: &str| program[column].as_u64().unwrap();
        let columns = ["recent", "lately", "earlier", "never"].map(of);
        assert_eq!(columns.iter().sum::<u64>(), of("threads"), "{program}");
    }
    let is_own = |program: &Value| program["name"] == "evenkeel";
    assert!(json.as_array().unwrap().iter().any(is_own), "{json}");
}
