//! Compiles the commit into the version.

use std::path::Path;
use std::process::Command;

fn main() {
    // Git adds a line to this file whenever another commit is checked out or made, in this worktree
    // and in no other. Cargo would compile the command every time for a file that does not exist.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    let watched = match log.filter(|path| Path::new(path).exists()) {
        Some(log) => vec![log],
        None => ["HEAD", "refs/heads"].map(|name| format!("../.git/{name}")).to_vec(),
    };
    watched.iter().for_each(|path| println!("cargo::rerun-if-changed={path}"));
    let hash = git(&["rev-parse", "--short=12", "HEAD"]);
    println!("cargo::rustc-env=EVENKEEL_COMMIT={}", hash.as_deref().unwrap_or("unknown"));
}

/// What git prints; nothing outside a checkout, and without git.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| printed.trim().to_owned())
}
