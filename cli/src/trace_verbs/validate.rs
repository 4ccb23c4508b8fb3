//! `evenkeel trace validate`: is a history sound, and how near is a model to the recording?

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use report::{ValidationError, Verdict};
use scenarios::ReplayError;
use trace::{Header, History, Source};

use crate::kernel_model::Model;
use crate::missed::Missed;
use crate::{files, machine, terminal};

/// CPU whose frequency the replay runs at. The recorded times are taken for times on this CPU, so
/// any CPU would do.
const REPLAY_CPU: &str = "xeon-gold-6130";
/// Timer interrupts a second where neither recording nor reader says: Debian's and Ubuntu's.
const HZ: u32 = 250;

/// The arguments of `trace validate`.
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
        Err(ValidationError::Replay(ReplayError::Empty)) => return Ok(()),
        validated => validated.with_context(|| args.file.display().to_string())?,
    };
    if let Some(json) = &args.json {
        files::write_json(json, &validation)?;
    }
    if !on_stdout {
        let (width, color) = (terminal::width(), terminal::color());
        terminal::print(&report::validation_table(&validation, width, color))?;
    }
    let misses = validation.count(Verdict::Miss);
    if args.check && misses > 0 {
        let file = args.file.display();
        let says = format!("{file}: {misses} figures of the model are not within tolerance");
        return Err(Missed(says).into());
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
