//! Reasons that keep a machine from running, with remedies.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kernels::TscError;
use thiserror::Error;

/// Why no machine ran, or no result came.
#[derive(Debug, Error)]
pub enum LabError {
    /// A program is not installed.
    #[error("no {0} here; `scripts/setup.sh test` installs it")]
    Lacks(String),
    /// A program did not do its work.
    #[error("{program} failed: {why}")]
    Failed {
        /// Its name.
        program: String,
        /// The end of the program's output.
        why: String,
    },
    /// A file of the cache, or of the results.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Where to download from is not known.
    #[error("kernels come from Debian's mirror, and no source of apt on this machine is one")]
    NoMirror,
    /// No such kernel.
    #[error("kernel `{0}`: expected {expected}", expected = crate::packages::EXPECTED)]
    Unknown(String),
    /// None of several kernels.
    #[error("no kernel can be had ({0})")]
    NoKernel(String),
    /// The package has no kernel that can be booted here.
    #[error("{}: {why}", path.display())]
    Unbootable {
        /// The image.
        path: PathBuf,
        /// The missing property.
        why: &'static str,
    },
    /// The time-stamp counter is the guest's clock.
    #[error(transparent)]
    Tsc(#[from] TscError),
    /// The machine did not come to its end.
    #[error("the machine {why}; its console is in {}", console.display())]
    Unfinished {
        /// The state at the time limit.
        why: String,
        /// The machine's output.
        console: PathBuf,
    },
}

/// Adds the file to a mistake.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> LabError + '_ {
    |source| LabError::File { path: path.to_owned(), source }
}

/// Runs a program to its end; any exit status but 0 is an error.
pub(crate) fn finish(command: &mut Command) -> Result<Output, LabError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|source| not_started(&program, source))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("without a word");
    Err(LabError::Failed { program, why: why.trim().to_owned() })
}

pub(crate) fn not_started(program: &str, source: io::Error) -> LabError {
    match source.kind() {
        io::ErrorKind::NotFound => LabError::Lacks(program.to_owned()),
        _ => LabError::Failed { program: program.to_owned(), why: source.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_quoted_and_one_that_is_missing_is_named() {
        let failed = finish(Command::new("sh").args(["-c", "echo why >&2; echo >&2; exit 3"]));
        assert_eq!(failed.unwrap_err().to_string(), "sh failed: why");
        let lacks = finish(&mut Command::new("no-such-program")).unwrap_err();
        assert!(lacks.to_string().starts_with("no no-such-program here"));
    }
}
