//! Builds the programs, in a folder under cargo's.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::runtimes::Runtime;
use crate::command::{program, run};
use crate::repo;

/// Where the programs' sources are.
pub fn sources() -> PathBuf {
    repo::root().join("runtime/peers")
}

/// Builds what these runtimes need.
pub fn all(folder: &Path, runtimes: &[Runtime]) -> Result<()> {
    let mut targets: Vec<&str> = runtimes.iter().map(|runtime| runtime.model.target()).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        let first = if target == "rust" { ", which takes minutes the first time" } else { "" };
        eprintln!("peers: building {target}{first}");
        let out = format!("OUT={}", folder.display());
        // What this process was told by its cargo is not for the cargo that make runs.
        let mut make = program("make");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_")) && name != "CARGO_HOME"
            {
                make.env_remove(name);
            }
        }
        run(make.arg("--silent").arg("-C").arg(sources()).args([&out, target]))
            .with_context(|| format!("building {target}"))?;
    }
    Ok(())
}
