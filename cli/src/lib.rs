//! The `evenkeel` command, as a library for programs that add schedulers of their own.

mod advise;
mod characterize;
mod compare;
mod control_groups;
mod cpu;
mod cpu_text;
mod doctor;
mod dvfs;
#[cfg(feature = "record")]
mod ending_signals;
mod evaluate;
mod exec;
mod files;
mod generate;
mod kernel_model;
mod machine;
mod missed;
mod mistake;
mod mixes;
mod parallel;
mod parquet_bytes;
mod profile;
#[cfg(feature = "record")]
mod recorder;
mod reproduce;
mod run_options;
mod scenario_list;
mod scheduler_socket;
mod scx_source;
mod seconds;
mod settings;
mod simulate;
mod sweep;
mod terminal;
#[cfg(feature = "record")]
mod top;
mod trace_verbs;
mod trial;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind::{
    DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand as HelpOnMissing, DisplayVersion,
    UnknownArgument,
};
use clap::{Parser, Subcommand};

use mistake::{mistake, sentence};

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
    /// A grid of runs, in shards that any launcher can run.
    Sweep(sweep::Args),
    /// Every published figure, and ours.
    Reproduce(reproduce::Args),
    /// One run: history and metrics.
    Simulate(simulate::Args),
    /// Scenarios that come with evenkeel.
    Scenarios(scenario_list::Args),
    /// Is this machine affected?
    Characterize(characterize::Args),
    /// CPU tables.
    Cpu(cpu::Args),
    /// Recordings and histories.
    Trace(trace_verbs::Args),
    /// Abilities of this machine, and how to get missing ones.
    Doctor(doctor::Args),
    /// Real victims and culprits on this machine, beside the model's prediction.
    Trial(trial::Args),
    /// Does core specialization pay, on this machine or in a simulation?
    Advise(advise::Args),
    /// How much is lost to the clock of other tasks, by which task, and to which?
    Profile(Box<profile::Args>),
    /// Who waits for whom on this machine, and who lowers whose clock, as it happens.
    #[cfg(feature = "record")]
    Top(top::Args),
    /// This build has no collector.
    #[cfg(not(feature = "record"))]
    Top {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<OsString>,
    },
    /// What would other frequency policies of the hardware give?
    Dvfs(dvfs::Args),
    /// Starts a command as a task of a class, for core specialization.
    ///
    /// scx_evenkeel --mode specialize and --mode fair-specialize run tasks with 512-bit
    /// instructions on some cores alone. They see such instructions after the fact; a declared
    /// class holds from the beginning, for the command and its children, until they end.
    Exec(exec::Args),
    /// Manual pages and completions.
    Generate(generate::Args),
}

/// Reads the arguments. clap takes a value that begins with a minus, as in `--seed -1`, for an
/// argument of its own; joined to its option by `=` the value is refused with the values that
/// the option expects. The error for an option that became a setting names the setting.
fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    let error = match Arguments::try_parse_from(&words) {
        Err(error) if error.kind() == UnknownArgument => error,
        parsed => return parsed,
    };
    if has_settings(&words) {
        let after: Vec<String> =
            words.iter().skip(2).map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(renamed) = settings::old_spelling(&after, &error) {
            return Err(clap::Error::raw(UnknownArgument, renamed));
        }
    }
    let joined = Arguments::try_parse_from(with_values_joined(words)).err();
    Err(joined.filter(|joined| joined.kind() != UnknownArgument).unwrap_or(error))
}

/// Whether the verb is one with `--set`.
fn has_settings(words: &[OsString]) -> bool {
    let verb = words.get(1).map(|verb| verb.as_encoded_bytes());
    matches!(verb, Some(b"advise" | b"compare" | b"mixes" | b"profile" | b"simulate"))
}

/// The words, where `--option -1s` is one: `--option=-1s`.
fn with_values_joined(words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for word in words {
        let is_value = matches!(word.as_encoded_bytes(), [b'-', b'.' | b'0'..=b'9', ..]);
        match joined.last_mut() {
            Some(option) if is_value && option.as_encoded_bytes().starts_with(b"--") => {
                option.push("=");
                option.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// The command, with more schedulers that `--scheduler` takes by their names.
///
/// Reads the process's arguments and returns its exit code; prints what the command prints.
#[must_use]
pub fn main_with(schedulers: Vec<simulator::Custom>) -> ExitCode {
    run_options::add_schedulers(schedulers);
    let words: Vec<OsString> = std::env::args_os().collect();
    if has_settings(&words) && words.iter().any(|word| word == settings::HELP) {
        return ended(terminal::print(&settings::list()));
    }
    let arguments = match parse(words) {
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
        Verb::Sweep(args) => sweep::run(args),
        Verb::Reproduce(args) => reproduce::run(&args),
        Verb::Simulate(args) => simulate::run(args),
        Verb::Scenarios(args) => scenario_list::run(&args),
        Verb::Characterize(args) => characterize::run(args),
        Verb::Cpu(args) => cpu::run(args),
        Verb::Doctor(args) => doctor::run(args),
        Verb::Trace(args) => trace_verbs::run(args),
        Verb::Trial(args) => trial::run(&args),
        Verb::Advise(args) => advise::run(&args),
        Verb::Profile(args) => profile::run(&args),
        #[cfg(feature = "record")]
        Verb::Top(args) => top::run(&args),
        #[cfg(not(feature = "record"))]
        Verb::Top { .. } => Err(anyhow::anyhow!(
            "this build has no collector: cargo build --release --package evenkeel makes one"
        )),
        Verb::Dvfs(args) => dvfs::run(&args),
        Verb::Exec(args) => exec::run(&args),
        Verb::Generate(args) => generate::run(args),
    };
    ended(result)
}

/// The exit code, after a sentence for an error.
fn ended(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if terminal::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is gone, too, the exit code has to say it.
            let _ = writeln!(std::io::stderr(), "evenkeel: {}", sentence(&error));
            let is_missed = error.is::<missed::Missed>();
            if is_missed { ExitCode::FAILURE } else { ExitCode::from(BAD_INPUT) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::path::PathBuf;
    use std::time::Duration;

    use clap::{Arg, Command, CommandFactory};

    use super::*;

    /// The options with values of a command and of its verbs, each behind the words of its verb.
    fn options(command: &Command, verb: &[String]) -> Vec<(Vec<String>, Arg)> {
        let verb = [verb, &[command.get_name().to_owned()]].concat();
        let own = command.get_arguments().filter(|arg| arg.get_action().takes_values());
        let own = own.filter(|arg| !arg.is_positional()).map(|arg| (verb.clone(), arg.clone()));
        let of_verbs = command.get_subcommands().flat_map(|command| options(command, &verb));
        own.chain(of_verbs).collect()
    }

    #[test]
    fn an_option_says_what_it_expects_when_its_value_is_below_0() {
        let options = options(&Arguments::command(), &[]);
        assert!(options.iter().any(|(_, option)| option.get_long() == Some("replicates")));
        for (verb, option) in options {
            let is = |kind: TypeId| option.get_value_parser().type_id() == kind;
            let texts = [TypeId::of::<String>(), TypeId::of::<OsString>(), TypeId::of::<PathBuf>()];
            if is(TypeId::of::<i32>()) || texts.into_iter().any(is) {
                // These take text, or numbers below 0.
                continue;
            }
            let value = if is(TypeId::of::<Duration>()) { "-1s" } else { "-1" };
            let flag = format!("--{}", option.get_long().unwrap());
            let words = verb.iter().map(String::as_str).chain([&flag[..], value]);
            let refused = parse(words.map(OsString::from)).err().map(|error| mistake(&error));
            let said = refused.unwrap_or_default();
            let begin = format!("invalid value '{value}' for '{flag} <");
            assert!(said.starts_with(&begin), "{verb:?} {flag}: {said}");
            let expects = ["expected ", " is not in ", "possible values: "];
            assert!(expects.iter().any(|words| said.contains(words)), "{verb:?}: {said}");
        }
    }

    #[test]
    fn an_option_without_its_value_and_an_unknown_one_are_told_as_such() {
        let said = |words: &str| {
            let words = words.split(' ').map(OsString::from);
            parse(words).err().map(|error| mistake(&error)).unwrap_or_default()
        };
        let missing = "a value is required for '--duration <SECONDS>'";
        assert!(said("evenkeel characterize --duration --cpu 1").starts_with(missing));
        let unknown = "unexpected argument '--nonsense' found";
        assert!(said("evenkeel characterize --nonsense -1").starts_with(unknown));
        let text = "unexpected argument '-1' found";
        assert!(said("evenkeel characterize --json -1").starts_with(text));
    }
}
