//! A program to start: its words, and the variables of its environment.

use std::os::unix::process::CommandExt;
use std::process::{self, Stdio};

/// A program with its arguments, and the variables added to the environment of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments; at least the program.
    pub words: Vec<String>,
    /// Variables.
    pub environment: Vec<(String, String)>,
}

impl Command {
    /// The command on one line.
    #[must_use]
    pub fn line(&self) -> String {
        let variables = self.environment.iter().map(|(name, value)| format!("{name}={value}"));
        variables.chain(self.words.iter().cloned()).collect::<Vec<_>>().join(" ")
    }

    pub(in crate::trial) fn process(&self) -> process::Command {
        let mut process = process::Command::new(&self.words[0]);
        process
            .args(&self.words[1..])
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        process
    }
}
