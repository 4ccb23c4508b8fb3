//! What does a recording say that advice depends on: which programs lower the clock, on which CPU?

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use cpu_model::{Class, CpuModel};
use scenarios::{Application, Role, Step, Workload};
use trace::{Event, Header, History, Source};

use super::Args;
use super::late::late;
use crate::compare::Work;
use crate::files;
use crate::profile::CpuOf;

/// The upper halves of 512-bit registers, in XSTATE_BV (SDM, volume 1, section 13.1).
const ZMM_HI256: u64 = 1 << 6;
/// As in the profile of a recording: one time can be the start-up code of a library.
const MARKS_MIN: u64 = 2;
/// The recording is this many times as long as a simulated run, so that programs do not run out of
/// recorded work even where the simulated CPU or an action makes them faster; our choice.
const WINDOW_ONE_IN: u64 = 2;
/// A program that begins after this part of a simulated run is late; our choice.
const LATE_ONE_IN: u64 = 10;
const FULL_RATE_PERMILLE: u32 = 1000;

/// The recorded work on a CPU whose clock some of it lowers.
pub struct Situation {
    pub work: Work,
    /// All its applications are foreground, so that no run ends before all have ended.
    pub workload: Workload,
    /// Applications that are judged, but do not lower the clock: indices into the workload's.
    pub victims: Vec<u32>,
    /// Applications that begin late in a simulated run: indices into the workload's. An action that
    /// delays one moves much of its work behind the end of the run, so a change of that work says
    /// nothing.
    pub late: Vec<u32>,
    /// How long each run lasts.
    pub window_ns: u64,
    pub cpu: CpuModel,
    pub header: Header,
    /// Rules that give the classes, as of `--class`.
    pub rules: Vec<String>,
    /// Applications that demand a lower clock: indices into the workload's.
    pub culprits: Vec<u32>,
    /// By name of an application: functions on stacks of 512-bit code.
    pub functions: BTreeMap<String, Vec<String>>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The result of reading a recording.
pub enum Found {
    /// No action can gain, for this reason.
    Nothing { cpu: Option<String>, why: String },
    /// Some programs lower the clock.
    Loss(Box<Situation>),
}

/// Reads a recording.
pub fn read(args: &Args, path: &Path) -> Result<Found> {
    let history = files::history(path)?;
    let mut notes = Vec::new();
    let cpu_name = match table(args, &history.header, &mut notes) {
        Ok(name) => name,
        Err(why) => return Ok(Found::Nothing { cpu: None, why }),
    };
    let named_by = args.run.named_cpu_by(&path.display().to_string());
    let cpu = args.run.cpu_model(&cpu_name, true).context(named_by)?;
    let nothing = |why| Ok(Found::Nothing { cpu: Some(cpu_name.clone()), why });
    if !Class::ALL.iter().any(|&class| lowers_clock(&cpu, class, FULL_RATE_PERMILLE)) {
        return nothing(format!("{cpu_name} is not affected: no class of code lowers its clock"));
    }
    let Some(rules) = rules(args, &history, &mut notes) else {
        return nothing(
            "the registers that were recorded show no 512-bit code; --class names a program that \
             has some"
                .to_owned(),
        );
    };
    let work = Work::read(None, Some(path), &rules, &args.run.set)?;
    let Work::Recording(recording) = &work else { unreachable!("a path is a recording") };
    notes.extend(recording.notes.iter().cloned());
    notes.extend(recording.turbo_note(&cpu));
    let mut workload = recording.workload.clone();
    let culprits = culprits(&workload, &cpu);
    if culprits.is_empty() {
        return nothing(format!(
            "no recorded program runs code that lowers the clock of {cpu_name}"
        ));
    }
    let header = &history.header;
    let window_ns = header.end_ns.saturating_sub(header.start_ns) / WINDOW_ONE_IN;
    let late_names = late(&history, window_ns / LATE_ONE_IN);
    let applications = || (0u32..).zip(&workload.applications);
    let is_late = |(_, application): &(u32, &Application)| late_names.contains(&application.name);
    let late: Vec<u32> = applications().filter(is_late).map(|(index, _)| index).collect();
    let victims = applications().filter(|(index, application)| {
        application.role == Role::Foreground && !culprits.contains(index) && !late.contains(index)
    });
    let victims = victims.map(|(index, _)| index).collect();
    workload.applications.iter_mut().for_each(|application| application.role = Role::Foreground);
    let functions = functions(&history);
    let header = history.header;
    Ok(Found::Loss(Box::new(Situation {
        work,
        workload,
        victims,
        late,
        window_ns,
        cpu,
        header,
        rules,
        culprits,
        functions,
        notes,
    })))
}

/// The name of the CPU table, or why no CPU table is needed.
fn table(args: &Args, header: &Header, notes: &mut Vec<String>) -> Result<String, String> {
    let machine = header.facts.get("machine").map_or("", String::as_str);
    let named = args.run.cpu.as_ref().or(header.cpu.as_ref());
    match (named, CpuOf::machine(machine)) {
        (Some(name), _) => Ok(name.clone()),
        (None, CpuOf::NoLevels) => Err(format!(
            "no instructions lower the clock of this CPU ({machine}) by a fixed step, so no task \
             loses time to wide code of other tasks; --cpu NAME predicts for another CPU"
        )),
        (None, CpuOf::Machine(name)) => Ok(name.to_owned()),
        (None, CpuOf::AsIf(name)) => {
            notes.push(format!(
                "No CPU table fits the recorded machine, so {name} is assumed; --cpu names another."
            ));
            Ok(name.to_owned())
        }
    }
}

/// The rules that give the classes: those of the user, or else those that registers show; `None`
/// if registers show no 512-bit code.
fn rules(args: &Args, history: &History, notes: &mut Vec<String>) -> Option<Vec<String>> {
    let given = &args.classes.class;
    if !given.is_empty() || args.run.set.replay.marks.is_some() || !has_registers(history) {
        return Some(given.clone());
    }
    let shown = shown_rules(history);
    if shown.is_empty() {
        // A simulated history has classes of its own.
        return (history.header.source == Source::Simulated).then_some(shown);
    }
    notes.push(format!(
        "Registers show 512-bit code, which is taken for heavy: {}; --class says otherwise.",
        shown.join(", ")
    ));
    Some(shown)
}

/// Whether code of the class lowers the clock of a core of that CPU.
fn lowers_clock(cpu: &CpuModel, class: Class, rate_permille: u32) -> bool {
    let level = cpu.level_demanded(class, rate_permille);
    let rows = 0..cpu.turbo.rows as usize;
    level > 0 && rows.into_iter().any(|row| cpu.turbo.khz(row, level) < cpu.turbo.khz(row, 0))
}

/// Applications with code that lowers the clock.
fn culprits(workload: &Workload, cpu: &CpuModel) -> Vec<u32> {
    let mut found = BTreeSet::new();
    for thread in &workload.threads {
        let mut work = thread.program.iter().filter_map(Step::work);
        if work.any(|work| lowers_clock(cpu, work.class, work.rate_permille)) {
            found.insert(thread.application);
        }
    }
    found.into_iter().collect()
}

fn has_registers(history: &History) -> bool {
    let is_it = |event: &Event| matches!(event, Event::Registers { .. });
    history.records.iter().any(|record| is_it(&record.event))
}

/// The application of a task.
fn application(header: &Header, tid: u32) -> Option<&str> {
    let at = header.tasks.binary_search_by_key(&tid, |task| task.tid).ok()?;
    Some(&header.tasks[at].app)
}

/// A rule for each application whose tasks left their CPUs with 512-bit registers in use.
fn shown_rules(history: &History) -> Vec<String> {
    let mut marks: BTreeMap<&str, u64> = BTreeMap::new();
    for record in &history.records {
        if let Event::Registers { task, xfeatures } = record.event
            && xfeatures & ZMM_HI256 != 0
            && let Some(name) = application(&history.header, task)
        {
            *marks.entry(name).or_default() += 1;
        }
    }
    let often = marks.into_iter().filter(|&(_, marks)| marks >= MARKS_MIN);
    often.map(|(name, _)| format!("{name}={}", Class::Avx512Heavy)).collect()
}

/// The functions on stacks of 512-bit code, by application, each once.
fn functions(history: &History) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in &history.records {
        if let Event::Stack { task, stack } = record.event
            && let Some(name) = application(&history.header, task)
            && let Some(stack) = history.header.stacks.get(stack as usize)
        {
            found.entry(name.to_owned()).or_default().extend(stack.iter().cloned());
        }
    }
    found.into_iter().map(|(name, of)| (name, of.into_iter().collect())).collect()
}
