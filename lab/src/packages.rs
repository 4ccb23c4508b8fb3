//! Gets packages of Debian through this machine's own mirror, without touching its apt.
//!
//! Lists, cache and sources are private; proxies and other ways to fetch are taken over, hooks are
//! not. Signatures are checked against Debian's keys on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{LabError, at, finish};

/// Kernels that have a short name, by package and suite.
const KNOWN: [(&str, &str, &str); 7] = [
    ("5.10", "linux-image-amd64", "bullseye"),
    ("6.1", "linux-image-amd64", "bookworm"),
    ("6.12", "linux-image-amd64", "trixie"),
    // The small ones for clouds, which have sched_ext.
    ("6.18", "linux-image-6.18.15+deb13-cloud-amd64", "trixie-backports"),
    ("6.19", "linux-image-6.19.14+deb13-cloud-amd64", "trixie-backports"),
    ("7.0", "linux-image-7.0.13+deb13-cloud-amd64", "trixie-backports"),
    ("sid", "linux-image-cloud-amd64", "sid"),
];
/// Releases of Debian, which have security updates of their own.
const RELEASES: [&str; 3] = ["bullseye", "bookworm", "trixie"];
/// The names by which a kernel can be requested.
pub(crate) const EXPECTED: &str = "5.10, 6.1, 6.12, 6.18, 6.19, 7.0, sid, or PACKAGE/SUITE as in \
                                   linux-image-7.0.13+deb13-cloud-amd64/trixie-backports";
/// Keys that Debian signs with, where the system does not trust them anyway.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A package and its suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub package: String,
    pub suite: String,
}

impl Wanted {
    /// By the short name of a kernel, or as PACKAGE/SUITE.
    pub(crate) fn parse(name: &str) -> Result<Self, LabError> {
        if let Some((_, package, suite)) = KNOWN.iter().find(|(known, ..)| *known == name) {
            return Ok(Self { package: (*package).into(), suite: (*suite).into() });
        }
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        };
        match name.split_once('/') {
            Some((package, suite)) if is_word(package) && is_word(suite) => {
                Ok(Self { package: package.into(), suite: suite.into() })
            }
            _ => Err(LabError::Unknown(name.into())),
        }
    }
}

/// An apt with a configuration of its own, in a temporary folder.
pub(crate) struct Apt {
    folder: tempfile::TempDir,
}

impl Apt {
    /// Fetches the lists of a suite.
    pub(crate) fn of(suite: &str) -> Result<Self, LabError> {
        let targets = finish(Command::new("apt-get").args([
            "indextargets",
            "--format",
            "$(LABEL) $(SITE)",
            "Created-By: Packages",
        ]))?;
        let sources = sources(&String::from_utf8_lossy(&targets.stdout), suite);
        if sources.is_empty() {
            return Err(LabError::NoMirror);
        }
        let acquire = finish(Command::new("apt-config").args(["dump", "Acquire"]))?;
        let folder = tempfile::tempdir().map_err(at(Path::new("a folder for apt")))?;
        let path = folder.path();
        for part in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(path.join(part)).map_err(at(path))?;
        }
        let write = |name: &str, text: &str| fs::write(path.join(name), text).map_err(at(path));
        write("sources.list", &sources)?;
        write("status", "")?;
        let config = configuration(path, &String::from_utf8_lossy(&acquire.stdout));
        write("apt.conf", &config)?;
        let apt = Self { folder };
        finish(apt.command("apt-get").args(["-q", "-q", "update"]))?;
        Ok(apt)
    }

    /// A program of apt that sees nothing of the system's.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("APT_CONFIG", self.folder.path().join("apt.conf"));
        command.current_dir(self.folder.path());
        command
    }

    /// The package that holds the kernel or its source: where a metapackage leads, else itself.
    /// Since 6.19 the kernel of an image is in a package of its own, which names no further one.
    pub(crate) fn real(&self, package: &str) -> Result<String, LabError> {
        let mut package = package.to_owned();
        loop {
            let command = &mut self.command("apt-cache");
            let shown = finish(command.args(["show", "--no-all-versions", &package]))?;
            let shown = String::from_utf8_lossy(&shown.stdout);
            let begins = ["linux-binary-", "linux-image-", "linux-source-"];
            match begins.iter().find_map(|begin| dependency(&shown, begin)) {
                Some(next) if next != package => package = next,
                _ => return Ok(package),
            }
        }
    }

    /// Downloads a package, unpacks the files into the folder and returns the version.
    pub(crate) fn unpack(&self, package: &str, into: &Path) -> Result<String, LabError> {
        finish(self.command("apt-get").args(["-q", "-q", "download", package]))?;
        let archive = self.downloaded(package)?;
        let version = finish(Command::new("dpkg-deb").arg("-f").arg(&archive).arg("Version"))?;
        finish(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(into))?;
        fs::remove_file(&archive).map_err(at(&archive))?;
        Ok(String::from_utf8_lossy(&version.stdout).trim().to_owned())
    }

    fn downloaded(&self, package: &str) -> Result<PathBuf, LabError> {
        let path = self.folder.path();
        let begin = format!("{package}_");
        let mut files = fs::read_dir(path).map_err(at(path))?.filter_map(Result::ok);
        let file = files.find(|file| file.file_name().to_string_lossy().starts_with(&begin));
        file.map(|file| file.path()).ok_or_else(|| LabError::Failed {
            program: "apt-get download".into(),
            why: format!("no file of {package} came"),
        })
    }
}

/// The sources of a suite, from lines of label and site.
fn sources(targets: &str, suite: &str) -> String {
    let site_of = |wanted: &str| {
        let lines = targets.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(label, _)| *label == wanted).map(|(_, site)| site).next()
    };
    let keys =
        if Path::new(KEYS).exists() { format!("[signed-by={KEYS}] ") } else { String::new() };
    let line = |site: &str, suite: &str| format!("deb {keys}{site} {suite} main\n");
    let Some(site) = site_of("Debian") else { return String::new() };
    let mut sources = line(site, suite);
    if let Some(release) = suite.strip_suffix("-backports") {
        sources += &line(site, release);
    }
    if let Some(security) = site_of("Debian-Security")
        && RELEASES.contains(&suite)
    {
        sources += &line(security, &format!("{suite}-security"));
    }
    sources
}

/// The configuration of a private apt; `acquire` is the system's, in apt's own form.
fn configuration(folder: &Path, acquire: &str) -> String {
    let folder = folder.display();
    format!(
        "{acquire}\
         Dir::State \"{folder}\";\n\
         Dir::State::lists \"{folder}/lists\";\n\
         Dir::State::status \"{folder}/status\";\n\
         Dir::Cache \"{folder}/cache\";\n\
         Dir::Etc::sourcelist \"{folder}/sources.list\";\n\
         Dir::Etc::sourceparts \"/dev/null\";\n\
         Dir::Etc::parts \"/dev/null\";\n\
         Dir::Etc::main \"/dev/null\";\n\
         APT::Architecture \"amd64\";\n\
         APT::Architectures {{ \"amd64\"; }};\n\
         APT::Sandbox::User \"\";\n"
    )
}

/// The first package that one depends on and whose name begins so.
fn dependency(shown: &str, begin: &str) -> Option<String> {
    let depends = shown.lines().find_map(|line| line.strip_prefix("Depends: "))?;
    let names = depends.split(',').filter_map(|part| part.split_whitespace().next());
    names.filter(|name| name.starts_with(begin)).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_asked_for_by_version_or_by_package_and_suite() {
        let known = Wanted::parse("6.1").unwrap();
        assert_eq!(
            (known.package.as_str(), known.suite.as_str()),
            ("linux-image-amd64", "bookworm")
        );
        let own = Wanted::parse("linux-image-6.12.107+deb12-amd64/bookworm-backports").unwrap();
        assert_eq!(own.suite, "bookworm-backports");
        for name in ["6.2", "", "a/b/c", "-o/x", "linux image/sid", "../x/sid"] {
            let refused = Wanted::parse(name).unwrap_err().to_string();
            assert!(refused.contains("expected 5.10, 6.1"), "{name}: {refused}");
        }
    }

    #[test]
    fn sources_are_the_mirrors_of_the_machine_and_no_others() {
        let targets = "Foreign http://other/x\nDebian http://mirror/debian\n\
                       Debian-Security http://mirror/security\n";
        let list = sources(targets, "bookworm");
        let lines: Vec<_> = list.lines().collect();
        assert!(lines[0].ends_with("http://mirror/debian bookworm main"));
        assert!(lines[1].ends_with("http://mirror/security bookworm-security main"));
        assert_eq!(sources(targets, "sid").lines().count(), 1);
        let backports = sources(targets, "trixie-backports");
        assert!(backports.ends_with("http://mirror/debian trixie main\n"), "{backports}");
        assert_eq!(sources("Ubuntu http://mirror/ubuntu\n", "bookworm"), "");
    }

    #[test]
    fn a_metapackage_names_the_kernel_it_stands_for() {
        let shown =
            "Package: linux-image-amd64\nDepends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)\n";
        assert_eq!(dependency(shown, "linux-image-"), Some("linux-image-6.1.0-56-amd64".into()));
        assert_eq!(dependency("Depends: kmod, linux-base (>= 4)\n", "linux-image-"), None);
    }

    #[test]
    fn hooks_of_the_system_stay_out_and_its_proxies_come_along() {
        let config = configuration(Path::new("/private"), "Acquire::http::Proxy \"http://p\";\n");
        assert!(config.contains("Acquire::http::Proxy \"http://p\";\n"));
        assert!(config.contains("Dir::Etc::parts \"/dev/null\";"));
        assert!(config.contains("Dir::State::lists \"/private/lists\";"));
    }
}
