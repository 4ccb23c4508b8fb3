//! Gets the suites out of Debian's packages, through the machine's own apt and mirror. Nothing is
//! installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::program::files;

/// Folders and files taken from gcc's source.
const OF_GCC: [&str; 3] = ["*/libgomp/testsuite", "*/libgomp/*.h", "*/include"];
/// Files taken from LLVM's source: tests, and headers that some of them include.
const OF_LLVM: [&str; 2] = ["*/openmp/runtime/test", "*/openmp/runtime/src/*.h"];
/// Keys that Debian signs with.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Where gcc's source is: from the package `gcc-N-source`, of the installed gcc's N.
pub fn gcc(folder: &Path, version: u32) -> Result<PathBuf> {
    let package = format!("gcc-{version}-source");
    unpacked(folder, &package, |work, root| {
        package_files(work, &package, work)?;
        let archive = one(&work.join("usr/src"), &["xz", "gz", "zst"], "gcc-")?;
        untar(&archive, root, &OF_GCC)
    })
}

/// The root of a tree that has gfortran and links to the rest of the installed gcc.
pub fn gfortran(folder: &Path, version: u32, of_gcc: &Path) -> Result<PathBuf> {
    let package = format!("gfortran-{version}");
    let library = format!("libgfortran-{version}-dev");
    unpacked(folder, &package, |work, root| {
        for package in [&package, &library, "libgfortran5"] {
            package_files(work, package, root)?;
        }
        link_missing(of_gcc, &root.join(of_gcc.strip_prefix("/").unwrap_or(of_gcc)))
    })
}

/// Links the entries of one folder into another one that lacks them.
fn link_missing(from: &Path, into: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("listing {}", from.display()))? {
        let entry = entry?;
        let link = into.join(entry.file_name());
        if link.is_dir() {
            link_missing(&entry.path(), &link)?;
        } else if link.symlink_metadata().is_err() {
            symlink(entry.path(), &link).with_context(|| format!("linking {}", link.display()))?;
        }
    }
    Ok(())
}

/// Downloads and unpacks a package.
fn package_files(work: &Path, package: &str, into: &Path) -> Result<()> {
    finish(apt(work).args(["download", package]))?;
    let archive = one(work, &["deb"], &format!("{package}_"))?;
    finish(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(into))?;
    Ok(())
}

/// Unpacks some members, without the name of the folder at the top.
fn untar(archive: &Path, root: &Path, members: &[&str]) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("-C").arg(root);
    tar.args(["--strip-components=1", "--wildcards", "--no-wildcards-match-slash"]);
    finish(tar.args(members))?;
    Ok(())
}

/// Where LLVM's tests are: from the source package of the installed clang's version.
pub fn llvm(folder: &Path, version: u32) -> Result<PathBuf> {
    let package = format!("llvm-toolchain-{version}");
    let root = unpacked(folder, &package, |work, root| {
        let targets = finish(Command::new("apt-get").args([
            "indextargets",
            "--format",
            "$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)",
            "Created-By: Packages",
        ]))?;
        let sources = sources(&targets, Path::new(KEYS).exists());
        ensure!(!sources.is_empty(), "apt knows no mirror of Debian or Ubuntu");
        fs::write(work.join("sources.list"), sources).context("writing the list of sources")?;
        for part in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(work.join(part)).context("making folders for apt")?;
        }
        finish(apt_of_sources(work).arg("update"))?;
        finish(apt_of_sources(work).args([
            "source",
            "--download-only",
            "--only-source",
            &package,
        ]))?;
        let archive = one(work, &["xz", "gz", "bz2"], &format!("{package}_"))?;
        untar(&archive, root, &OF_LLVM)
    })?;
    Ok(root.join("openmp/runtime/test"))
}

/// The folder of a package's files, which exists completely or not at all.
fn unpacked(
    folder: &Path,
    package: &str,
    get: impl FnOnce(&Path, &Path) -> Result<()>,
) -> Result<PathBuf> {
    let place = folder.join(package);
    if place.is_dir() {
        return Ok(place);
    }
    eprintln!("suites: getting {package}");
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let work = tempfile::tempdir_in(folder).context("making a folder for a package")?;
    let root = work.path().join("unpacked");
    fs::create_dir(&root).context("making a folder for the files")?;
    get(work.path(), &root).with_context(|| format!("getting {package}"))?;
    fs::rename(&root, &place).with_context(|| format!("moving to {}", place.display()))?;
    Ok(place)
}

/// apt-get, which downloads into this folder.
fn apt(work: &Path) -> Command {
    let mut apt = Command::new("apt-get");
    // apt's sandbox user may not write into our folder.
    apt.current_dir(work).args(["-q", "-q", "-o", "APT::Sandbox::User="]);
    apt
}

/// apt-get with the package sources of the folder, which also keeps the package lists.
fn apt_of_sources(work: &Path) -> Command {
    let mut apt = apt(work);
    for (option, path) in [
        ("Dir::Etc::SourceList", "sources.list"),
        ("Dir::Etc::SourceParts", "no-such-folder"),
        ("Dir::State::Lists", "lists"),
        ("Dir::Cache", "cache"),
    ] {
        apt.arg("-o").arg(format!("{option}={}", work.join(path).display()));
    }
    apt
}

/// Lines for source packages of the mirrors that the machine has packages from.
fn sources(targets: &str, has_keys: bool) -> String {
    let mut lines = Vec::new();
    for target in targets.lines() {
        let words: Vec<&str> = target.split(' ').collect();
        let [origin, mirror, release, "main" | "universe"] = words[..] else { continue };
        let keys = match origin {
            "Debian" if has_keys => format!("[signed-by={KEYS}] "),
            "Debian" | "Ubuntu" => String::new(),
            _ => continue,
        };
        lines.push(format!("deb-src {keys}{mirror} {release} {}\n", words[3]));
    }
    lines.sort_unstable();
    lines.dedup();
    lines.concat()
}

/// The file below a folder whose name begins and ends so.
fn one(folder: &Path, extensions: &[&str], begin: &str) -> Result<PathBuf> {
    let found = files(folder, extensions)?.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(begin) && !name.contains(".debian.")
    });
    found.with_context(|| format!("no file {begin}* came"))
}

/// The standard output of a program; an error with its standard error if the program fails.
fn finish(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("starting {name}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let last = complaint.trim_end().lines().next_back().unwrap_or("said nothing").to_owned();
        bail!("{name}: {last} (has apt-get update been run?)");
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_of_the_mirrors_of_the_machine() {
        let targets = "Debian http://mirror/debian/ one main\n\
                       Debian http://mirror/debian/ one contrib\n\
                       Foreign http://other/ one main\n\
                       Debian http://mirror/debian/ one main\n";
        assert_eq!(sources(targets, false), "deb-src http://mirror/debian/ one main\n");
        assert!(sources(targets, true).starts_with("deb-src [signed-by=/usr/share/keyrings/"));
    }

    #[test]
    fn files_that_a_folder_lacks_are_linked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("from/include")).unwrap();
        fs::create_dir_all(path("into/include")).unwrap();
        for (name, text) in [("from/a", "1"), ("from/include/b", "2"), ("into/a", "3")] {
            fs::write(path(name), text).unwrap();
        }
        link_missing(&path("from"), &path("into")).unwrap();
        let read = |name: &str| fs::read_to_string(path(name)).unwrap();
        assert_eq!((read("into/a"), read("into/include/b")), ("3".into(), "2".into()));
    }

    #[test]
    fn a_source_is_told_from_what_debian_adds() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a_1.debian.tar.xz", "a_1.orig.tar.xz", "b_1.orig.tar.xz"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let found = one(folder.path(), &["xz"], "a_").unwrap();
        assert!(found.ends_with("a_1.orig.tar.xz"), "{}", found.display());
    }
}
