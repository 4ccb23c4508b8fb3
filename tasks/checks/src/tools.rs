//! The steps that are one command each.

use anyhow::Result;
use commands::steps::Done;
use commands::{cargo, find, program, run, target, test_runner};

/// The crates that users depend on.
const PUBLISHED: [&str; 4] =
    ["evenkeel-runtime", "evenkeel-observe", "evenkeel-runtime-c", "evenkeel-openmp"];

/// Seed of the property tests: a failure comes from the change and not from chance. Run by hand
/// without this seed, the tests try new inputs each time.
const SEED: &str = "20261121";

/// The code is formatted.
pub fn fmt() -> Result<Done> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Done::Passed)
}

/// The compiler that `rust-version` promises builds the published crates.
pub fn msrv() -> Result<Done> {
    const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");
    if find(&["rustup"]).is_none() {
        return Ok(Done::Skipped(format!("no rustup here, which has Rust {OLDEST}")));
    }
    let is_here = program("rustup").args(["run", OLDEST, "rustc", "--version"]).output()?;
    if !is_here.status.success() {
        let install = ["toolchain", "install", OLDEST, "--profile", "minimal", "--no-self-update"];
        if let Err(error) = run(program("rustup").args(install)) {
            // A machine without a network must not fail a change because of a missing toolchain.
            println!("msrv: not checked, since Rust {OLDEST} cannot be installed: {error:#}");
            return Ok(Done::Passed);
        }
    }
    // Not through the cargo that runs this process, which is another version.
    let mut check = program("rustup");
    check.args(["run", OLDEST, "cargo", "check", "--locked", "--quiet"]);
    check.env_remove("RUSTUP_TOOLCHAIN").env("CARGO_TARGET_DIR", target().join("msrv"));
    run(check.args(PUBLISHED.map(|name| format!("--package={name}"))))?;
    Ok(Done::Passed)
}

/// Cargo makes packages of the published crates. The packages are not compiled: the other steps
/// compile the same sources.
pub fn package() -> Result<Done> {
    let mut package = cargo();
    package.args(["package", "--locked", "--quiet", "--no-verify", "--allow-dirty"]);
    run(package.args(PUBLISHED.map(|name| format!("--package={name}"))))?;
    Ok(Done::Passed)
}

/// The compiler and clippy have no warning.
pub fn clippy() -> Result<Done> {
    run(cargo()
        .args(["clippy", "--workspace", "--all-targets", "--locked", "--quiet"])
        .args(["--", "-D", "warnings"]))?;
    Ok(Done::Passed)
}

/// Every test passes.
pub fn test() -> Result<Done> {
    run(cargo()
        .args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet"])
        .env("PROPTEST_RNG_SEED", SEED))?;
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

/// loom runs every order of the steps of structures that workers share without a lock.
pub fn explored() -> Result<Done> {
    // A target folder of its own: with other flags, cargo would build the other steps' files again.
    run(cargo()
        .args(["test", "--locked", "--quiet", "--package", "evenkeel-runtime", "--lib"])
        .arg("loom_tests")
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", target().join("explored")))?;
    Ok(Done::Passed)
}

/// AddressSanitizer watches the tests of the task runtime and of its recordings.
pub fn addresses() -> Result<Done> {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return Ok(Done::Skipped("no sanitizer for this target".into()));
    }
    run(cargo()
        .args(["test", "--locked", "--quiet", "--lib", "--tests"])
        .args(["--package", "evenkeel-runtime", "--package", "evenkeel-observe"])
        // corosensei reports each change of stacks to the sanitizer.
        .args(["--features", "corosensei/sanitizer"])
        // With a target, cargo does not pass the flags to build scripts.
        .args(["--target", TARGET])
        .args(["--config", &test_runner::setting(TARGET)?])
        .envs(test_runner::NO_BACKTRACE)
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
    conformance(&["threads"])
}

/// Programs of other compilers run on the OpenMP library.
pub fn openmp() -> Result<Done> {
    if let Some(missing) = ["gcc", "clang"].into_iter().find(|name| find(&[name]).is_none()) {
        return Ok(Done::Skipped(format!("no {missing} here")));
    }
    conformance(&["openmp", "--test"])
}

/// The model of many workers runs every task once, and the same way each time.
pub fn model() -> Result<Done> {
    run(cargo()
        .args(["test", "--locked", "--quiet", "--package", "model"])
        .env("RUSTFLAGS", "--cfg evenkeel_model")
        .env("CARGO_TARGET_DIR", target().join("model")))?;
    Ok(Done::Passed)
}

/// Programs in C and C++ use the library as their authors would.
pub fn c_interface() -> Result<Done> {
    if find(&["gcc", "clang"]).is_none() {
        return Ok(Done::Skipped("neither gcc nor clang here".to_string()));
    }
    conformance(&["c-interface", "--test"])
}

fn conformance(words: &[&str]) -> Result<Done> {
    run(cargo()
        .args(["run", "--quiet", "--locked", "--package", "conformance", "--"])
        .args(words)
        .env("PROPTEST_RNG_SEED", SEED))?;
    Ok(Done::Passed)
}
