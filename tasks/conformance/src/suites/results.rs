//! Writes the results: each file completely, or not at all.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::outcome::Outcome;
use super::trial::Trial;
use commands::whole_file;

/// All tests, the summary, and the list that `--expect` takes.
pub fn write(folder: &Path, trials: &[Trial], summary: &str) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let passed = trials.iter().filter(|trial| trial.outcome == Outcome::Passed);
    let passed: String = passed.map(|trial| format!("{}\n", trial.name)).collect();
    whole_file::write(folder, "tests.csv", &csv(trials)?)?;
    whole_file::write(folder, "summary.txt", summary)?;
    whole_file::write(folder, "passed.txt", &passed)
}

fn csv(trials: &[Trial]) -> Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["test", "group", "outcome", "detail", "last_line", "lacks"])?;
    for Trial { name, group, outcome, said, lacks } in trials {
        let lacks: Vec<&str> = lacks.iter().map(String::as_str).collect();
        table.write_record([
            name,
            group,
            outcome.name(),
            outcome.detail(),
            said,
            &lacks.join(" "),
        ])?;
    }
    Ok(String::from_utf8(table.into_inner()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_test_and_its_detail() {
        let trial = Trial {
            name: "a/1".to_owned(),
            group: "a".to_owned(),
            outcome: Outcome::Failed("signal 11".to_owned()),
            said: "b, c".to_owned(),
            lacks: ["d", "e"].map(str::to_owned).into(),
        };
        let text = csv(&[trial]).unwrap();
        assert_eq!(text.lines().nth(1), Some("a/1,a,failed,signal 11,\"b, c\",d e"));
    }
}
