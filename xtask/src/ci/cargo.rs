//! The steps that are one cargo command each.

use std::io::Write;
use std::process::Command;

use anyhow::{Result, ensure};

use super::Done;
use crate::command::{STRICT, cargo, is_strict, program, run, tested};

/// The code is formatted.
pub fn fmt() -> Result<Done> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Done::Passed)
}

/// The commands, built one after the other as `make build` does: together they would share
/// features.
const SHIPPED: [&str; 2] = ["evenkeel", "scheduler"];

/// The compiler and clippy have no warning: of the workspace, and of each command with the
/// features that it is shipped with.
pub fn clippy() -> Result<Done> {
    let alone = SHIPPED.map(|name| ["--package", name]);
    for of in [["--workspace", "--all-targets"]].into_iter().chain(alone) {
        let clippy = ["clippy", "--locked", "--quiet"];
        run(cargo().args(clippy).args(of).args(["--", "-D", "warnings"]))?;
    }
    Ok(Done::Passed)
}

/// The commands build as they are shipped.
pub fn build() -> Result<Done> {
    for package in SHIPPED {
        run(cargo().args(["build", "--release", "--locked", "--package", package]))?;
    }
    Ok(Done::Passed)
}

/// Seed of the property tests: a test fails for a change, not for bad luck. Run by hand without
/// a seed, the tests try new inputs each time.
const SEED: &str = "20261121";

/// The test that runs the tutorial's commands, and its test program.
const TUTORIAL: (&str, &str) = ("tutorial", "every_command_prints_what_its_page_shows");

/// Every test passes.
pub fn test() -> Result<Done> {
    let (program, name) = TUTORIAL;
    tested()?;
    // Beside the others, because the tutorial's measurements and recordings mostly wait: they last
    // as long as those of a reader.
    let tutorial = std::thread::spawn(move || tests().args(["--test", program, name]).output());
    let others = run(tests().args(["--", "--skip", name]));
    let tutorial = tutorial.join().expect("the thread does not panic")?;
    std::io::stdout().write_all(&tutorial.stdout)?;
    std::io::stderr().write_all(&tutorial.stderr)?;
    ensure!(tutorial.status.success(), "the tutorial's test ended with {}", tutorial.status);
    others.map(|()| Done::Passed)
}

fn tests() -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet"]);
    command.env("PROPTEST_RNG_SEED", SEED);
    command
}

/// The checks of the workspace below `tasks/`, by its own command.
pub fn tasks() -> Result<Done> {
    make_tasks("test")
}

/// The long checks of the workspace below `tasks/`, by its own command.
pub fn tasks_long() -> Result<Done> {
    make_tasks("test-long")
}

fn make_tasks(target: &str) -> Result<Done> {
    let mut make = program("make");
    make.args(["--no-print-directory", "-C", "tasks", target]);
    if is_strict() {
        make.env("CI", "true");
    }
    // The task runtime reports unknown variables with its prefix, of which `STRICT` is one.
    run(make.env_remove(STRICT))?;
    Ok(Done::Passed)
}

/// Readers of foreign text: package, test program, and the tests in it that damage the text.
const READERS: &[(&str, &str, &str)] = &[
    ("trace", "formats", "mangled::"),
    ("scenarios", "refused", ""),
    ("cpu-model", "reader_properties", ""),
];
/// Damaged texts for each property of each reader: together about a minute.
const INPUTS: &str = "25000";

/// Readers survive a minute of damaged input.
pub fn inputs() -> Result<Done> {
    for (package, program, tests) in READERS {
        run(cargo()
            .args(["test", "--locked", "--quiet", "--package", package, "--test", program, tests])
            .env("PROPTEST_CASES", INPUTS)
            .env("PROPTEST_RNG_SEED", SEED))?;
    }
    Ok(Done::Passed)
}

/// An optimised simulator gives the same bytes as an unoptimised one.
pub fn release() -> Result<Done> {
    run(cargo()
        .args(["test", "--release", "--locked", "--quiet", "--package", "simulator"])
        .args(["--test", "invariants", "golden"]))?;
    Ok(Done::Passed)
}

/// The documentation builds without a warning.
pub fn docs() -> Result<Done> {
    run(cargo()
        .args(["doc", "--workspace", "--no-deps", "--document-private-items"])
        .args(["--locked", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Done::Passed)
}
