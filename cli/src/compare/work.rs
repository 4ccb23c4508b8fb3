//! What is compared: the runs of a scenario, or a recording.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use scenarios::{Case, MachineDefaults, Scenario, Workload};

use crate::files;
use crate::run_options::{SCHEDULERS, Sensors};

/// How a recording is replayed.
#[derive(Args, Clone, Debug)]
pub struct Replay {
    /// Class of the threads whose names match, such as 'x265*=avx512-heavy' or
    /// 'x265*=avx2-heavy@0.5' for one such instruction in two cycles
    #[arg(long, value_name = "GLOB=CLASS[@RATE]", conflicts_with = "scenario")]
    pub class: Vec<String>,

    /// AVX use by time: CSV of `begin_ns,end_ns,tid,class[,rate]` or `time_ns,tid,level`
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    pub marks: Option<PathBuf>,

    /// Replays on this many CPUs instead of those recorded
    #[arg(long, value_name = "N", conflicts_with = "scenario")]
    pub cpus: Option<u32>,

    /// Hardware threads of a core, where the recording does not say
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "scenario",
        value_parser = clap::value_parser!(u32).range(1..=2))]
    pub threads_per_core: u32,

    /// Frequency at which the recorded machine did its work
    #[arg(long, value_name = "MHZ", default_value_t = 2800, conflicts_with = "scenario",
        value_parser = clap::value_parser!(u32).range(100..=10_000))]
    pub recorded_mhz: u32,
}

/// The work of a comparison.
pub enum Work {
    /// A scenario file.
    Scenario(Box<Scenario>),
    /// A recording and its control, the same with every class scalar.
    Recording(Box<Recording>),
}

/// A recording as work.
pub struct Recording {
    /// Name of the file.
    pub name: String,
    /// CPU to replay on where `--cpu` does not say.
    pub cpu: String,
    /// What the reader must know.
    pub notes: Vec<String>,
    /// The recorded work.
    pub workload: Workload,
    /// The same without wide instructions.
    pub control: Workload,
    /// When to stop at the latest.
    pub limit_ns: u64,
}

/// CPU of recordings that do not say where they come from.
const REPLAY_CPU: &str = "xeon-gold-6130";
/// A replay may take this many times as long as the recording.
const REPLAY_LIMIT: u64 = 20;

impl Work {
    /// Reads the scenario or the recording.
    pub fn read(scenario: Option<&str>, trace: Option<&Path>, replay: &Replay) -> Result<Self> {
        match (scenario, trace) {
            (_, Some(path)) => Ok(Self::Recording(Box::new(read_recording(path, replay)?))),
            (Some(name), None) => Ok(Self::Scenario(Box::new(read_scenario(name)?))),
            (None, None) => bail!("name a scenario, or a recording with --trace"),
        }
    }

    /// Name in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Scenario(scenario) => &scenario.name,
            Self::Recording(recording) => &recording.name,
        }
    }

    /// CPU table it is meant for.
    pub fn cpu(&self) -> &str {
        match self {
            Self::Scenario(scenario) => &scenario.cpu,
            Self::Recording(recording) => &recording.cpu,
        }
    }

    /// Every run that belongs to one scheduler and replicate.
    pub fn cases(&self) -> Vec<Case> {
        match self {
            Self::Scenario(scenario) => scenario.cases(),
            Self::Recording(_) => {
                (0..2).map(|background| Case { foreground: None, background }).collect()
            }
        }
    }

    /// Name of a background, and whether it is the control.
    pub fn background(&self, index: usize) -> (String, bool) {
        match self {
            Self::Scenario(scenario) => {
                let name = scenario.background_names().nth(index).unwrap_or_default();
                (name.to_owned(), index == scenario.control())
            }
            Self::Recording(_) if index == 0 => ("scalar".to_owned(), true),
            Self::Recording(_) => ("recorded".to_owned(), false),
        }
    }

    /// Name of the foreground program of a case, where programs run one by one.
    pub fn program(&self, case: Case) -> Option<String> {
        match self {
            Self::Scenario(scenario) => {
                case.foreground.and_then(|i| scenario.foreground_names().nth(i)).map(str::to_owned)
            }
            Self::Recording(_) => None,
        }
    }

    /// The workload of a case in a replicate.
    pub fn workload(
        &self,
        case: Case,
        replicate: u32,
        overrides: &BTreeMap<String, f64>,
        machine: &MachineDefaults,
    ) -> Result<Workload> {
        match self {
            Self::Scenario(scenario) => {
                Ok(scenario.workload(case, Some(replicate as usize), overrides, machine)?)
            }
            Self::Recording(recording) if case.background == 0 => Ok(recording.control.clone()),
            Self::Recording(recording) => Ok(recording.workload.clone()),
        }
    }

    /// Simulated time after which a run stops.
    pub fn limit_ns(&self) -> u64 {
        match self {
            Self::Scenario(scenario) => scenario.run.limit_ns,
            Self::Recording(recording) => recording.limit_ns,
        }
    }
}

/// A scenario by name or from a file.
pub fn read_scenario(name: &str) -> Result<Scenario> {
    if let Some((file, text)) = scenarios::by_name(name) {
        return Ok(Scenario::parse(text, file)?);
    }
    let path = Path::new(name);
    if !path.exists() && !name.contains(['.', '/']) {
        bail!(
            "no scenario {name:?}: expected a file or one of {}",
            scenarios::names().collect::<Vec<_>>().join(", ")
        );
    }
    let scenario = Scenario::parse(&files::read_text(path)?, name)?;
    for (index, claim) in scenario.claims.iter().enumerate() {
        for figure in claim.figures() {
            one_of(name, index, "scheduler", &figure.scheduler, &SCHEDULERS)?;
            one_of(name, index, "sensors", &figure.sensors, &Sensors::names())?;
        }
    }
    Ok(scenario)
}

fn one_of(file: &str, claim: usize, field: &str, found: &str, known: &[&str]) -> Result<()> {
    let known_names = known.join(", ");
    ensure!(
        known.contains(&found),
        "{file}: `claim[{claim}].{field}`: {found:?} is not one of {known_names}"
    );
    Ok(())
}

fn read_recording(path: &Path, replay: &Replay) -> Result<Recording> {
    let name = path.display().to_string();
    let mut history = files::history(path)?;
    let rules = trace::classes::Rules::parse(&replay.class).context("--class")?;
    let marks = match &replay.marks {
        None => trace::marks::Marks::default(),
        Some(file) => trace::marks::Marks::parse(&files::read_text(file)?)
            .with_context(|| file.display().to_string())?,
    };
    trace::annotate(&mut history, &rules, &marks);
    let options = scenarios::ReplayOptions {
        recorded_khz: replay.recorded_mhz * 1000,
        cpus: replay.cpus,
        threads_per_core: replay.threads_per_core,
        kernel_threads: true,
    };
    let (workload, report) = match scenarios::from_recording(&history, &options) {
        Err(error @ scenarios::ReplayError::NoClasses) => {
            ensure!(
                replay.class.is_empty() && replay.marks.is_none(),
                "{name}: neither --class nor --marks gives a wide class to a task of the \
                 recording (evenkeel trace info lists their names)"
            );
            bail!("{name}: {error}; say so with --class 'GLOB=CLASS' or --marks FILE")
        }
        replayed => replayed.with_context(|| name.clone())?,
    };
    let length_ns = history.header.end_ns - history.header.start_ns;
    Ok(Recording {
        cpu: history.header.cpu.clone().unwrap_or_else(|| REPLAY_CPU.to_owned()),
        notes: notes(&report, replay),
        control: workload.scalar(),
        workload,
        limit_ns: length_ns.saturating_mul(REPLAY_LIMIT),
        name,
    })
}

/// What the reader of a replay must know.
fn notes(report: &scenarios::ReplayReport, replay: &Replay) -> Vec<String> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let mut notes = vec![format!(
        "Replay of {:.3} s of recording, {:.3} s of them on CPUs at {} MHz (--recorded-mhz): {} \
         wake-ups by other tasks stay dependencies, {} waits are sleeps of the recorded length.",
        seconds(report.recorded_ns),
        seconds(report.ran_ns),
        replay.recorded_mhz,
        report.dependencies,
        report.sleeps
    )];
    if report.stolen_ns > 0 {
        notes.push(format!(
            "A hypervisor stole {:.3} s of the recorded CPU time; it is no work in the replay.",
            seconds(report.stolen_ns)
        ));
    }
    if report.broken_switches > 0 {
        notes.push(format!("{} switches of the recording were broken.", report.broken_switches));
    }
    notes
}
