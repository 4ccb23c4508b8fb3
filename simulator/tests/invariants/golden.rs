//! Fingerprints of fixed cases, the same for every build profile and machine.
//!
//! `UPDATE_EXPECT=1 cargo test -p simulator --test invariants -- golden` writes them anew,
//! which a change of a model or of the generator calls for and nothing else.

use std::fmt::Write;

use crate::case::Case;
use crate::fingerprint;

const CASES: std::ops::Range<u64> = 1_000_000..1_000_020;
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/invariants/golden.txt");

#[test]
fn fixed_cases_give_the_committed_fingerprints() {
    let mut actual = String::new();
    for seed in CASES {
        let case = Case::new(seed);
        let outcome = case.run().unwrap();
        let (print, name) = (fingerprint::of(&outcome), case.config.scheduler.name());
        writeln!(actual, "{seed} {print:016x} {name} on {}", case.cpu.name).unwrap();
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(FILE, &actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(FILE).unwrap();
    for (actual, expected) in actual.lines().zip(expected.lines()) {
        assert_eq!(actual, expected, "UPDATE_EXPECT=1 if a model was meant to change");
    }
    assert_eq!(actual.lines().count(), expected.lines().count());
}
