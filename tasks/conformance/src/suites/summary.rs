//! Summary of all tests: counts by group, failures by reason, and unsupported functions by how
//! many tests need them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::outcome::{NAMES, Outcome};
use super::trial::Trial;

/// How wide lists of names are.
const WIDTH: usize = 100;

/// The table, and the lists behind its numbers.
pub fn text(trials: &[Trial]) -> String {
    let mut text = table(trials);
    text += &unsupported(trials);
    text += &by_reason("Failed", trials, |outcome| match outcome {
        Outcome::Failed(why) => Some(why.clone()),
        Outcome::TimedOut => Some("timed out".to_owned()),
        _ => None,
    });
    text += &by_reason("Not applicable", trials, |outcome| match outcome {
        Outcome::NotApplicable(why) => Some(why.clone()),
        _ => None,
    });
    text + &skipped(trials)
}

/// Counts by group, in the order of their first tests, and of all.
fn table(trials: &[Trial]) -> String {
    let mut rows: Vec<(&str, [usize; NAMES.len()])> = Vec::new();
    let mut all = [0; NAMES.len()];
    for trial in trials {
        let known = rows.iter().position(|(group, _)| *group == trial.group);
        let at = known.unwrap_or_else(|| {
            rows.push((&trial.group, [0; NAMES.len()]));
            rows.len() - 1
        });
        rows[at].1[trial.outcome.index()] += 1;
        all[trial.outcome.index()] += 1;
    }
    rows.push(("all", all));
    let first = rows.iter().map(|(group, _)| group.chars().count()).max().unwrap_or_default();
    let mut text = format!("{:first$}  {:>5}", "", "tests");
    for name in NAMES {
        let _ = write!(text, "  {name:>6}");
    }
    text.push('\n');
    for (group, counts) in rows {
        let _ = write!(text, "{group:first$}  {:>5}", counts.iter().sum::<usize>());
        for (name, count) in NAMES.iter().zip(counts) {
            let width = name.len().max(6);
            let _ = write!(text, "  {count:>width$}");
        }
        text.push('\n');
    }
    text
}

/// Functions that stopped tests, or would have next: those that most of these tests use first.
fn unsupported(trials: &[Trial]) -> String {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for trial in trials {
        if let Outcome::Unsupported(name) = &trial.outcome {
            counts.entry(name).or_default().1 += 1;
        }
        for name in &trial.lacks {
            counts.entry(name).or_default().0 += 1;
        }
    }
    let mut counts: Vec<(&str, (usize, usize))> = counts.into_iter().collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let lines =
        counts.iter().map(|(name, (uses, stops))| format!("{uses:>5}  {stops:>5}  {name}\n"));
    headed(
        "Unsupported, by how many of these tests use it, and how many it stopped",
        lines.collect(),
    )
}

/// Names of tests by why they are listed, the most frequent reason first.
fn by_reason(title: &str, trials: &[Trial], reason: impl Fn(&Outcome) -> Option<String>) -> String {
    let mut tests: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for trial in trials {
        if let Some(reason) = reason(&trial.outcome) {
            tests.entry(reason).or_default().push(&trial.name);
        }
    }
    let mut tests: Vec<(String, Vec<&str>)> = tests.into_iter().collect();
    tests.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let lines =
        tests.iter().map(|(why, names)| format!("{:>5}  {why}\n{}", names.len(), wrapped(names)));
    headed(title, lines.collect())
}

/// Skipped tests by reason, without names: such tests show nothing about a library.
fn skipped(trials: &[Trial]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for trial in trials {
        if let Outcome::Skipped(why) = &trial.outcome {
            *counts.entry(why).or_default() += 1;
        }
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(why, count)| (std::cmp::Reverse(*count), *why));
    headed("Skipped", counts.iter().map(|(why, count)| format!("{count:>5}  {why}\n")).collect())
}

fn headed(title: &str, lines: String) -> String {
    if lines.is_empty() { lines } else { format!("\n{title}:\n{lines}") }
}

/// Names beside each other, as many as a line holds.
fn wrapped(names: &[&str]) -> String {
    const INDENT: &str = "        ";
    let mut text = String::new();
    let mut line = String::new();
    for name in names {
        if !line.is_empty() && INDENT.len() + line.len() + name.len() > WIDTH {
            let _ = writeln!(text, "{INDENT}{}", line.trim_end());
            line.clear();
        }
        line.push_str(name);
        line.push(' ');
    }
    let _ = writeln!(text, "{INDENT}{}", line.trim_end());
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn trial(name: &str, group: &str, outcome: Outcome) -> Trial {
        Trial {
            name: name.to_owned(),
            group: group.to_owned(),
            outcome,
            said: String::new(),
            lacks: BTreeSet::new(),
        }
    }

    #[test]
    fn a_summary_counts_and_names() {
        let lacking = |name: &str| Outcome::Unsupported(name.to_owned());
        let names = ["GOMP_task", "GOMP_taskwait"].map(str::to_owned);
        let lacks = |name: &str, names: &[String]| Trial {
            lacks: names.iter().cloned().collect(),
            ..trial(name, "a", lacking("GOMP_task"))
        };
        let text = text(&[
            trial("b/1", "b", Outcome::Passed),
            trial("a/1", "a", lacking("GOMP_single")),
            lacks("a/2", &names),
            lacks("a/3", &names[..1]),
            trial("a/4", "a", Outcome::Failed("signal 11".to_owned())),
            trial("a/5", "a", Outcome::TimedOut),
            trial("a/6", "a", Outcome::NotApplicable("no".to_owned())),
            trial("a/7", "a", Outcome::Skipped("only compiles".to_owned())),
        ]);
        let expected = "     \
             tests  passed  failed  timed out  unsupported  not applicable  skipped
b        1       1       0          0            0               0        0
a        7       0       1          1            3               1        1
all      8       1       1          1            3               1        1

Unsupported, by how many of these tests use it, and how many it stopped:
    2      2  GOMP_task
    1      0  GOMP_taskwait
    0      1  GOMP_single

Failed:
    1  signal 11
        a/4
    1  timed out
        a/5

Not applicable:
    1  no
        a/6

Skipped:
    1  only compiles
";
        assert_eq!(text, expected);
    }

    #[test]
    fn names_fill_lines() {
        let names = vec!["x".repeat(40); 3];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = wrapped(&names);
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.len() <= WIDTH));
    }
}
