//! The steps that are one cargo command each.

use anyhow::Result;

use super::Done;
use crate::command::{cargo, find, run, target, tasks_cargo};
use crate::{model, sanitizer};

/// The code is formatted.
pub fn fmt() -> Result<Done> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(tasks_cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Done::Passed)
}

/// The compiler and clippy have no warning.
pub fn clippy() -> Result<Done> {
    for mut cargo in [cargo(), tasks_cargo()] {
        run(cargo
            .args(["clippy", "--workspace", "--all-targets", "--locked", "--quiet"])
            .args(["--", "-D", "warnings"]))?;
    }
    Ok(Done::Passed)
}

/// The commands build as they are shipped.
pub fn build() -> Result<Done> {
    // One after the other, as `make build` does: together they would share features.
    for package in ["evenkeel", "scheduler"] {
        run(cargo().args(["build", "--release", "--locked", "--package", package]))?;
    }
    Ok(Done::Passed)
}

/// Seed of the property tests: one of them fails for a change, not for bad luck. Run by hand
/// without it they try new inputs each time.
const SEED: &str = "20261121";

/// Every test passes.
pub fn test() -> Result<Done> {
    for mut cargo in [cargo(), tasks_cargo()] {
        run(cargo
            .args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet"])
            .env("PROPTEST_RNG_SEED", SEED))?;
    }
    Ok(Done::Passed)
}

/// Every order of the steps of what workers share without a lock.
pub fn explored() -> Result<Done> {
    // Another flag builds everything anew: apart, so that other steps keep what they have built.
    run(tasks_cargo()
        .args(["test", "--locked", "--quiet", "--package", "evenkeel-runtime", "--lib"])
        .arg("explored")
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", target().join("explored")))?;
    Ok(Done::Passed)
}

/// AddressSanitizer watches the tests of the task runtime.
pub fn addresses() -> Result<Done> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return Ok(Done::Skipped("no sanitizer for this target".into()));
    }
    run(tasks_cargo()
        .args(["test", "--locked", "--quiet", "--package", "evenkeel-runtime", "--lib", "--tests"])
        // It is told of each change of stacks.
        .args(["--features", "corosensei/sanitizer"])
        // Said, so that the flags are not those of build scripts.
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("PROPTEST_RNG_SEED", SEED)
        .env("CARGO_TARGET_DIR", target().join("addresses")))?;
    Ok(Done::Passed)
}

/// ThreadSanitizer watches the tests of the task runtime, and clang's programs on the OpenMP
/// library.
pub fn threads() -> Result<Done> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return Ok(Done::Skipped("no sanitizer for this target".into()));
    }
    if find(&["clang"]).is_none() {
        return Ok(Done::Skipped("no clang here".into()));
    }
    // As it is shipped: what is inlined there keeps the sanitizer's count of calls where a worker
    // changes stacks.
    let tests = ["test", "--release", "--package", "evenkeel-runtime", "--lib", "--tests"];
    run(sanitizer::threads(tasks_cargo().args(tests)).env("PROPTEST_RNG_SEED", SEED))?;
    crate::openmp::run_watched()?;
    Ok(Done::Passed)
}

/// Programs of other compilers on the OpenMP library.
pub fn openmp() -> Result<Done> {
    if let Some(missing) = ["gcc", "clang"].into_iter().find(|name| find(&[name]).is_none()) {
        return Ok(Done::Skipped(format!("no {missing} here")));
    }
    crate::openmp::test()?;
    Ok(Done::Passed)
}

/// The model of many workers runs every task once, and the same way each time.
pub fn model() -> Result<Done> {
    run(tasks_cargo()
        .args(["test", "--locked", "--quiet", "--package", "evenkeel-runtime", "--lib", "model::"])
        .env("RUSTFLAGS", model::FLAGS)
        .env("CARGO_TARGET_DIR", model::folder()))?;
    Ok(Done::Passed)
}

/// Readers of foreign text, and the tests that damage it.
const READERS: &[(&str, &str)] =
    &[("trace", "mangled"), ("scenarios", "refused"), ("cpu-model", "reader_properties")];
/// Damaged texts for each property of each reader: together about a minute.
const INPUTS: &str = "25000";

/// Readers survive a minute of damaged input.
pub fn inputs() -> Result<Done> {
    for (package, test) in READERS {
        run(cargo()
            .args(["test", "--locked", "--quiet", "--package", package, "--test", test])
            .env("PROPTEST_CASES", INPUTS)
            .env("PROPTEST_RNG_SEED", SEED))?;
    }
    Ok(Done::Passed)
}

/// An optimised simulator gives the same bytes as the one that was tested.
pub fn release() -> Result<Done> {
    run(cargo()
        .args(["test", "--release", "--locked", "--quiet", "--package", "simulator"])
        .args(["--test", "invariants", "golden"]))?;
    Ok(Done::Passed)
}

/// The documentation builds without a warning.
pub fn docs() -> Result<Done> {
    for mut cargo in [cargo(), tasks_cargo()] {
        run(cargo
            .args(["doc", "--workspace", "--no-deps", "--document-private-items"])
            .args(["--locked", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(Done::Passed)
}
