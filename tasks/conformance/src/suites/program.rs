//! A test: programs to compile, one command to run, and the end that is expected.

use std::path::{Path, PathBuf};

/// Whose OpenMP a program was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    Gcc,
    Clang,
}

impl Compiler {
    /// The compiler's program for C or C++.
    pub fn program(self, is_cxx: bool) -> &'static str {
        match (self, is_cxx) {
            (Self::Gcc, false) => "gcc",
            (Self::Gcc, true) => "g++",
            (Self::Clang, false) => "clang",
            (Self::Clang, true) => "clang++",
        }
    }
}

/// The language of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

/// A test of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// `SUITE/PATH`, and `:VARIANT` where a file is more than one test.
    pub name: String,
    /// The row of the table that counts the test.
    pub group: String,
    pub compiler: Compiler,
    /// The plan of the test, or the reason to skip.
    pub plan: Result<Plan, String>,
}

/// How to carry a test out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Compiled in this order.
    pub builds: Vec<Build>,
    pub run: Run,
}

/// One call of a compiler. The call and the run take place in the test's own folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    pub command: Vec<String>,
    /// The sources, whose changes ask for a new build.
    pub sources: Vec<PathBuf>,
}

/// The command of a test and its expected result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub command: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// Whether the command has to end with an error.
    pub should_fail: bool,
    /// Texts that the output has to contain.
    pub output: Vec<String>,
    /// Whether the tried library has to be preloaded: wheels of Python bring a libgomp under a name
    /// of their own.
    pub preloads: bool,
    /// Whether the first line of output must equal that of the run with the test's own library.
    pub keeps_answer: bool,
}

/// All files below a folder that end so, sorted.
pub fn files(folder: &Path, extensions: &[&str]) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if extensions.iter().any(|wanted| *wanted == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
