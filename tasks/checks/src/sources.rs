//! Rules for the text of the sources: this workspace stands alone, and the runtime knows every
//! variable of the environment that a source names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use commands::steps::Done;
use commands::{Workspace, c_format, root};

/// Folders that no person wrote.
const SKIPPED: [&str; 4] = [".git", "target", "out", "__pycache__"];
/// A path after one of these begins at a folder of the installed system.
const ELSEWHERE: [&str; 1] = ["${pcfiledir}/"];
/// The list of variables that the runtime knows.
const VARIABLES: &str = "runtime/src/variables.rs";

/// A text file, by its path from the root.
struct Source {
    path: String,
    text: String,
}

/// C and C++ are formatted.
pub fn c_format() -> Result<Done> {
    let sources = read()?;
    let paths: Vec<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let files: Vec<&str> = paths.into_iter().filter(|path| c_format::is_c(path)).collect();
    c_format::check(&Workspace::new(root()), &files)
}

/// Reads every text file and applies the rules.
pub fn check() -> Result<Done> {
    let sources = read()?;
    let mut found: Vec<String> = sources.iter().flat_map(places_outside).collect();
    found.extend(variables(&sources)?);
    for line in &found {
        println!("{line}");
    }
    ensure!(found.is_empty(), "{} to mend", found.len());
    println!("{} files", sources.len());
    Ok(Done::Passed)
}

fn read() -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    collect(&root(), "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn collect(folder: &Path, path: &str, sources: &mut Vec<Source>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let below = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(&entry.path(), &below, sources)?;
            }
        } else if kind.is_symlink() {
            bail!("{below} is a symbolic link: its target may be outside");
        } else if let Ok(text) = String::from_utf8(fs::read(entry.path())?) {
            sources.push(Source { path: below, text });
        }
    }
    Ok(())
}

/// Lines with a relative path that climbs above the root of the workspace.
fn places_outside(source: &Source) -> Vec<String> {
    let folders = source.path.matches('/').count();
    let mut found = Vec::new();
    for (line, number) in source.text.lines().zip(1..) {
        if climbs(line) > folders {
            found.push(format!("{}:{number}: a path leads outside: {line}", source.path));
        }
    }
    found
}

/// The most folders that a path in a line climbs in a row.
fn climbs(line: &str) -> usize {
    let mut most = 0;
    let mut rest = line;
    while let Some(at) = rest.find("../") {
        // Three dots are an ellipsis.
        let is_elsewhere = ELSEWHERE.iter().chain(&["."]).any(|begin| rest[..at].ends_with(begin));
        let path = &rest[at..];
        let steps = path.as_bytes().chunks(3).take_while(|step| *step == b"../").count();
        let after = &path[3 * steps..];
        let last = after.starts_with("..") && !after.starts_with("...");
        if !is_elsewhere {
            most = most.max(steps + usize::from(last));
        }
        rest = after;
    }
    most
}

/// Variables that a source names and the runtime does not know, and the reverse.
fn variables(sources: &[Source]) -> Result<Vec<String>> {
    let list = sources.iter().find(|source| source.path == VARIABLES).context(VARIABLES)?;
    let (_, known) = list.text.split_once("const KNOWN").context("no list of variables")?;
    let (known, _) = known.split_once("];").context("no end of the list of variables")?;
    let known: BTreeSet<&str> = names(known).collect();

    let mut named = BTreeSet::new();
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| is_code(&source.path)) {
        for name in names(&source.text) {
            named.insert(name);
            if !known.contains(name) {
                found.push(format!("{}: the runtime does not know {name}", source.path));
            }
        }
    }
    let unread =
        known.difference(&named).map(|name| format!("{VARIABLES}: no source reads {name}"));
    found.extend(unread);
    Ok(found)
}

/// Files whose names begin with `variables.` have misspelt names, for tests.
fn is_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_source = ["rs", "c", "cpp", "h"].iter().any(|end| name.ends_with(&format!(".{end}")));
    is_source && !name.starts_with("variables.")
}

/// Names of variables in quotes, except those that tests have for themselves and those that are
/// read at compile time.
fn names(text: &str) -> impl Iterator<Item = &str> {
    const BEGIN: &str = concat!("\"", "EVENKEEL_");
    text.match_indices(BEGIN).filter_map(move |(at, _)| {
        let name = text[at + 1..].split('"').next()?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let is_read = name.len() >= BEGIN.len() && !text[..at].ends_with("env!(");
        (is_name && is_read && !name.starts_with("EVENKEEL_TEST_")).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_path_may_climb_to_the_root_and_no_higher() {
        let outside = |path, text| places_outside(&source(path, text)).len();
        assert_eq!(outside("c/src/a.rs", "include_str!(\"../../runtime/b\")"), 0);
        let above = concat!("include_str!(\"..", "/../../b\")");
        assert_eq!(outside("c/src/a.rs", above), 1);
        assert_eq!(outside("README.md", "[a](../README.md)"), 1);
        assert_eq!(outside("c/a.md", "[a](..), [b](../..)"), 1);
        assert_eq!(outside("c/b.pc.in", "prefix=${pcfiledir}/../.."), 0);
        assert_eq!(outside("README.md", "from .../a to b..."), 0);
    }

    #[test]
    fn a_variable_is_known_and_read_or_found() {
        let list = "const KNOWN: [&str; 2] = [\"EVENKEEL_A\", \"EVENKEEL_B\"];";
        let found = |text: &str| {
            variables(&[source(VARIABLES, list), source("c/src/a.rs", text)]).unwrap().len()
        };
        let both = "var(\"EVENKEEL_A\"), var(\"EVENKEEL_B\"), env!(\"EVENKEEL_C\")";
        assert_eq!(found(&format!("{both}, \"EVENKEEL_TEST_D\", \"EVENKEEL_\"")), 0);
        assert_eq!(found("var(\"EVENKEEL_A\")"), 1);
        assert_eq!(found(&format!("{both}, var(\"EVENKEEL_C\")")), 1);
    }
}
