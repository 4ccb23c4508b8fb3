//! A recording as work: the classes of its tasks, and notes for the reader of the replay.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use cpu_model::CpuModel;
use scenarios::{ReplayError, ReplayOptions, ReplayReport, Workload};
use trace::classes::Rules;
use trace::marks::Marks;
use trace::{Annotation, Event, History, Record};

use crate::files;
use crate::settings::Replay;

/// The classes of the threads of a recording.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Work")]
pub struct Classes {
    /// The class of the instructions that threads run, by the name of the thread or else of its
    /// application: 'x265*=avx512-heavy', or with @0.5 one such instruction in two cycles. Classes
    /// are scalar (the default), avx2-light, avx2-heavy, avx512-light, avx512-heavy, amx; of
    /// several --class the first that matches holds
    #[arg(long, value_name = "GLOB=CLASS[@RATE]", conflicts_with = "scenario")]
    pub class: Vec<String>,
}

/// A recording as work.
#[derive(Clone)]
pub struct Recording {
    /// Name of the file.
    pub name: String,
    /// CPU to replay on where `--cpu` does not say.
    pub cpu: String,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The recorded work.
    pub workload: Workload,
    /// The same without wide instructions.
    pub control: Workload,
    /// When to stop at the latest.
    pub limit_ns: u64,
}

/// CPU of recordings that do not say where they come from.
pub const REPLAY_CPU: &str = "xeon-gold-6130";
/// Frequency of recordings that do not say: that of many active cores of [`REPLAY_CPU`] without
/// wide instructions; our choice.
const RECORDED_MHZ: u32 = 2800;
/// A replay may take this many times as long as the recording.
const REPLAY_LIMIT: u64 = 20;
/// Names or ids that an error lists.
const NAMES_LISTED: usize = 8;

impl Recording {
    /// Reads a history and turns the recorded schedule into work.
    pub fn read(path: &Path, class: &[String], replay: &Replay) -> Result<Self> {
        let name = path.display().to_string();
        let (history, annotation) = annotated(path, class, replay)?;
        let is_pause = |record: &Record| matches!(record.event, Event::Pause { .. });
        ensure!(
            !history.records.iter().any(is_pause),
            "{name}: cores were paused while it was recorded (`profile --pauses`), which a replay \
             would take for work; record without pauses"
        );
        let options = ReplayOptions {
            recorded_khz: replay.recorded_mhz.unwrap_or(RECORDED_MHZ) * 1000,
            cpus: replay.cpus,
            threads_per_core: replay.threads_per_core,
            turbo_cores: replay.turbo_cores,
            kernel_threads: true,
        };
        let (workload, report) = match scenarios::from_recording(&history, &options) {
            Err(error @ ReplayError::NoClasses) => {
                ensure!(
                    class.is_empty() && replay.marks.is_none(),
                    "{name}: neither --class nor --set marks gives a wide class to a task of the \
                     recording (evenkeel trace info lists their names)"
                );
                bail!("{name}: {error}; say so with --class 'GLOB=CLASS' or --set marks=FILE")
            }
            replayed => replayed.with_context(|| name.clone())?,
        };
        let length_ns = history.header.end_ns - history.header.start_ns;
        Ok(Self {
            cpu: history.header.cpu.clone().unwrap_or_else(|| REPLAY_CPU.to_owned()),
            notes: notes(&report, &annotation, history.header.interrupts_known(), replay),
            control: workload.scalar(),
            workload,
            limit_ns: length_ns.saturating_mul(REPLAY_LIMIT),
            name,
        })
    }

    /// Cores of the package, where the recording has fewer and nothing says how many are active.
    pub fn cores_if_busy(&self, cpu: &CpuModel) -> Option<u32> {
        let machine = &self.workload.machine;
        let is_part = machine.cores_per_package < cpu.cores_per_package;
        (is_part && machine.turbo_cores.is_none()).then_some(cpu.cores_per_package)
    }

    /// A copy whose machine has the turbo frequencies of `cores` active cores.
    pub fn with_active_cores(&self, cores: u32) -> Self {
        let mut copy = self.clone();
        for workload in [&mut copy.workload, &mut copy.control] {
            workload.machine.turbo_cores = Some(cores);
        }
        copy
    }

    /// The fall of the clock on a machine of the recorded size, and on a busy package of that
    /// CPU; nothing where the recording fills the package.
    pub fn turbo_note(&self, cpu: &CpuModel) -> Option<String> {
        let machine = &self.workload.machine;
        let cores = machine.cores_per_package;
        let top = u8::try_from(cpu.level_names.len()).unwrap_or(u8::MAX).saturating_sub(1);
        let fall = |active| {
            let row = cpu.turbo.row(active);
            let mhz = |level| cpu.turbo.khz(row, level) / 1000;
            format!("{} to {} MHz", mhz(0), mhz(top))
        };
        if let Some(active) = machine.turbo_cores {
            return Some(format!(
                "Turbo: as with {active} active cores, {} at most.",
                fall(active)
            ));
        }
        let busy = self.cores_if_busy(cpu)?;
        Some(format!(
            "Turbo: the {cores} recorded cores are taken for all that are active, so that the \
             clock falls from {} at most; --set turbo-cores={busy} makes that {}, as on a busy \
             package.",
            fall(cores),
            fall(busy)
        ))
    }
}

/// The history of a recording, with the classes of its tasks.
pub fn annotated(path: &Path, class: &[String], replay: &Replay) -> Result<(History, Annotation)> {
    let mut history = files::history(path)?;
    let annotation = annotate(&mut history, &path.display().to_string(), class, replay)?;
    Ok((history, annotation))
}

/// Adds the classes of rules and marks; one that says nothing about the recording is a mistake.
fn annotate(
    history: &mut History,
    name: &str,
    class: &[String],
    replay: &Replay,
) -> Result<Annotation> {
    let rules = Rules::parse(class).context("--class")?;
    let marks = match &replay.marks {
        None => Marks::default(),
        Some(file) => {
            Marks::parse(&files::read_text(file)?).with_context(|| file.display().to_string())?
        }
    };
    let annotation = trace::annotate(history, &rules, &marks);
    if let Some(&rule) = annotation.unused_rules.first() {
        bail!(
            "--class: rule {rule} `{}` fits no task of {name}; those that ran longest are {}",
            class[rule - 1],
            longest(history, |task| task.comm.clone())
        );
    }
    if let Some(file) = &replay.marks {
        let file = file.display();
        ensure!(!marks.is_empty(), "{file}: no marks");
        let used = marks.len() - annotation.unknown_marks - annotation.outside_marks;
        ensure!(
            used > 0,
            "{file}: none of {} marks is about a task and time of {name}: {} to {} ns, and \
             those that ran longest are {}",
            marks.len(),
            history.header.start_ns,
            history.header.end_ns,
            longest(history, |task| format!("{} ({})", task.tid, task.comm))
        );
    }
    Ok(annotation)
}

/// Tasks that ran longest, each way of showing them once.
fn longest(history: &History, shown: impl Fn(&trace::TaskSummary) -> String) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in trace::info(history).tasks.iter().map(shown) {
        if names.len() < NAMES_LISTED && !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Notes for the reader of a replay.
fn notes(
    report: &ReplayReport,
    annotation: &Annotation,
    interrupts_known: bool,
    replay: &Replay,
) -> Vec<String> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let mut notes = vec![
        format!(
            "Replay of {:.3} s of recording, {:.3} s of them on CPUs, {}.",
            seconds(report.recorded_ns),
            seconds(report.ran_ns),
            frequency(report, replay)
        ),
        waits(report, interrupts_known),
    ];
    let marks_left = annotation.unknown_marks + annotation.outside_marks;
    if marks_left > 0 {
        notes.push(format!(
            "{marks_left} marks are about no task or time of the recording and were left out."
        ));
    }
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

/// The frequency of the recorded work, and its source.
fn frequency(report: &ReplayReport, replay: &Replay) -> String {
    let assumed = match replay.recorded_mhz {
        Some(mhz) => format!("at {mhz} MHz (--set recorded-mhz)"),
        None => {
            format!("at {RECORDED_MHZ} MHz, assumed by default (--set recorded-mhz=MHZ changes it)")
        }
    };
    if report.known_khz_ns == 0 {
        return assumed;
    }
    let percent = 100.0 * report.known_khz_ns as f64 / report.ran_ns.max(1) as f64;
    if report.known_khz_ns >= report.ran_ns {
        "at the recorded frequencies".to_owned()
    } else {
        format!("{percent:.1} % of it at the recorded frequencies, the rest {assumed}")
    }
}

/// Which waits depend on other tasks, and how sure that is.
fn waits(report: &ReplayReport, interrupts_known: bool) -> String {
    let ReplayReport { dependencies, sleeps, unclear, .. } = *report;
    let devices = sleeps - unclear;
    let text = format!(
        "Waits: {dependencies} for another task stay dependencies, {devices} for timers and \
         devices are sleeps of the recorded length"
    );
    if interrupts_known {
        return text + "; the recording tells them apart.";
    }
    format!(
        "{text}, {unclear} are uncertain and count as sleeps: the recording shows no interrupts \
         (evenkeel trace --help says how to record them)."
    )
}
