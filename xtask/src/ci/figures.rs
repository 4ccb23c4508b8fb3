//! Does the README count the published figures as `evenkeel reproduce` answers them?

use anyhow::{Context, Result, bail, ensure};

use super::Done;
use crate::command::cargo;
use crate::repo;

/// Words of `evenkeel reproduce` for answers, and the rows of the README's table that count them.
const ROWS: [(&str, &str); 8] = [
    ("hit", "within their tolerance: "),
    ("MISS", "outside of their tolerance"),
    ("shown", "beside ours, without a known tolerance"),
    ("input", "given to the model"),
    ("measured", "for a machine with such a CPU, with the command"),
    ("not modelled", "not modelled, or not built"),
    ("contradicted", "at odds with other published figures"),
    ("cited", "quoted from others, or without a number"),
];

/// Answers all figures, and compares the counts.
pub fn check() -> Result<Done> {
    let mut program = cargo();
    program.args(["run", "--release", "--locked", "--quiet", "--package", "evenkeel", "--"]);
    let output = program.arg("reproduce").output().context("running evenkeel reproduce")?;
    ensure!(output.status.success(), "evenkeel reproduce ended with {}", output.status);
    let readme = std::fs::read_to_string(repo::root().join("README.md"))?;
    let wrong = differences(&String::from_utf8_lossy(&output.stdout), &readme)?;
    ensure!(wrong.is_empty(), "README.md, table of published figures: {}", wrong.join("; "));
    Ok(Done::Passed)
}

/// What the README counts otherwise than the answers.
fn differences(answers: &str, readme: &str) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (word, row) in ROWS {
        let counted = counted(answers, word)?;
        let Some(line) = readme.lines().find(|line| line.contains(&format!("| {row}"))) else {
            bail!("README.md has no row `{row}`");
        };
        if !line.ends_with(&format!("| {counted} |")) {
            wrong.push(format!("`{}` are {counted}", row.trim_end_matches(": ")));
        }
    }
    for part in parts_within(answers)? {
        if !readme.contains(&part) {
            wrong.push(format!("within their tolerance are {part}"));
        }
    }
    Ok(wrong)
}

/// Such as `16 of 38 simulated` and `45 of 48 constants`.
fn parts_within(answers: &str) -> Result<Vec<String>> {
    const BEGIN: &str = "Within the tolerance: ";
    let found = answers.rsplit_once(BEGIN);
    let (_, parts) = found.with_context(|| format!("no `{BEGIN}` in the answers"))?;
    let first_words = |part: &str| part.split_whitespace().take(4).collect::<Vec<&str>>().join(" ");
    Ok(parts.split(", ").take(2).map(first_words).collect())
}

/// The count in a line such as `  61 hit           Within the tolerance`.
fn counted(answers: &str, word: &str) -> Result<u32> {
    let count = |line: &str| {
        let (count, meaning) = line.trim_start().split_once(' ')?;
        let is_its = meaning.strip_prefix(word).is_some_and(|rest| rest.starts_with("  "));
        count.parse().ok().filter(|_| is_its)
    };
    answers.lines().find_map(count).with_context(|| format!("no count of `{word}` in the answers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../../README.md");

    /// Answers as the README counts them, but for the hits.
    fn answers(hits: u32) -> String {
        let (_, parts) = README.split_once(ROWS[0].1).unwrap();
        let parts = parts.lines().next().unwrap();
        let rest = ROWS[1..].iter().map(|(word, row)| {
            let line = README.lines().find(|line| line.contains(&format!("| {row}"))).unwrap();
            let count: u32 =
                line.trim_end_matches(" |").rsplit(' ').next().unwrap().parse().unwrap();
            format!("{count:>4} {word:14} Words\n")
        });
        format!("T001 hit  of a figure\n{hits:>4} hit            Words\n")
            + &rest.collect::<String>()
            + &format!("Within the tolerance: {parts}\n")
    }

    #[test]
    fn another_count_than_the_readmes_is_told() {
        let found = differences(&answers(1000), README).unwrap();
        assert_eq!(found, ["`within their tolerance` are 1000"]);
        let other = answers(1000).replace("Within the tolerance: ", "Within the tolerance: 9");
        assert_eq!(differences(&other, README).unwrap().len(), 2);
        assert!(differences("nothing", README).is_err());
        assert!(differences(&answers(1000), "no table").is_err());
    }
}
