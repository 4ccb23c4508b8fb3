//! `evenkeel trace validate`: is a history sound, and how near does a model come to it?

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use report::{RealityError, Verdict};
use scenarios::ReplayError;
use simulator::{EevdfKernel, Scheduler};
use trace::{Header, History, Source};

use crate::{files, machine, terminal};

/// CPU whose frequency the replay runs at; the recorded times are taken to be of it, so that any
/// would do.
const REPLAY_CPU: &str = "xeon-gold-6130";
/// Timer interrupts a second where neither recording nor reader says: Debian's and Ubuntu's.
const HZ: u32 = 250;

/// What `trace validate` is asked.
#[derive(clap::Args)]
pub struct Args {
    /// The history
    file: PathBuf,
    /// Model to replay a recording under [default: that of the recorded kernel, else eevdf-6.18]
    #[arg(long, value_enum)]
    scheduler: Option<Model>,
    /// Timer interrupts a second of the recorded kernel [default: as recorded, else 250]
    #[arg(long, value_parser = clap::value_parser!(u32).range(100..=1000))]
    hz: Option<u32>,
    /// Writes the comparison as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Ends with 1 if a figure of the model is not within tolerance
    #[arg(long)]
    check: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// CFS, as in Linux up to 6.5
    Cfs,
    /// EEVDF of Linux 6.6 to 6.16
    #[value(name = "eevdf-6.12")]
    Eevdf6_12,
    /// EEVDF of Linux 6.17 and later
    #[value(name = "eevdf-6.18")]
    Eevdf6_18,
}

impl Model {
    /// The model for the kernel that a recording names, as in `6.18.44-amd64`.
    fn of_kernel(release: &str) -> Option<Self> {
        let (major, rest) = release.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let version: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        Some(match version {
            (..=5, _) | (6, ..=5) => Self::Cfs,
            (6, ..=16) => Self::Eevdf6_12,
            _ => Self::Eevdf6_18,
        })
    }

    fn scheduler(self) -> Scheduler {
        match self {
            Self::Cfs => Scheduler::Cfs,
            Self::Eevdf6_12 => Scheduler::Eevdf(EevdfKernel::V6_12),
            Self::Eevdf6_18 => Scheduler::Eevdf(EevdfKernel::V6_18),
        }
    }
}

/// A model that is not within tolerance, where that was asked for: no mistake of the input.
#[derive(Debug)]
pub struct Missed {
    file: PathBuf,
    misses: usize,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { file, misses } = self;
        write!(f, "{}: {misses} figures of the model are not within tolerance", file.display())
    }
}

impl std::error::Error for Missed {}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    let history = files::history(&args.file)?;
    let on_stdout = args.json.as_deref() == Some(Path::new("-"));
    soundness(&args.file, &history, on_stdout)?;
    if history.header.source == Source::Simulated {
        return Ok(());
    }
    let (model, hz) = assumed(args, &history.header);
    let cpu = machine::model(REPLAY_CPU, true)?;
    let validation = match report::against_recording(&history, &cpu, &model.scheduler(), hz) {
        // Sound, and nothing to compare.
        Err(RealityError::Replay(ReplayError::Empty)) => return Ok(()),
        validated => validated.with_context(|| args.file.display().to_string())?,
    };
    if let Some(json) = &args.json {
        files::write_json(json, &validation)?;
    }
    if !on_stdout {
        let (width, color) = (terminal::width(), terminal::color());
        terminal::print(&report::reality_table(&validation, width, color))?;
    }
    let misses = validation.count(Verdict::Miss);
    if args.check && misses > 0 {
        return Err(Missed { file: args.file.clone(), misses }.into());
    }
    Ok(())
}

fn soundness(path: &Path, history: &History, quiet: bool) -> Result<()> {
    let problems = trace::validate(history);
    for problem in &problems {
        terminal::print(&format!("{}: {problem}\n", path.display()))?;
    }
    if !problems.is_empty() {
        bail!("{}: {} problems", path.display(), problems.len());
    }
    if quiet {
        return Ok(());
    }
    terminal::print(&format!("{}: sound\n", path.display()))
}

/// Model and timer interrupts: as asked for, else as recorded, else those of today.
fn assumed(args: &Args, header: &Header) -> (Model, u32) {
    let fact = |name: &str| header.facts.get(name).map(String::as_str);
    let model = (args.scheduler)
        .or_else(|| fact("kernel").and_then(Model::of_kernel))
        .unwrap_or(Model::Eevdf6_18);
    let recorded_hz = fact("hz").and_then(|hz| hz.parse().ok());
    let hz = args.hz.or(recorded_hz).unwrap_or(HZ);
    (model, hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_names_its_model() {
        let models = [
            ("5.10.0-30-amd64", Some(Model::Cfs)),
            ("6.1.192-2", Some(Model::Cfs)),
            ("6.5", Some(Model::Cfs)),
            ("6.12.117+deb12", Some(Model::Eevdf6_12)),
            ("6.18.44-fc", Some(Model::Eevdf6_18)),
            ("7.2-rc1", Some(Model::Eevdf6_18)),
            ("unknown", None),
            ("6.x", None),
        ];
        for (release, model) in models {
            assert_eq!(Model::of_kernel(release), model, "{release}");
        }
    }
}
