//! The `evenkeel` command.

mod compare;
mod cpu;
mod files;
mod machine;
mod run_options;
mod simulate;
mod terminal;
mod trace_verbs;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit code for a mistake in a file or flag.
const BAD_INPUT: u8 = 2;

const EXAMPLES: &str = "\
Examples:
  evenkeel compare parsec-x265 --page out.html
  evenkeel compare my-scenario.toml --scheduler eevdf,fair-isolation
  evenkeel trace import recording.txt -o recording.ektrace
  evenkeel compare --trace recording.ektrace --class 'x265*=avx512-heavy'
  evenkeel cpu show xeon-gold-6130";

/// Who loses how much to whom on power-limited CPUs.
#[derive(Parser)]
#[command(name = "evenkeel", version, long_version = LONG_VERSION, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("EVENKEEL_COMMIT"), ")");

#[derive(Subcommand)]
enum Verb {
    /// Several schedulers on the same work: who loses how much to whom.
    Compare(compare::Args),
    /// One run: history and metrics.
    Simulate(simulate::Args),
    /// CPU tables.
    Cpu(cpu::Args),
    /// Recordings and histories.
    Trace(trace_verbs::Args),
}

/// The causes of an error on one line, each once, without what a terminal would obey.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.ends_with(&cause) {
            let colon = if text.is_empty() { "" } else { ": " };
            text = text + colon + &cause;
        }
    }
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(shown).collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.verb {
        Verb::Compare(args) => compare::run(args),
        Verb::Simulate(args) => simulate::run(args),
        Verb::Cpu(args) => cpu::run(args),
        Verb::Trace(args) => trace_verbs::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if terminal::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel: {}", sentence(&error));
            ExitCode::from(BAD_INPUT)
        }
    }
}
