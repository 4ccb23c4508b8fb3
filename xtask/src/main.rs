//! Tasks of the project: `cargo xtask TASK`.

mod ci;
mod command;
mod r#gen;
mod lab;
mod licences;
mod prove;
mod recordings;
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
    /// Check the rules of the source text: arrows, lengths, words, links.
    Tidy(tidy::Args),
    /// Write the generated files again, or check that they are up to date.
    Gen(r#gen::Args),
    /// Prove the policy headers for all inputs.
    Prove(prove::Args),
    /// Run the kernel scheduler under a stock kernel, in a virtual machine.
    Lab(lab::Args),
    /// Record the schedules that scheduler models are judged by.
    Recordings(recordings::Args),
}

/// Commands that have moved to `tasks/`.
const MOVED: [&str; 6] = ["c-interface", "model", "openmp", "peers", "steps", "suites"];

fn main() -> ExitCode {
    let first = std::env::args().nth(1).unwrap_or_default();
    if MOVED.contains(&first.as_str()) {
        eprintln!("xtask: `cargo xtask {first}` is now `cargo {first}`, in the folder tasks/");
        return ExitCode::FAILURE;
    }
    let done = match Task::parse() {
        Task::Ci(args) => ci::run(&args),
        Task::Tidy(args) => tidy::run(&args),
        Task::Gen(args) => r#gen::run(&args),
        Task::Prove(args) => prove::run(&args).map(|_| ()),
        Task::Lab(args) => lab::run(&args),
        Task::Recordings(args) => recordings::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
