//! `cargo checks`: every check that a change of this workspace must pass.
//!
//! All steps run, so that one run shows every failure; the last line counts them. A step whose
//! tool this machine lacks is skipped; with `CI=true` a skip is a failure.

mod sources;
mod tools;

use std::process::ExitCode;

use clap::Parser;
use commands::steps::{self, Step, Steps};
use commands::test_runner;

const STEPS: Steps = Steps { short: SHORT, long: LONG };

const SHORT: &[Step] = &[
    Step {
        name: "sources",
        claim: "no file names a place outside, and no variable is unknown",
        run: sources::check,
    },
    Step { name: "fmt", claim: "the code is formatted", run: tools::fmt },
    Step { name: "c-format", claim: "C and C++ are formatted", run: sources::c_format },
    Step { name: "msrv", claim: "the oldest promised compiler builds them", run: tools::msrv },
    Step { name: "package", claim: "the crates can be published", run: tools::package },
    Step { name: "clippy", claim: "the compiler and clippy have no warning", run: tools::clippy },
    Step { name: "test", claim: "every test passes", run: tools::test },
    Step { name: "docs", claim: "the documentation builds without a warning", run: tools::docs },
    Step {
        name: "openmp",
        claim: "programs of gcc and clang run on the OpenMP library",
        run: tools::openmp,
    },
    Step {
        name: "model",
        claim: "many virtual workers lose no task, and do the same again",
        run: tools::model,
    },
    Step { name: "c", claim: "C and C++ programs use the task runtime", run: tools::c_interface },
];

/// Sanitizers and loom compile the runtime anew, each with flags of its own.
const LONG: &[Step] = &[
    Step {
        name: "explored",
        claim: "no order of workers' steps loses a task",
        run: tools::explored,
    },
    Step {
        name: "threads",
        claim: "no two threads use the same memory without an order",
        run: tools::threads,
    },
    Step { name: "addresses", claim: "no task uses memory after its end", run: tools::addresses },
];

/// Run every check that a change of this workspace must pass, and count them.
#[derive(Parser)]
#[command(name = "cargo checks", bin_name = "cargo checks")]
struct Checks {
    #[command(flatten)]
    steps: steps::Args,
}

fn main() -> ExitCode {
    let result = test_runner::requested().unwrap_or_else(|| {
        steps::run(&STEPS, &Checks::parse().steps, "cargo checks", commands::is_strict())
            .map(|()| ExitCode::SUCCESS)
    });
    result.unwrap_or_else(|error| {
        eprintln!("checks: {error:#}");
        ExitCode::FAILURE
    })
}
