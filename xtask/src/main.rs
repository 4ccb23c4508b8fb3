//! Tasks of the project: `cargo xtask TASK`.

mod c_interface;
mod calibrate;
mod ci;
mod command;
mod r#gen;
mod lab;
mod licences;
mod model;
mod openmp;
mod peers;
mod progress;
mod prove;
mod random;
mod recordings;
mod repo;
mod sanitizer;
mod suites;
mod tidy;
mod whole_file;

use std::process::ExitCode;

use clap::Parser;

/// Tasks of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    /// Run every check a change must pass, and count them.
    Ci(ci::Args),
    /// Look for what a reader should not have to: arrows, lengths, words, links.
    Tidy(tidy::Args),
    /// Write the generated files again, or check that they are up to date.
    Gen(r#gen::Args),
    /// Fit x265 to the published baselines.
    Calibrate(calibrate::Args),
    /// Prove the policy headers for all inputs.
    Prove(prove::Args),
    /// Run the kernel scheduler under a stock kernel, in a virtual machine.
    Lab(lab::Args),
    /// Run the programs that task runtimes are compared by, on every runtime that is here.
    Peers(peers::Args),
    /// Run the thesis's steps from a central queue to a tree, each on the same programs.
    Steps(peers::steps::Args),
    /// Predict what the task runtime costs on more workers than this machine has.
    Model(model::Args),
    /// Build the task runtime's library and header for C, and try them with programs.
    CInterface(c_interface::Args),
    /// Build the OpenMP library, and try it with programs of gcc and clang.
    Openmp(openmp::Args),
    /// Run the OpenMP validation suites with the OpenMP library, and count.
    Suites(suites::Args),
    /// Record the schedules that scheduler models are judged by.
    Recordings(recordings::Args),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Ci(args) => ci::run(&args),
        Task::Tidy(args) => tidy::run(&args),
        Task::Gen(args) => r#gen::run(&args),
        Task::Calibrate(args) => calibrate::run(&args),
        Task::Prove(args) => prove::run(&args).map(|_| ()),
        Task::Lab(args) => lab::run(&args),
        Task::Peers(args) => peers::run(&args),
        Task::Steps(args) => peers::steps::run(&args),
        Task::Model(args) => model::run(&args),
        Task::CInterface(args) => c_interface::run(&args),
        Task::Openmp(args) => openmp::run(&args),
        Task::Suites(args) => suites::run(&args),
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
