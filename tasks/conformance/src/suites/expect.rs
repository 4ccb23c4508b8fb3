//! Tests that have to pass: a list that a change may only make longer.

use super::outcome::Outcome;
use super::trial::Trial;

/// The names of a list: a line each, and comments after `#`.
pub fn names(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Tests of a list that did not pass.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Why, with names.
    pub failed: Vec<String>,
    /// Tests not judged on this machine: their own library fails, or they are skipped.
    pub not_judged: Vec<String>,
}

/// Compares the chosen tests of a list with the trials.
pub fn misses(expected: &[String], trials: &[Trial], is_chosen: impl Fn(&str) -> bool) -> Misses {
    let mut misses = Misses::default();
    for name in expected.iter().filter(|name| is_chosen(name)) {
        let Some(trial) = trials.iter().find(|trial| trial.name == *name) else {
            misses.failed.push(format!("{name}: no such test"));
            continue;
        };
        let line = format!("{name}: {} {}", trial.outcome.name(), trial.outcome.detail());
        if trial.outcome.is_miss() {
            misses.failed.push(line.trim_end().to_owned());
        } else if trial.outcome != Outcome::Passed {
            misses.not_judged.push(line);
        }
    }
    misses
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn trial(name: &str, outcome: Outcome) -> Trial {
        let (name, group) = (name.to_owned(), String::new());
        Trial { name, group, outcome, said: String::new(), lacks: BTreeSet::new() }
    }

    #[test]
    fn a_test_that_fails_differs_from_a_test_that_was_not_judged() {
        let expected = names("# a comment\na/1\na/2 # why\n\na/3\na/9\nb/1\n");
        let trials = [
            trial("a/1", Outcome::Passed),
            trial("a/2", Outcome::TimedOut),
            trial("a/3", Outcome::Skipped("x".to_owned())),
        ];
        let found = misses(&expected, &trials, |name| name.starts_with("a/"));
        assert_eq!(found.failed, ["a/2: timed out", "a/9: no such test"]);
        assert_eq!(found.not_judged, ["a/3: skipped x"]);
        let found = misses(&expected, &trials, |name| name == "a/1");
        assert_eq!(found, Misses::default());
    }
}
