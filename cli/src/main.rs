//! The `evenkeel` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    evenkeel::main_with(Vec::new())
}
