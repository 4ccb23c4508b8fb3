//! Runs the same work with wide and with narrow code in turn, each profiled, and measures each run.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use profiler::By;

use super::gain::{self, Code, Compared, Run, Source};
use super::gain_tasks::{self, COMMAND, RECORDER};
use super::{Args, Estimator, Report, live, recorded};
use crate::recorder::Workload;
use crate::{doctor, files};

/// Characters of a command that are shown.
const SHOWN_MAX: usize = 200;
/// The exit code where a run ended early without a code of its own.
const NOT_COMPARED: i32 = 1;

/// Runs of each command by default: the fewest whose interval is of use, by Student's t.
const RUNS: u32 = 3;
/// All wardens are forked first and wait; more of them than this help no interval.
const RUNS_MAX: u32 = 100;

/// Refuses what does not fit two commands, before anything runs.
fn refuse(args: &Args, narrow: &OsString) -> Result<()> {
    ensure!(
        !narrow.as_encoded_bytes().trim_ascii().is_empty(),
        "--narrow: expected a command for sh, which does the same work without wide instructions"
    );
    ensure!(
        args.classes.class.is_empty(),
        "--class: with --narrow a program has one name and two classes; leave --class out"
    );
    let runs = args.runs.unwrap_or(RUNS);
    ensure!(
        (2..=RUNS_MAX).contains(&runs),
        "--runs: expected 2 to {RUNS_MAX} runs of each command with --narrow; one has no interval"
    );
    Ok(())
}

/// Runs both commands in turn; the report is that of the first run, the exit code that of the run
/// that failed, if one did.
pub fn run(args: &Args, narrow: &OsString) -> Result<(Report, i32)> {
    recorded::refuse_simulation(args)?;
    args.outputs.refuse_mixing(true)?;
    args.focus.refuse_missing()?;
    refuse(args, narrow)?;
    if let Some(path) = &args.live.record {
        files::refuse_unwritable(path)?;
    }
    let facts = doctor::probe();
    let order = gain::order(args.runs.unwrap_or(RUNS));
    let narrow_words = ["sh".into(), "-c".into(), narrow.clone()];
    let words_of = |code| match code {
        Code::Wide => &args.live.command[..],
        Code::Narrow => &narrow_words[..],
    };
    // Each warden is a fork of this process while it has one thread; analyses start more.
    let commands: std::io::Result<Vec<Workload>> =
        order.iter().map(|&code| Workload::prepare(words_of(code))).collect();
    let commands = commands.context("preparing the commands")?;
    let wardens = children(std::process::id());
    let recordings = live::Recordings::start(args, &facts)?;
    let mut first: Option<Report> = None;
    let mut runs: [Vec<(Run, Source)>; 2] = Default::default();
    let mut failed = None;
    for (index, (&code, command)) in order.iter().zip(commands).enumerate() {
        let title = title(index, order.len(), code, narrow);
        eprintln!("{title}");
        let live::Recorded { report, code: exit_code, end } =
            recordings.record(words_of(code), Some(command), index == 0)?;
        let is_whole = exit_code == 0 && end.is_empty();
        if is_whole {
            let file = recordings.path(index == 0);
            let measured = measure(args, &file, code, &report, &wardens);
            runs[code as usize].push(measured.with_context(|| title.clone())?);
        }
        match &mut first {
            None => first = Some(report),
            Some(first) => first.notes.extend(gaps(&title, &report)),
        }
        if !is_whole {
            failed = Some((why(&title, exit_code, &end, code), exit_code));
            break;
        }
    }
    let mut report = first.context("nothing ran")?;
    let code = failed.as_ref().map_or(0, |&(_, code)| if code == 0 { NOT_COMPARED } else { code });
    report.gain = Some(compared(narrow, &runs, failed.map(|(why, _)| why)));
    Ok((report, code))
}

fn title(index: usize, all: usize, code: Code, narrow: &OsString) -> String {
    let what = match code {
        Code::Wide => "CMD".to_owned(),
        Code::Narrow => format!("--narrow '{}'", shown(narrow)),
    };
    format!("Run {} of {all}, {what}", index + 1)
}

fn shown(command: &OsString) -> String {
    trace::clean_up_to(command.as_encoded_bytes(), SHOWN_MAX)
}

/// Why runs cannot be compared.
fn why(title: &str, exit_code: i32, end: &[String], code: Code) -> String {
    let how = match (exit_code, code) {
        (127, Code::Narrow) => "sh found no such command (exit code 127)".to_owned(),
        (126, Code::Narrow) => "sh may not run that command (exit code 126)".to_owned(),
        (0, _) => end.join("; "),
        (129.., _) => format!("ended by signal {}", exit_code - 128),
        _ => format!("ended with exit code {exit_code}"),
    };
    format!("Not compared: {title}: {how}. Both commands have to end with exit code 0.")
}

fn compared(
    narrow: &OsString,
    [wide, other]: &[Vec<(Run, Source)>; 2],
    failed: Option<String>,
) -> Compared {
    let pairs: Vec<(Run, Run)> = wide.iter().zip(other).map(|(w, n)| (w.0, n.0)).collect();
    let gain = if failed.is_none() { gain::compare(&pairs) } else { None };
    let is_unknown = wide.iter().any(|(_, source)| *source == Source::NotKnown);
    let first = wide.first().map_or(Source::NotKnown, |(_, source)| *source);
    let too_short = || "Not compared: a run took no measurable CPU time.".to_owned();
    Compared {
        narrow: shown(narrow),
        failed: failed.or_else(|| gain.is_none().then(too_short)),
        gain,
        source: if is_unknown { Source::NotKnown } else { first },
    }
}

/// What a reader should know of a later run, whose profile is not shown.
fn gaps(title: &str, report: &Report) -> Vec<String> {
    let gap = |note: &&String| note.contains("were lost") || note.contains("the host took");
    report.notes.iter().filter(gap).map(|note| format!("{title}: {note}")).collect()
}

/// Measures a run by its recording.
fn measure(
    args: &Args,
    file: &Path,
    code: Code,
    report: &Report,
    wardens: &[u32],
) -> Result<(Run, Source)> {
    let mut history = files::history(file)?;
    let found = gain_tasks::find(&history, wardens)
        .context("the recording does not show when the command began: too many events were lost")?;
    let recorder: Vec<u32> = wardens.iter().copied().chain([std::process::id()]).collect();
    gain_tasks::name(&mut history.header.tasks, &found, &recorder);
    let cpu = recorded::Table::of(&history.header, &args.run, file)?.cpu;
    let reading = recorded::reading(&args.run, By::Program);
    let profile = profiler::recorded::profile(&cpu, &history, &reading);
    let has_pauses = report.samples.is_some();
    let matrix = recorded::matrix(&profile, has_pauses, args.run.seed);
    let group = |name: &str| profile.groups.iter().position(|it| it == name);
    let (command, recorder) = (group(COMMAND), group(RECORDER));
    let is_other = |of: usize| Some(of) != command && Some(of) != recorder;
    let cpu_time_s = |is_meant: &dyn Fn(usize) -> bool| {
        let meant = matrix.victims.iter().filter(|it| is_meant(it.group));
        meant.map(|it| it.cpu_time_ns).sum::<u64>() as f64 / 1e9
    };
    // Pauses seldom tell which program demands a level: all that has no other culprit counts.
    let is_its =
        |culprit: Option<usize>| culprit.map_or(has_pauses, |culprit| Some(culprit) == command);
    let losses = matrix.entries.iter().filter(|it| is_other(it.victim) && is_its(it.culprit));
    let lost_ns: f64 = losses.map(|it| it.lost_ns.value).sum();
    let (source, cost_s) = cost(report, code, lost_ns / 1e9);
    let run = Run {
        time_s: found.time_ns as f64 / 1e9,
        cpu_time_s: cpu_time_s(&|group| Some(group) == command),
        others_cpu_time_s: cpu_time_s(&is_other),
        cost_s,
    };
    Ok((run, source))
}

/// What the other programs lost by the clock, where the profile tells.
fn cost(report: &Report, code: Code, lost_s: f64) -> (Source, Option<f64>) {
    match (report.estimator, code) {
        (Estimator::NoLevels, _) => (Source::NoLevels, Some(0.0)),
        (Estimator::Registers | Estimator::Classes, _) => (Source::Table, Some(lost_s)),
        // Too few pauses leave the question open.
        (Estimator::Clock, _) => match report.nothing_to_gain {
            Some(_) => (Source::Pauses, Some(lost_s)),
            None => (Source::NotKnown, None),
        },
        (Estimator::Counters, _) => (Source::Counters, Some(lost_s)),
        (Estimator::NoneShown, Code::Narrow) => (Source::Table, Some(0.0)),
        _ => (Source::NotKnown, None),
    }
}

/// Processes that this one began.
fn children(of: u32) -> Vec<u32> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let child = |name: OsString| {
        let process: u32 = name.to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // After the name, which may hold anything: the state, the parent.
        let parent: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        (parent == of).then_some(process)
    };
    folder.filter_map(|entry| child(entry.ok()?.file_name())).collect()
}
