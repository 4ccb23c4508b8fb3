//! Runs programs at the root of a workspace.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A Cargo workspace, by the folder of its manifest.
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace in a folder.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// A program that will run at the root.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.current_dir(&self.root);
        command
    }

    /// The cargo that runs this process, at the root.
    pub fn cargo(&self) -> Command {
        self.program(&env::var("CARGO").unwrap_or_else(|_| "cargo".to_string()))
    }

    /// The folder that cargo builds in.
    pub fn target(&self) -> PathBuf {
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        self.root.join(target)
    }
}

/// The root of the task runtime's workspace.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or_else(|| own.to_path_buf(), Path::to_path_buf)
}

/// See [`Workspace::program`], for the task runtime's workspace.
pub fn program(name: &str) -> Command {
    Workspace::new(root()).program(name)
}

/// See [`Workspace::cargo`], for the task runtime's workspace.
pub fn cargo() -> Command {
    Workspace::new(root()).cargo()
}

/// See [`Workspace::target`], for the task runtime's workspace.
pub fn target() -> PathBuf {
    Workspace::new(root()).target()
}

/// Whether every step must run, so that a skipped one is a failure: `CI` is set.
pub fn is_strict() -> bool {
    says_yes("CI")
}

/// Whether a variable of the environment is `true` or `1`.
pub fn says_yes(name: &str) -> bool {
    env::var(name).is_ok_and(|value| is_yes(&value))
}

fn is_yes(value: &str) -> bool {
    matches!(value, "true" | "1")
}

/// Runs a program with its output on the terminal.
///
/// # Errors
///
/// The program cannot be started, or its status is not 0.
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

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn true_and_1_say_yes_and_nothing_else_does() {
        assert!(is_yes("true") && is_yes("1"));
        assert!(!is_yes("false") && !is_yes(""));
    }
}
