//! Running other programs at the root of the project.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::repo;

/// A program that will run at the root of the project.
pub fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(repo::root());
    if is_strict() {
        command.env("EVENKEEL_CI", "1");
    }
    command
}

/// Whether everything must run, so that a skip is a failure: in CI.
pub fn is_strict() -> bool {
    ["CI", "EVENKEEL_CI"].iter().any(|name| env::var(name).is_ok_and(|value| says_yes(&value)))
}

fn says_yes(value: &str) -> bool {
    matches!(value, "true" | "1")
}

/// The cargo that runs this task.
pub fn cargo() -> Command {
    program(&env::var("CARGO").unwrap_or_else(|_| "cargo".to_string()))
}

/// Cargo in the workspace of the task runtime, which shares the target folder of the project.
pub fn tasks_cargo() -> Command {
    let mut command = cargo();
    command.current_dir(repo::root().join("tasks")).env("CARGO_TARGET_DIR", target());
    // The runtime reports variables that it does not know.
    command.env_remove("EVENKEEL_CI");
    command
}

/// Runs it with its output on the terminal; an error unless it ends with status 0.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {}", named(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", named(command));
    }
    Ok(())
}

/// The program without its folder, and its first words.
fn named(command: &Command) -> String {
    const WORDS: usize = 3;
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.take(WORDS).map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The first of these programs that this machine has.
pub fn find(names: &[&'static str]) -> Option<&'static str> {
    let path = env::var_os("PATH")?;
    names
        .iter()
        .copied()
        .find(|name| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    repo::root().join(target)
}

/// Builds the command as it is shipped and says where it is.
pub fn evenkeel() -> Result<PathBuf> {
    built("evenkeel", "evenkeel")
}

/// The same of the kernel scheduler's loader.
pub fn scx_evenkeel() -> Result<PathBuf> {
    built("scheduler", "scx_evenkeel")
}

/// The same, built for tests with this name defined. The next build takes its place.
pub fn scx_evenkeel_with(define: &str) -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--quiet", "--package", "scheduler"];
    run(cargo().args(build).env("EVENKEEL_TEST_BUILD", define))?;
    Ok(target().join("release/scx_evenkeel"))
}

fn built(package: &str, program: &str) -> Result<PathBuf> {
    run(cargo().args(["build", "--release", "--locked", "--quiet", "--package", package]))?;
    Ok(target().join("release").join(program))
}

/// Builds a program that is not shipped and says where it is.
pub fn example(package: &str, name: &str) -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--quiet", "--package", package];
    run(cargo().args(build).args(["--example", name]))?;
    Ok(target().join("release/examples").join(name))
}

#[cfg(test)]
mod tests {
    use super::says_yes;

    #[test]
    fn true_and_1_say_yes_and_nothing_else_does() {
        assert!(says_yes("true") && says_yes("1"));
        assert!(!says_yes("false") && !says_yes(""));
    }
}
