//! Can the programs be installed, with manual pages and completions, packaged and uninstalled?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::Done;
use crate::command::{self, find, program, run};
use crate::repo;

/// Programs that this step needs to check an installation.
const TOOLS: &[&str] = &["groff", "bash", "dpkg-deb", "dpkg-shlibdeps"];

/// The programs, and the sections of the manual that have their pages.
const PROGRAMS: [(&str, &str); 2] = [("evenkeel", "man1"), ("scx_evenkeel", "man8")];

/// `make install` installs working files, `make uninstall` leaves none, `make deb` packs them.
pub fn check() -> Result<Done> {
    if let Some(missing) = TOOLS.iter().find(|tool| find(&[tool]).is_none()) {
        return Ok(Done::Skipped(format!("no {missing} here")));
    }
    command::evenkeel()?;
    command::scx_evenkeel()?;
    let root = command::target().join("installed");
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("emptying {}", root.display()))?;
    }
    run(&mut make_below("install", &root))?;
    PROGRAMS.iter().try_for_each(|(name, section)| is_installed(&root, name, section))?;

    run(&mut make_below("uninstall", &root))?;
    let left = files(&root)?;
    ensure!(left.is_empty(), "make uninstall left {left:?}");

    is_packed(&package()?)?;
    Ok(Done::Passed)
}

/// The program runs, its pages and completions can be read.
fn is_installed(root: &Path, name: &str, section: &str) -> Result<()> {
    let usr = root.join("usr");
    says_version(&usr.join("bin").join(name), name)?;
    let share = usr.join("share");
    let pages = files(&share.join("man").join(section))?;
    let number = section.trim_start_matches("man");
    let page = format!("{name}.{number}");
    ensure!(pages.iter().any(|path| path.ends_with(&page)), "no {page} was installed");
    pages.iter().try_for_each(|page| reads_well(page))?;
    run(program("bash").arg("-n").arg(share.join("bash-completion/completions").join(name)))?;
    // zsh and fish are not among the tools of this step, which therefore only reads their files.
    let zsh = share.join(format!("zsh/site-functions/_{name}"));
    let fish = share.join(format!("fish/vendor_completions.d/{name}.fish"));
    for path in [zsh, fish] {
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        ensure!(text.contains(name), "{} does not name {name}", path.display());
    }
    Ok(())
}

/// Makes the package and returns its path, the last line that `make deb` prints.
fn package() -> Result<PathBuf> {
    let printed = printed(&mut make("deb"))?;
    let name = printed.lines().last().context("make deb names no package")?;
    Ok(repo::root().join(name))
}

/// The package has both programs.
fn is_packed(package: &Path) -> Result<()> {
    let list = printed(program("dpkg-deb").arg("-c").arg(package))?;
    for (name, _) in PROGRAMS {
        let path = format!("./usr/bin/{name}");
        let is_listed = list.lines().any(|line| line.split_whitespace().last() == Some(&path));
        ensure!(is_listed, "{} has no {path}", package.display());
    }
    Ok(())
}

/// Standard output of a command; its standard error goes to the terminal.
fn printed(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("starting {command:?}"))?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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

fn says_version(path: &Path, name: &str) -> Result<()> {
    let said = printed(Command::new(path).arg("--version"))?;
    ensure!(said.starts_with(&format!("{name} ")), "{} says {said:?}", path.display());
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
