//! The libraries for OpenMP, C and C++, built and tried: `cargo openmp`, `cargo c-interface`,
//! `cargo suites`.

mod c_interface;
mod openmp;
mod parallel;
mod sanitizer;
mod suites;

use std::process::ExitCode;

use clap::Parser;
use commands::test_runner;

/// The libraries for OpenMP, C and C++, built and tried.
#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Trial {
    /// Build the OpenMP library, and test the library with programs of gcc and clang.
    Openmp(openmp::Args),
    /// Build the task runtime's library and header for C, and try them with programs.
    CInterface(c_interface::Args),
    /// Run the OpenMP validation suites with the OpenMP library, and count.
    Suites(suites::Args),
    /// Run the runtime's tests and clang's programs under ThreadSanitizer.
    #[command(hide = true)]
    Threads,
}

fn main() -> ExitCode {
    if let Some(result) = test_runner::requested() {
        return result.unwrap_or_else(|error| failure(&error));
    }
    let done = match Trial::parse() {
        Trial::Openmp(args) => openmp::run(&args),
        Trial::CInterface(args) => c_interface::run(&args),
        Trial::Suites(args) => suites::run(&args),
        Trial::Threads => sanitizer::run_tests().and_then(|()| openmp::run_watched()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

fn failure(error: &anyhow::Error) -> ExitCode {
    eprintln!("conformance: {error:#}");
    ExitCode::FAILURE
}
