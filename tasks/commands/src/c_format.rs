//! The format of C and C++, by clang-format with the nearest `.clang-format` above each file.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::Done;
use crate::workspace::{Workspace, find, run};

/// Debian and Ubuntu name the program by its version too.
const NAMES: [&str; 2] = ["clang-format-14", "clang-format"];
/// The version that formatted the files. Another version breaks some lines elsewhere.
const VERSION: &str = "version 14.";
/// Endings of the names of C and C++ files.
const ENDINGS: [&str; 4] = [".c", ".h", ".cpp", ".hpp"];

/// Whether a file is C or C++, by its name.
pub fn is_c(path: &str) -> bool {
    ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// Compares files, named from the root of a workspace, with their format. Every difference is
/// printed with its place.
///
/// # Errors
///
/// A file is not formatted, or clang-format cannot be started.
pub fn check(workspace: &Workspace, files: &[&str]) -> Result<Done> {
    let Some(name) = find(&NAMES) else {
        return Ok(Done::Skipped("no clang-format-14 here".to_owned()));
    };
    if !is_known(&mut workspace.program(name))? {
        return Ok(Done::Skipped(format!("{name} is not of {VERSION}0")));
    }
    let mut format = workspace.program(name);
    format.args(["--style=file", "--dry-run", "--Werror"]).args(files);
    run(&mut format).with_context(|| format!("mend by `{name} -i FILE`"))?;
    Ok(Done::Passed)
}

/// Whether clang-format is of the version that formatted the files.
fn is_known(format: &mut Command) -> Result<bool> {
    let output = format.arg("--version").output().context("starting clang-format")?;
    ensure!(output.status.success(), "clang-format --version ended with {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).contains(VERSION))
}

#[cfg(test)]
mod tests {
    use super::is_c;

    #[test]
    fn headers_of_both_languages_are_c_and_rust_is_not() {
        assert!(is_c("a/b.c") && is_c("a.bpf.h") && is_c("b.cpp") && is_c("b.hpp"));
        assert!(!is_c("a.rs") && !is_c("a.css") && !is_c("a.c.txt"));
    }
}
