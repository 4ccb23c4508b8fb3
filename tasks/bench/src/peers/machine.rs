//! The machine, the versions and the command of a measurement.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::build::sources;
use super::measure::Settings;
use super::runtimes::{Model, Runtime, from_checkout};
use commands::root;

/// Some lines that a result is worth nothing without.
pub fn about(packages: &Path, runtimes: &[Runtime], settings: &Settings, others: &str) -> String {
    let mut text = format!(
        "processor     {} ({} cpus)\nkernel        Linux {}\n",
        processor(),
        std::thread::available_parallelism().map_or(1, usize::from),
        read("/proc/sys/kernel/osrelease"),
    );
    text += &format!("command       {}\n", command());
    text += &format!("version       Evenkeel {}, {}\n", env!("CARGO_PKG_VERSION"), commit());
    text += &format!("compilers     {}; {}\n", first_line("gcc"), first_line("clang"));
    let Settings { threads, rounds, seed, realtime } = settings;
    let before = if *realtime { ", before all others (SCHED_RR)" } else { "" };
    text += &format!("settings      {threads} threads, {rounds} rounds, seed {seed}{before}\n");
    text += &format!("others        {others}\n");
    for runtime in runtimes {
        text += &format!("{:<13} {}\n", runtime.name, version(packages, runtime));
    }
    text
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map_or("unknown".to_string(), |text| text.trim().to_string())
}

fn processor() -> String {
    let info = read("/proc/cpuinfo");
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or("unknown".to_string(), |(_, name)| name.trim().to_string())
}

/// The command line, for a repetition.
fn command() -> String {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    from_checkout(&format!("cargo {}", words.join(" ")))
}

/// The measured commit, as git names it.
fn commit() -> String {
    let git = |words: &[&str]| stdout(Command::new("git").arg("-C").arg(root()).args(words));
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "commit unknown".to_string();
    };
    let is_changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some();
    format!("commit {commit}{}", if is_changed { ", with changes" } else { "" })
}

/// A library's version from its package, its header or a lock file.
fn version(packages: &Path, runtime: &Runtime) -> String {
    let package = |name: &str| {
        let version = installed(name).or_else(|| unpacked(packages, name));
        version.map_or("unknown".to_string(), |version| format!("{name} {version}"))
    };
    if let Some(rules) = runtime.rules {
        return rules.to_string();
    }
    match runtime.model {
        _ if runtime.is_ours => runtime.called.clone().unwrap_or("of this version".to_string()),
        Model::OpenmpGcc => package("libgomp1"),
        Model::OpenmpClang => package(&runtime.name.replace("libomp-", "libomp5-")),
        Model::Tbb => package("libtbb-dev"),
        Model::Taskflow => package("libtaskflow-cpp-dev"),
        Model::Rayon | Model::RayonJoin => locked("rayon"),
        Model::Chili => locked("chili"),
        Model::Evenkeel | Model::EvenkeelJoin | Model::EvenkeelSteps => locked("evenkeel-runtime"),
    }
}

fn installed(package: &str) -> Option<String> {
    stdout(Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]))
}

/// The version that the changelog of an unpacked package begins with.
fn unpacked(packages: &Path, package: &str) -> Option<String> {
    let changelog = packages.join("usr/share/doc").join(package).join("changelog.Debian.gz");
    let text = stdout(Command::new("gzip").arg("-dc").arg(changelog))?;
    Some(format!("{}, unpacked", text.split(['(', ')']).nth(1)?))
}

fn first_line(compiler: &str) -> String {
    let text = stdout(Command::new(compiler).arg("--version")).unwrap_or_default();
    text.lines().next().map_or(format!("no {compiler}"), str::to_string)
}

fn stdout(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    (!text.trim().is_empty()).then(|| text.trim().to_string())
}

/// From the lock file of the programs in Rust.
fn locked(name: &str) -> String {
    let lock = fs::read_to_string(sources().join("rust/Cargo.lock")).unwrap_or_default();
    let begin = format!("name = \"{name}\"\nversion = \"");
    let version = lock.split_once(&begin).and_then(|(_, rest)| rest.split('"').next());
    version.map_or("unknown".to_string(), |version| format!("{name} {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_names_what_is_compared_with() {
        assert!(locked("rayon").starts_with("rayon 1."));
        assert!(locked("chili").starts_with("chili 0."));
        assert_eq!(locked("no-such-crate"), "unknown");
    }
}
