//! `cargo xtask ci`: every check a change must pass.
//!
//! All steps run, so that one run shows every failure; the last line counts them.
//! A step whose tool this machine lacks is skipped; with `CI=true` or
//! `EVENKEEL_CI=1` a skip is a failure.

mod c_format;
mod cargo;
mod checker;
mod exports;
mod figures;
mod install;
mod page;
mod pprof;
mod prometheus;
mod python;
mod sweeps;

use anyhow::Result;
use commands::steps::{self, Step, Steps};
pub use commands::steps::{Args, Done};

use crate::command::is_strict;
use crate::prove::{self, Proof};
use crate::{r#gen, licences, tidy};

const STEPS: Steps = Steps { short: SHORT, long: LONG };

const SHORT: &[Step] = &[
    Step { name: "tidy", claim: "arrows, lengths, words and links hold", run: check_tidy },
    Step { name: "gen", claim: "generated files are up to date", run: check_generated },
    Step { name: "fmt", claim: "the code is formatted", run: cargo::fmt },
    Step { name: "c-format", claim: "C is formatted", run: c_format::check },
    Step { name: "licences", claim: "every dependency may be used", run: check_licences },
    Step { name: "clippy", claim: "the compiler and clippy have no warning", run: cargo::clippy },
    Step { name: "test", claim: "every test passes", run: cargo::test },
    Step { name: "docs", claim: "the documentation builds without a warning", run: cargo::docs },
    Step { name: "proof", claim: "no policy function misbehaves on any input", run: check_proof },
    Step { name: "checker", claim: "the independent checker agrees", run: checker::check },
    Step { name: "exports", claim: "others read our exports as we mean them", run: exports::check },
    Step { name: "pprof", claim: "pprof reads the stacks of a profile", run: pprof::check },
    Step {
        name: "sweeps",
        claim: "launchers run sweeps, and others read them",
        run: sweeps::check,
    },
    Step {
        name: "prometheus",
        claim: "Prometheus reads our metrics and answers our questions",
        run: prometheus::check,
    },
    Step { name: "tasks", claim: "the checks of the task runtime pass", run: cargo::tasks },
    Step { name: "page", claim: "a browser shows the page as it should be", run: page::check },
];

const LONG: &[Step] = &[
    Step { name: "inputs", claim: "damaged input breaks no reader", run: cargo::inputs },
    Step { name: "release", claim: "release builds give the same bytes", run: cargo::release },
    Step { name: "build", claim: "the commands build as they are shipped", run: cargo::build },
    Step {
        name: "figures",
        claim: "the README counts the published figures as they are answered",
        run: figures::check,
    },
    Step {
        name: "install",
        claim: "it installs, explains itself and goes away",
        run: install::check,
    },
    Step {
        name: "tasks-long",
        claim: "the long checks of the task runtime pass",
        run: cargo::tasks_long,
    },
];

/// Runs the steps and counts them; an error if one failed.
pub fn run(args: &Args) -> Result<()> {
    steps::run(&STEPS, args, "cargo xtask ci", is_strict())
}

fn check_tidy() -> Result<Done> {
    tidy::run(&tidy::Args::default()).map(|()| Done::Passed)
}

fn check_generated() -> Result<Done> {
    r#gen::run(&r#gen::Args { check: true }).map(|()| Done::Passed)
}

fn check_proof() -> Result<Done> {
    Ok(match prove::run(&prove::Args {})? {
        Proof::Holds { .. } => Done::Passed,
        Proof::Skipped => Done::Skipped("no frama-c here".to_string()),
    })
}

fn check_licences() -> Result<Done> {
    licences::run().map(|()| Done::Passed)
}
