//! Which programs does a work need, and which Debian package has a program that is missing?

use std::env;

use anyhow::{Result, ensure};

use super::works::Work;

/// Programs of works that a base system lacks, and their packages in Debian 12.
const PACKAGES: [(&str, &str); 10] = [
    ("7z", "p7zip-full"),
    ("gcc", "gcc"),
    ("make", "make"),
    ("nginx", "nginx-light"),
    ("openssl", "openssl"),
    ("perf", "linux-perf"),
    ("redis-server", "redis-server"),
    ("stress-ng", "stress-ng"),
    ("wrk", "wrk"),
    ("x265", "x265"),
];

/// Refuses a work whose programs are not all installed: the rest of it would be recorded.
pub fn refuse_missing(work: &Work) -> Result<()> {
    let missing = missing(work, is_installed);
    ensure!(
        missing.is_empty(),
        "recording {}: programs are missing; apt-get install {}",
        work.name,
        missing.join(" ")
    );
    Ok(())
}

/// Packages of the programs that a work names and that are not installed.
fn missing(work: &Work, is_installed: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let is_named = |program: &str| {
        [work.prepare, work.run].iter().any(|text| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == program)
        })
    };
    let needed = PACKAGES.iter().filter(|(program, _)| is_named(program) && !is_installed(program));
    needed.map(|&(_, package)| package).collect()
}

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_names_its_programs_by_whole_words() {
        let run = "redis-server & x265 -o out.x265.hevc; cmake; redis-benchmark";
        let work = Work { name: "work", prepare: "openssl rand 1 | 7z b", run };
        let packages = ["p7zip-full", "openssl", "redis-server", "x265"];
        assert_eq!(missing(&work, |_| false), packages);
        assert_eq!(missing(&work, |program| program != "x265"), ["x265"]);
    }
}
