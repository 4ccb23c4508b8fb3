//! `evenkeel trace record`: records the schedule of this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cpu_model::Class;
use sensors::recorder::{Mark, Wanted};

use crate::seconds::seconds;
use crate::{doctor, files, recorder};

pub const EXAMPLES: &str = "\
Examples (as root, or with the two capabilities that an error names):
  evenkeel trace record -o rec.ektrace -- sh -c 'x265 … & xz … & wait'
  evenkeel trace record -o rec.ektrace -a --duration 10
  evenkeel trace record --uprobe libcrypto.so.3:ChaCha20_ctr32=avx512-heavy -- nginx …
All CPUs and tasks of the machine are recorded, for as long as CMD runs. Then:
  evenkeel trace info rec.ektrace
  evenkeel trace marks rec.ektrace
  evenkeel compare --trace rec.ektrace --class 'x265*=avx512-heavy'
Names of all programs are in the file (evenkeel trace scrub removes them), addresses never.";

/// The tasks to record.
#[derive(clap::Args)]
pub struct Args {
    /// History to write; replaces a file of that name
    #[arg(short, long, value_name = "FILE.ektrace", default_value = "recording.ektrace")]
    output: PathBuf,
    /// Ends after this many seconds, and CMD too
    #[arg(long, value_name = "S", value_parser = |text: &str| seconds(text, 0.001..=86_400.0))]
    duration: Option<Duration>,
    /// Marks the code between two functions of a library, or within one, as being of a class
    /// [default class: avx512-heavy]; may be repeated
    #[arg(long, value_name = "LIB:BEGIN[,END][=CLASS]", value_parser = mark)]
    uprobe: Vec<Mark>,
    /// Records without a command, until --duration or SIGINT
    #[arg(short, long, conflicts_with = "command", required_unless_present = "command")]
    all: bool,
    /// Command to run while recording
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Reads `LIB:BEGIN[,END][=CLASS]`.
fn mark(text: &str) -> Result<Mark, String> {
    let (functions, class) = match text.rsplit_once('=') {
        Some((functions, class)) => (functions, class),
        None => (text, Class::Avx512Heavy.name()),
    };
    let class = Class::ALL.into_iter().find(|known| known.name() == class).ok_or_else(|| {
        let names = Class::ALL.map(Class::name).join(", ");
        format!("class `{class}`: expected one of {names}")
    })?;
    let expected = || "expected LIB:BEGIN, LIB:BEGIN,END or either with =CLASS".to_owned();
    let (library, functions) = functions.rsplit_once(':').ok_or_else(expected)?;
    let (begin, end) = match functions.split_once(',') {
        Some((begin, end)) => (begin, Some(end)),
        None => (functions, None),
    };
    if library.is_empty() || begin.is_empty() || end.is_some_and(str::is_empty) {
        return Err(expected());
    }
    let (library, begin) = (library.to_owned(), begin.to_owned());
    Ok(Mark { library, begin, end: end.map(str::to_owned), class })
}

/// Records, and ends with the exit code of the command.
pub fn run(args: Args) -> Result<()> {
    files::refuse_unwritable(&args.output)?;
    ensure!(args.output != Path::new("-"), "--output: expected a file, not standard output");
    let facts = doctor::probe();
    // First of all: the warden is a fork of this process.
    let command = (!args.command.is_empty())
        .then(|| recorder::Workload::prepare(&args.command))
        .transpose()
        .context("preparing the command")?;
    let plan = recorder::Plan {
        output: &args.output,
        duration: args.duration,
        wanted: Wanted { marks: &args.uprobe, messages: true, ..Wanted::default() },
        words: &args.command,
        facts: &facts,
        pauses: None,
        announcement: "",
    };
    let ended = recorder::record(plan, command)?;
    eprintln!("{}: {} switches", args.output.display(), ended.switches);
    ended.end.iter().chain(&ended.gaps).for_each(|note| eprintln!("  {note}"));
    match ended.code {
        0 => Ok(()),
        code => std::process::exit(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_name_a_library_one_or_two_functions_and_a_class() {
        let read = |text| mark(text).unwrap();
        let one = read("libcrypto.so.3:ChaCha20_ctr32");
        assert_eq!((one.library.as_str(), one.end), ("libcrypto.so.3", None));
        assert_eq!(one.class, Class::Avx512Heavy);
        let two = read("/a:b/lib.so:begin,end=avx2-light");
        assert_eq!((two.library.as_str(), two.begin.as_str()), ("/a:b/lib.so", "begin"));
        assert_eq!((two.end.as_deref(), two.class), (Some("end"), Class::Avx2Light));
    }

    #[test]
    fn what_is_no_mark_is_refused_with_what_was_expected() {
        for text in ["lib.so", ":begin", "lib.so:", "lib.so:begin,", "lib.so:,end"] {
            assert!(mark(text).is_err_and(|error| error.contains("LIB:BEGIN,END")), "{text}");
        }
        assert!(mark("lib.so:begin=fast").is_err_and(|error| error.contains("avx2-heavy")));
    }
}
