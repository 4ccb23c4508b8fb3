//! ThreadSanitizer: how cargo builds and runs for the sanitizer, with our suppressions.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use commands::{cargo, program, root, target, test_runner};

/// Given explicitly, so that the flags do not apply to build scripts.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// Instruments the code, and makes the runtime report synchronisation that the sanitizer misses.
const FLAGS: &str = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg evenkeel_tsan";
/// The list of suppressed reports.
const SUPPRESSIONS: &str = "runtime/tests/threads.supp";

/// Makes a cargo command build, and run, for the sanitizer.
pub fn threads(cargo: &mut Command) -> &mut Command {
    // A changed flag rebuilds everything, so the builds have a folder of their own.
    watched(cargo)
        .args(["--locked", "--quiet", "--target", TRIPLE])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", target().join("threads"))
}

/// Runs the tests of the task runtime and of its recordings, built as the library is shipped:
/// inlining keeps the sanitizer's count of calls right where a worker changes stacks.
pub fn run_tests() -> Result<()> {
    let tests = ["test", "--release", "--lib", "--tests"];
    let packages = ["--package", "evenkeel-runtime", "--package", "evenkeel-observe"];
    let runner = test_runner::setting(TRIPLE)?;
    commands::run(threads(cargo().args(tests).args(packages)).args(["--config", &runner]))
}

/// The folder of release builds for the sanitizer.
pub fn folder() -> PathBuf {
    target().join("threads").join(TRIPLE).join("release")
}

/// Makes a program that was built for the sanitizer end with an error after a report.
pub fn watched(program: &mut Command) -> &mut Command {
    let suppressions = root().join(SUPPRESSIONS);
    // Tests have child processes with threads.
    let options = format!("exitcode=66 die_after_fork=0 suppressions={}", suppressions.display());
    program.env("TSAN_OPTIONS", options).envs(test_runner::NO_BACKTRACE)
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
