//! Tasks of the project: `cargo xtask TASK`.

mod ci;
mod command;
mod licences;
mod repo;
mod tidy;

use std::process::ExitCode;

use clap::Parser;

/// Tasks of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    /// Run every check a change must pass, and count them.
    Ci(ci::Args),
    /// Look for what a reader should not have to: arrows, lengths, words, links.
    Tidy,
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Ci(args) => ci::run(&args),
        Task::Tidy => tidy::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
