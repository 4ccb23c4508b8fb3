//! Costs of the kernel's verifier for each operation, compared with data/measurements.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{command, repo};

/// The test that asks the verifier, and the file that the test leaves in its folder.
pub const TEST: &str = "verifier";
const SAID: &str = "said";
/// A library that is preloaded into the loader to read the verifier's statistics.
pub const LIBRARY: &str = "verifier.so";
/// A number may differ by this percentage, or by `TOLERANCE`.
const TOLERANCE_PCT: u64 = 10;
const TOLERANCE: u64 = 5;
const HEAD: &str = "kernel,clang,mode,program,instructions,states,peak_states";

/// The verifier's counts for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    kernel: String,
    /// Major version of the compiler.
    clang: String,
    mode: String,
    program: String,
    instructions: u64,
    states: u64,
    peak_states: u64,
}

/// Compiles the library into a folder.
pub fn build(into: &Path) -> Result<()> {
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(into.join(LIBRARY));
    command::run(compiler.arg(super::test::folder().join("verifier.c")).arg("-ldl"))
}

/// Compares the test's rows for a kernel with the file, or writes them to the file.
pub fn judge(kernel: &str, results: &Path, is_written: bool) -> Result<()> {
    let said = results.join(TEST).join(SAID);
    let text = fs::read_to_string(&said).with_context(|| said.display().to_string())?;
    let found = rows_said(&text, kernel, &clang()?)?;
    let path = file();
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let known = rows_of(&text).with_context(|| path.display().to_string())?;
    if is_written {
        return fs::write(&path, written(known, found)).context("writing the figures");
    }
    let known: Vec<_> = known.into_iter().filter(|row| row.is_of(&found[0])).collect();
    if known.is_empty() {
        let why = format!("no figures of the verifier of {kernel} with clang {}", found[0].clang);
        ensure!(!command::is_strict(), "{why}; {HOW}");
        println!("{why}");
        return Ok(());
    }
    let changes = changes(&known, &found);
    ensure!(changes.is_empty(), "the verifier's work changed: {}; {HOW}", changes.join("; "));
    println!("the verifier's work is as known: {} programs", found.len());
    Ok(())
}

const HOW: &str = "`cargo xtask lab --kernel NAME --write verifier` writes them anew";

fn file() -> PathBuf {
    repo::root().join("data/measurements/kernel-scheduler/verifier.csv")
}

/// Major version of the compiler that the scheduler is built by.
fn clang() -> Result<String> {
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let said = Command::new(clang).arg("--version").output().context("asking clang")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let version = said.split("version ").nth(1).and_then(|rest| rest.split('.').next());
    Ok(version.context("clang does not say its version")?.to_owned())
}

/// From a line `mode fair`, and then lines as `ek_enqueue processed 641 insns (limit 1000000) …
/// total_states 60 peak_states 60`.
fn rows_said(text: &str, kernel: &str, clang: &str) -> Result<Vec<Row>> {
    let mut mode = String::new();
    let row = |line: &str, mode: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1)?.parse().ok()
        };
        Some(Row {
            kernel: kernel.to_owned(),
            clang: clang.to_owned(),
            mode: mode.to_owned(),
            program: (*words.first()?).to_owned(),
            instructions: after("processed")?,
            states: after("total_states")?,
            peak_states: after("peak_states")?,
        })
    };
    let mut rows = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("mode ") {
            Some(name) => name.clone_into(&mut mode),
            None => rows.push(row(line, &mode).with_context(|| format!("statistics: {line}"))?),
        }
    }
    ensure!(!rows.is_empty(), "the verifier told nothing");
    Ok(rows)
}

fn rows_of(text: &str) -> Result<Vec<Row>> {
    let mut lines = text.lines();
    ensure!(lines.next() == Some(HEAD), "expected the columns {HEAD}");
    let row = |line: &str| {
        let [kernel, clang, mode, program, instructions, states, peak_states] =
            line.split(',').collect::<Vec<_>>()[..]
        else {
            bail!("expected seven columns: {line}");
        };
        Ok(Row {
            kernel: kernel.to_owned(),
            clang: clang.to_owned(),
            mode: mode.to_owned(),
            program: program.to_owned(),
            instructions: instructions.parse()?,
            states: states.parse()?,
            peak_states: peak_states.parse()?,
        })
    };
    lines.map(row).collect()
}

/// All rows, where the found rows replace the known ones of their kernel and compiler.
fn written(known: Vec<Row>, found: Vec<Row>) -> String {
    let mut rows: Vec<_> = known.into_iter().filter(|row| !row.is_of(&found[0])).collect();
    rows.extend(found);
    rows.sort_by(|a, b| (&a.kernel, &a.clang).cmp(&(&b.kernel, &b.clang)));
    let line = |row: &Row| {
        let Row { kernel, clang, mode, program, instructions, states, peak_states } = row;
        format!("{kernel},{clang},{mode},{program},{instructions},{states},{peak_states}\n")
    };
    format!("{HEAD}\n{}", rows.iter().map(line).collect::<String>())
}

impl Row {
    /// Whether both rows have one kernel and one compiler.
    fn is_of(&self, other: &Self) -> bool {
        (&self.kernel, &self.clang) == (&other.kernel, &other.clang)
    }
}

/// Changes beyond the tolerance, a sentence each.
fn changes(known: &[Row], found: &[Row]) -> Vec<String> {
    let same = |rows: &[Row], row: &Row| {
        let name = |row: &Row| (row.mode.clone(), row.program.clone());
        rows.iter().find(|other| name(other) == name(row)).cloned()
    };
    let mut changes = Vec::new();
    for row in found {
        let Some(was) = same(known, row) else {
            changes.push(format!("{} is new in mode {}", row.program, row.mode));
            continue;
        };
        let numbers = [
            ("instructions", was.instructions, row.instructions),
            ("states", was.states, row.states),
            ("peak_states", was.peak_states, row.peak_states),
        ];
        for (what, was, is) in numbers {
            if was.abs_diff(is) > TOLERANCE.max(was * TOLERANCE_PCT / 100) {
                let Row { mode, program, .. } = row;
                changes.push(format!("{program} has {is} {what} and not {was} in mode {mode}"));
            }
        }
    }
    let gone = known.iter().filter(|row| same(found, row).is_none());
    changes.extend(gone.map(|row| format!("{} is gone in mode {}", row.program, row.mode)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "mode fair\n\
                        ek_enqueue processed 641 insns (limit 1000000) max_states_per_insn 2 \
                        total_states 60 peak_states 61 mark_read 0\n";

    fn row(program: &str, instructions: u64) -> Row {
        Row {
            kernel: "7.0".into(),
            clang: "14".into(),
            mode: "fair".into(),
            program: program.into(),
            instructions,
            states: 60,
            peak_states: 61,
        }
    }

    #[test]
    fn statistics_are_read_and_written() {
        let found = rows_said(SAID, "7.0", "14").unwrap();
        assert_eq!(found, [row("ek_enqueue", 641)]);
        let other = Row { kernel: "6.18".into(), ..row("ek_enqueue", 600) };
        let text = written(vec![row("ek_old", 1), other.clone()], found);
        assert_eq!(rows_of(&text).unwrap(), [other, row("ek_enqueue", 641)]);
        assert!(rows_said("nothing\n", "7.0", "14").is_err());
        assert!(rows_said("", "7.0", "14").is_err());
        assert!(rows_of("kernel,program\n").is_err());
    }

    #[test]
    fn what_is_beyond_a_tenth_is_named() {
        let known = [row("a", 1000), row("b", 10), row("c", 10)];
        assert!(changes(&known, &[row("a", 1100), row("b", 15), row("c", 10)]).is_empty());
        let found = changes(&known, &[row("a", 1101), row("b", 16), row("d", 10)]);
        let expected = [
            "a has 1101 instructions and not 1000 in mode fair",
            "b has 16 instructions and not 10 in mode fair",
            "d is new in mode fair",
            "c is gone in mode fair",
        ];
        assert_eq!(found, expected);
    }
}
