//! Runs the command in a folder of its own and checks the outputs.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The outputs of a run of the command.
pub struct Ran {
    /// Exit code; 101 would be a panic.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// An empty folder in which the command runs.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Every file below the folder with its contents, hidden ones too.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    files.insert(entry.path(), std::fs::read(entry.path()).unwrap());
                }
            }
        }
        files
    }

    /// The command, not started, without environment variables of a developer that change outputs.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
        command.current_dir(self.0.path()).args(args).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().unwrap();
        Ran {
            code: output.status.code().expect("no signal ended the command"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output of a run that succeeds and has nothing to say on standard error.
    #[track_caller]
    pub fn succeed(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        ran.stdout
    }

    /// A run that ends with exit code 2, says nothing on standard output and changes no file.
    #[track_caller]
    fn refuse(&self, args: &[&str]) -> String {
        let before = self.files();
        let ran = self.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}\n{}", ran.stderr);
        assert!(before == self.files(), "{args:?} changed {:?}", self.files().keys());
        ran.stderr
    }

    /// Asserts that a mistake in a file is refused in one sentence that starts as given.
    #[track_caller]
    pub fn refused(&self, args: &[&str], sentence: &str) {
        let stderr = self.refuse(args);
        assert!(stderr.starts_with(&format!("evenkeel: {sentence}")), "{args:?}\n{stderr}");
        let line = stderr.strip_suffix('\n').unwrap();
        assert!(!line.contains(char::is_control), "{args:?}\n{stderr:?}");
    }

    /// Asserts that a mistake in a flag is refused in one sentence that holds these parts.
    #[track_caller]
    pub fn refused_flag(&self, args: &[&str], parts: &[&str]) {
        let stderr = self.refuse(args);
        let line = stderr.strip_prefix("evenkeel: ").and_then(|rest| rest.strip_suffix('\n'));
        let line = line.unwrap_or_else(|| panic!("{args:?}\n{stderr}"));
        assert!(!line.contains(char::is_control), "{args:?}\n{stderr:?}");
        assert!(line.ends_with(" (--help says more)"), "{args:?}\n{stderr}");
        for part in parts {
            assert!(line.contains(part), "{args:?} {part}\n{stderr}");
        }
    }
}

/// Says that a test ran nothing, and why; where everything must run that is a failure.
#[track_caller]
pub fn skipped(why: &str) {
    let strict = ["CI", "EVENKEEL_CI"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(!strict, "{why}; where everything must run, a skip is a failure");
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // Not by a macro, whose output the harness hides when a test passes.
    let _ = writeln!(std::io::stderr(), "{test} SKIPPED: {why}");
}

/// An empty folder, where this machine lets us record.
#[cfg(feature = "record")]
pub fn recording() -> Option<Folder> {
    let folder = Folder::new();
    let report: serde_json::Value =
        serde_json::from_str(&folder.succeed(&["doctor", "--json", "-"])).unwrap();
    let record = &report["abilities"][0];
    assert_eq!(record["what"], "record schedules");
    if record["answer"] == "yes" {
        return Some(folder);
    }
    skipped(&format!("this machine cannot record: {}", record["found"]));
    None
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path)
}

/// A folder with the shipped recording of x265 beside xz, imported.
pub fn recorded() -> Folder {
    let folder = Folder::new();
    let text = repository("trace/fixtures/x265_avx512_xz.perf-script.zst");
    folder.succeed(&["trace", "import", text.to_str().unwrap(), "-o", "rec.ektrace"]);
    folder
}

/// Compares text with a file beside the tests; `UPDATE_EXPECT=1` writes the file instead.
#[track_caller]
pub fn expect(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/expected").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{name} is now (UPDATE_EXPECT=1 accepts it):\n{text}");
}
