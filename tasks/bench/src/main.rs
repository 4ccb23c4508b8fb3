//! Measurements of the task runtime: `cargo peers`, `cargo steps`, `cargo model`.

mod model;
mod peers;

use std::process::ExitCode;

use clap::Parser;

/// Measurements of the task runtime.
#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Measurement {
    /// Run the programs that task runtimes are compared by, on every runtime that is here.
    Peers(peers::Args),
    /// Run the thesis's steps from a central queue to a tree, each on the same programs.
    Steps(peers::steps::Args),
    /// Predict the cost of the task runtime on more workers than this machine has.
    Model(model::Args),
}

fn main() -> ExitCode {
    let done = match Measurement::parse() {
        Measurement::Peers(args) => peers::run(&args),
        Measurement::Steps(args) => peers::steps::run(&args),
        Measurement::Model(args) => model::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
