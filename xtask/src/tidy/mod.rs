//! `cargo xtask tidy`: rules of the source text that no compiler checks.
//!
//! Each rule is a pure function from the files to findings. All rules run as a
//! command, as a step of `cargo xtask ci` and as a unit test.

mod arrows;
mod cycles;
mod decisions;
mod includes;
mod length;
mod libraries;
mod links;
mod modules;
mod prose;
mod spdx;
mod width;
mod words;

use std::fmt;

use anyhow::{Result, bail};

use crate::repo::{self, TextFile};

/// Something to mend, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(file: &TextFile, line: usize, message: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Every finding, by path and line.
fn findings(files: &[TextFile]) -> Vec<Finding> {
    let mut found: Vec<Finding> = files
        .iter()
        .flat_map(|file| {
            let rules = [width::check, length::check, words::check, spdx::check];
            rules.into_iter().flat_map(move |rule| rule(file))
        })
        .collect();
    found.extend(arrows::check(files));
    found.extend(cycles::check(files));
    found.extend(decisions::check(files));
    found.extend(includes::check(files));
    found.extend(libraries::check(files));
    found.extend(links::check(files));
    found.extend(prose::check(files));
    found.sort();
    found
}

/// Choice of what `cargo xtask tidy` shows.
#[derive(Default, clap::Args)]
pub struct Args {
    /// Show which files of a crate use each other in a cycle, instead of judging.
    #[arg(long, value_name = "FOLDER")]
    cycles_of: Option<String>,
    /// Show the comment lines of a room that lean on a pronoun, instead of judging.
    #[arg(long, value_name = "ROOM")]
    prose: Option<String>,
}

/// Prints the findings; an error if the rules found any.
pub fn run(args: &Args) -> Result<()> {
    if let Some(folder) = &args.cycles_of {
        return show_cycles(folder);
    }
    if let Some(room) = &args.prose {
        return show_prose(room);
    }
    let found = findings(&repo::text_files()?);
    for finding in &found {
        println!("{finding}");
    }
    if !found.is_empty() {
        bail!("{} to mend", found.len());
    }
    Ok(())
}

fn show_cycles(folder: &str) -> Result<()> {
    let files = repo::text_files()?;
    for (root, _) in cycles::roots(&files).iter().filter(|(_, of)| of == folder) {
        let modules = modules::Modules::read(&files, root);
        let arrows: usize = modules.uses.values().map(|used| used.len()).sum();
        println!("{root}: {} files, {arrows} arrows", modules.uses.len());
        for cycle in cycles::cycles(&modules) {
            println!("cycle of {}: {}", cycle.len(), cycle.join(" "));
        }
        for (user, used) in cycles::arrows(&modules) {
            println!("{user} -> {}", used.join(" "));
        }
    }
    Ok(())
}

fn show_prose(room: &str) -> Result<()> {
    let files = repo::text_files()?;
    for file in files.iter().filter(|file| file.room() == room) {
        for (line, comment) in prose::comments(file).filter(|(_, comment)| prose::leans(comment)) {
            println!("{}:{line}: {comment}", file.path);
        }
    }
    for (of, count) in prose::by_room(&files) {
        println!("{of}: {} of {} lines, {} %", count.leaning, count.lines, count.percent());
    }
    Ok(())
}

/// The lines of a Rust file that run outside tests: no comments, no test modules.
fn shipped_lines(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = file.text.lines().collect();
    let tests_begin = lines
        .windows(2)
        .position(|pair| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        })
        .unwrap_or(lines.len());
    let only_tests = file.path.contains("/tests/") || file.path.ends_with("tests.rs");
    let shipped = if only_tests { 0 } else { tests_begin };
    file.lines().take(shipped).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A file that a rule is tried on.
    pub fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_string(), text: text.to_string() }
    }

    #[test]
    fn the_project_is_tidy() {
        let found = findings(&repo::text_files().unwrap());
        let list: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{}", list.join("\n"));
    }

    #[test]
    fn a_test_module_at_the_end_is_not_shipped() {
        let text = "fn a() {}\n#[cfg(test)]\nuse b;\n// c\n#[cfg(test)]\nmod tests {\n}\n";
        let file = file("trace/src/lib.rs", text);
        let lines: Vec<usize> = shipped_lines(&file).map(|(number, _)| number).collect();
        assert_eq!(lines, [1, 2, 3]);
    }
}
