//! ThreadSanitizer: what is built for it, and how it is told what to leave out.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use commands::cargo;

use commands::root;
use commands::{program, target};

/// Said, so that the flags are not those of build scripts.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// Makes rustc watch, and the runtime tell what cannot be seen.
const FLAGS: &str = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg evenkeel_tsan";
/// What is left out.
const SUPPRESSIONS: &str = "runtime/tests/threads.supp";

/// Makes a cargo command build, and run, for the sanitizer.
pub fn threads(cargo: &mut Command) -> &mut Command {
    // Another flag builds everything anew: apart, so that other steps keep what they have built.
    watched(cargo)
        .args(["--locked", "--quiet", "--target", TRIPLE])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", target().join("threads"))
}

/// Runs the tests of the task runtime, built as the library is shipped: inlining keeps the
/// sanitizer's count of calls right where a worker changes stacks.
pub fn run_tests() -> Result<()> {
    let tests = ["test", "--release", "--package", "evenkeel-runtime", "--lib", "--tests"];
    commands::run(threads(cargo().args(tests)))
}

/// Where release builds of it are.
pub fn folder() -> PathBuf {
    target().join("threads").join(TRIPLE).join("release")
}

/// Makes a program that was built for the sanitizer end with an error where it finds one.
pub fn watched(program: &mut Command) -> &mut Command {
    let suppressions = root().join(SUPPRESSIONS);
    // Tests have child processes with threads.
    let options = format!("exitcode=66 die_after_fork=0 suppressions={}", suppressions.display());
    program.env("TSAN_OPTIONS", options)
}

/// rustc's own copy of the sanitizer, for programs of other compilers.
pub fn library() -> Result<PathBuf> {
    let asked = program("rustc").args(["--print", "target-libdir"]).output();
    let asked = asked.context("asking rustc where its libraries are")?;
    let folder = PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim());
    let entries = std::fs::read_dir(&folder).context("listing rustc's libraries")?;
    let mut paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let found = paths.find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("librustc") && name.ends_with("_rt.tsan.a")
    });
    found.with_context(|| format!("rustc has no ThreadSanitizer for {TRIPLE}"))
}
