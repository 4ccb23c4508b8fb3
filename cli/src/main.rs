//! The `evenkeel` command.

mod characterize;
mod compare;
mod cpu;
mod doctor;
mod evaluate;
mod fault_options;
mod files;
mod generate;
mod kernel_model;
mod machine;
mod missed;
mod mixes;
mod run_options;
mod simulate;
mod terminal;
mod trace_verbs;
mod trial;

use std::process::ExitCode;

use clap::error::ErrorKind::{
    DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand as HelpOnMissing, DisplayVersion,
};
use clap::{Parser, Subcommand};

/// Exit code for a mistake in a file or flag.
const BAD_INPUT: u8 = 2;

const EXAMPLES: &str = "\
Examples:
  evenkeel characterize
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
    /// Schedulers over random program mixes: figures with intervals, paired.
    Mixes(mixes::Args),
    /// A study of a scheduler, on one page.
    Evaluate(evaluate::Args),
    /// One run: history and metrics.
    Simulate(simulate::Args),
    /// Is this machine affected?
    Characterize(characterize::Args),
    /// CPU tables.
    Cpu(cpu::Args),
    /// Recordings and histories.
    Trace(trace_verbs::Args),
    /// What this machine offers, and how to get what it lacks.
    Doctor(doctor::Args),
    /// Real victims and culprits on this machine, and what the model says of them.
    Trial(trial::Args),
    /// Manual pages and completions.
    Generate(generate::Args),
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
    escaped(&text)
}

fn escaped(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(shown).collect()
}

/// A mistake in the arguments on one line: what is wrong, and what clap advises.
fn mistake(error: &clap::Error) -> String {
    let text = error.to_string();
    let says = |paragraph: &&str| {
        !["Usage:", "For more information"].iter().any(|start| paragraph.starts_with(start))
    };
    let line = |paragraph: &str| {
        let words: Vec<&str> = paragraph.lines().map(str::trim).collect();
        words.join(" ")
    };
    let said: Vec<String> = text.trim_end().split("\n\n").filter(says).map(line).collect();
    let said = said.join("; ");
    format!("{} (--help says more)", escaped(said.strip_prefix("error: ").unwrap_or(&said)))
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version, asked for or not, are as clap prints them.
        Err(error) if matches!(error.kind(), DisplayHelp | DisplayVersion | HelpOnMissing) => {
            error.exit()
        }
        Err(error) => {
            eprintln!("evenkeel: {}", mistake(&error));
            return ExitCode::from(BAD_INPUT);
        }
    };
    let result = match arguments.verb {
        Verb::Compare(args) => compare::run(args),
        Verb::Mixes(args) => mixes::run(args),
        Verb::Evaluate(args) => evaluate::run(args),
        Verb::Simulate(args) => simulate::run(args),
        Verb::Characterize(args) => characterize::run(args),
        Verb::Cpu(args) => cpu::run(args),
        Verb::Doctor(args) => doctor::run(args),
        Verb::Trace(args) => trace_verbs::run(args),
        Verb::Trial(args) => trial::run(&args),
        Verb::Generate(args) => generate::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if terminal::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel: {}", sentence(&error));
            let is_missed = error.is::<missed::Missed>();
            if is_missed { ExitCode::FAILURE } else { ExitCode::from(BAD_INPUT) }
        }
    }
}
