//! Compiles a test once: the next run finds its programs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::process::{self, End};
use super::program::Build;

/// Time limit of one call of a compiler.
const LIMIT: Duration = Duration::from_secs(60);
/// The file in a built test's folder that records the commands and sources of the build.
const RECORD: &str = "built";

/// Builds a test's programs in its folder. The inner error is a compiler's reason to refuse.
pub fn all(folder: &Path, builds: &[Build], compilers: &str) -> Result<Result<(), String>> {
    let key = key(builds, compilers)?;
    let record = folder.join(RECORD);
    if fs::read_to_string(&record).is_ok_and(|text| text == key) {
        return Ok(Ok(()));
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    for build in builds {
        let output = folder.join("compiler.txt");
        // A refusal is not kept: a header or a tool may change that is not in the record.
        match process::run(&build.command, &[], folder, &output, LIMIT)? {
            End::Status(0) => {}
            End::TimeUp => return Ok(Err("compiling took too long".to_owned())),
            _ => return Ok(Err(complaint(&process::written(&output)?))),
        }
    }
    fs::write(&record, key).with_context(|| format!("writing {}", record.display()))?;
    Ok(Ok(()))
}

/// Everything that a program is made from.
fn key(builds: &[Build], compilers: &str) -> Result<String> {
    let mut key = format!("{compilers}\n");
    for build in builds {
        writeln!(key, "{}", build.command.join(" "))?;
        for source in &build.sources {
            let about =
                fs::metadata(source).with_context(|| format!("reading {}", source.display()))?;
            let changed = about.modified()?.duration_since(UNIX_EPOCH)?;
            writeln!(key, "{} {} {}", source.display(), about.len(), changed.as_nanos())?;
        }
    }
    Ok(key)
}

/// The first error of a compiler, in a line.
fn complaint(output: &str) -> String {
    let errors = ["error: ", "sorry, unimplemented: ", "undefined reference to "];
    let is_error = |line: &&str| errors.iter().any(|error| line.contains(error));
    let line = output.lines().find(is_error).or_else(|| output.lines().next_back());
    let line = line.unwrap_or("said nothing");
    let what = errors.iter().find_map(|error| line.find(error)).map_or(line, |at| &line[at..]);
    format!("does not compile: {}", what.trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash(script: &str, source: &Path) -> Build {
        let command = ["bash", "-c", script].map(str::to_owned).to_vec();
        Build { command, sources: vec![source.to_path_buf()] }
    }

    #[test]
    fn a_build_is_repeated_only_when_its_source_changes() {
        let place = tempfile::tempdir().unwrap();
        let (folder, source) = (place.path().join("a/b"), place.path().join("source"));
        fs::write(&source, "1").unwrap();
        // The count is outside the folder, which a build empties.
        let count = || fs::read_to_string(place.path().join("count")).unwrap_or_default();
        let build = [bash("echo -n x >> ../../count", &source)];
        for _ in 0..2 {
            assert_eq!(all(&folder, &build, "cc 1").unwrap(), Ok(()));
        }
        assert_eq!(count(), "x");
        all(&folder, &build, "cc 2").unwrap().unwrap();
        assert_eq!(count(), "xx");
        fs::write(&source, "22").unwrap();
        all(&folder, &build, "cc 2").unwrap().unwrap();
        assert_eq!(count(), "xxx");
    }

    #[test]
    fn a_refusal_is_told_in_its_words_and_not_kept() {
        let place = tempfile::tempdir().unwrap();
        let (folder, source) = (place.path().join("a"), place.path().join("source"));
        fs::write(&source, "").unwrap();
        let build = [bash("echo 'a.c:1:2: error: no b'; test -e ../there", &source)];
        let refused = all(&folder, &build, "").unwrap();
        assert_eq!(refused, Err("does not compile: no b".to_owned()));
        fs::write(place.path().join("there"), "").unwrap();
        assert_eq!(all(&folder, &build, "").unwrap(), Ok(()));
    }
}
