//! Running other programs at the root of the project.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use commands::{Workspace, says_yes};
pub use commands::{find, run};

use crate::repo;

/// Set to 1 for programs that have to run every check.
pub const STRICT: &str = "EVENKEEL_CI";

/// The workspace of the scheduling project.
pub fn workspace() -> Workspace {
    Workspace::new(repo::root())
}

/// A program that will run at the root of the project.
pub fn program(name: &str) -> Command {
    strict(workspace().program(name))
}

/// The cargo that runs this task.
pub fn cargo() -> Command {
    strict(workspace().cargo())
}

fn strict(mut command: Command) -> Command {
    if is_strict() {
        command.env(STRICT, "1");
    }
    command
}

/// Whether every check must run, so that a skip is a failure: in CI.
pub fn is_strict() -> bool {
    ["CI", STRICT].into_iter().any(says_yes)
}

/// The folder that cargo builds in.
pub fn target() -> PathBuf {
    workspace().target()
}

/// Builds what the tests run, as the step `test` does, and returns the folder of the programs. A
/// build of one package has fewer features, for which cargo would compile most crates again.
pub fn tested() -> Result<PathBuf> {
    run(cargo().args(["test", "--workspace", "--locked", "--no-run", "--quiet"]))?;
    Ok(target().join("debug"))
}

/// Builds the command as shipped and returns its path.
pub fn evenkeel() -> Result<PathBuf> {
    built("evenkeel", "evenkeel")
}

/// Builds the kernel scheduler's loader as shipped and returns its path.
pub fn scx_evenkeel() -> Result<PathBuf> {
    built("scheduler", "scx_evenkeel")
}

/// Builds the loader for tests, with this name defined. The next build overwrites the file.
pub fn scx_evenkeel_with(define: &str) -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--quiet", "--package", "scheduler"];
    run(cargo().args(build).env("EVENKEEL_TEST_BUILD", define))?;
    Ok(target().join("release/scx_evenkeel"))
}

fn built(package: &str, program: &str) -> Result<PathBuf> {
    run(cargo().args(["build", "--release", "--locked", "--quiet", "--package", package]))?;
    Ok(target().join("release").join(program))
}

/// Builds a program that is not shipped and returns its path.
pub fn example(package: &str, name: &str) -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--quiet", "--package", package];
    run(cargo().args(build).args(["--example", name]))?;
    Ok(target().join("release/examples").join(name))
}
