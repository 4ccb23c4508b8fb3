//! Can it be installed, read about, completed, packaged and taken away again?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::Done;
use crate::command::{self, find, program, run};

/// Programs that a look at what was installed needs.
const TOOLS: &[&str] = &["groff", "bash", "dpkg-deb", "dpkg-shlibdeps"];

/// What `make install` puts there works, `make uninstall` leaves nothing, `make deb` packs it.
pub fn check() -> Result<Done> {
    if let Some(missing) = TOOLS.iter().find(|tool| find(&[tool]).is_none()) {
        return Ok(Done::Skipped(format!("no {missing} here")));
    }
    command::evenkeel()?;
    let root = command::target().join("installed");
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("emptying {}", root.display()))?;
    }
    run(&mut make_below("install", &root))?;
    let usr = root.join("usr");
    says_version(&usr.join("bin/evenkeel"))?;
    let pages = files(&usr.join("share/man/man1"))?;
    ensure!(!pages.is_empty(), "no manual page was installed");
    pages.iter().try_for_each(|page| reads_well(page))?;
    let completions = usr.join("share/bash-completion/completions/evenkeel");
    run(program("bash").arg("-n").arg(completions))?;

    run(&mut make_below("uninstall", &root))?;
    let left = files(&root)?;
    ensure!(left.is_empty(), "make uninstall left {left:?}");

    run(&mut make("deb"))?;
    Ok(Done::Passed)
}

fn make(target: &str) -> Command {
    let mut command = program("make");
    command.args(["--no-print-directory", target]);
    command
}

fn make_below(target: &str, root: &Path) -> Command {
    let mut command = make(target);
    command.arg("PREFIX=/usr").arg(format!("DESTDIR={}", root.display()));
    command
}

fn says_version(evenkeel: &Path) -> Result<()> {
    let output = Command::new(evenkeel)
        .arg("--version")
        .output()
        .with_context(|| format!("starting {}", evenkeel.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(said.starts_with("evenkeel "), "{} says {said:?}", evenkeel.display());
    Ok(())
}

/// The formatter of manual pages has nothing to complain about.
fn reads_well(page: &Path) -> Result<()> {
    let output = program("groff")
        .args(["-k", "-Tutf8", "-man", "-ww", "-z"])
        .arg(page)
        .output()
        .context("starting groff")?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !complaints.is_empty() {
        bail!("{}: {complaints}", page.display());
    }
    Ok(())
}

/// Every file below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.append(&mut files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
