//! One recording, from the first record to the last.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::time::{ClockId, clock_gettime};
use sensors::control_groups::Labels;
use sensors::facts::Facts;
use sensors::recorder::{Follower, Met, Pause, RecordError, Recorder, Wanted};
use trace::{COUNTED_FACT, Header, HistoryWriter, SCHEMA, Sink, Source};

use super::pauses::{self, Pauses};
use super::room::{KEPT, Room, keep_beside};
use super::symbols::Symbols;
use super::workload::{End, Workload};
use crate::control_groups::Names;
use crate::ending_signals::EndingSignals;
use crate::{files, terminal};

/// Between two looks into the buffer, which holds a quarter of a million records; our choice.
const LOOK: Duration = Duration::from_millis(100);

/// The tasks to record, and the output.
pub struct Plan<'a> {
    pub output: &'a Path,
    pub duration: Option<Duration>,
    pub wanted: Wanted<'a>,
    pub words: &'a [OsString],
    pub facts: &'a Facts,
    /// How cores are paused, if they are.
    pub pauses: Option<pauses::Plan>,
    /// Lines that are printed once the recording has begun, and so nothing can refuse it.
    pub announcement: &'a str,
}

/// How a recording ended.
pub struct Ended {
    pub switches: u64,
    /// Why the recording ended, where that was not its plain end.
    pub end: Vec<String>,
    /// Gaps of the recording.
    pub gaps: Vec<String>,
    /// The exit code of the command; 0 if the recording ended first.
    pub code: i32,
}

/// Why a recording ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    Command,
    Duration,
    Signal,
    DiskFull,
    HistoryFull,
}

/// Records, and writes the file.
pub fn record(plan: Plan<'_>, mut command: Option<Workload>) -> Result<Ended> {
    let signals = EndingSignals::block()?;
    let recorder = Recorder::start(&plan.facts.online, &plan.wanted)
        .map_err(|error| advise(error, plan.facts))?;
    let missing = recorder.missing.clone();
    let slept_ns = suspended_ns();
    let (met, why, end, lost) = files::write_with(plan.output, |output| {
        let kept = keep_beside(plan.output).with_context(|| {
            let (path, mib) = (plan.output.display(), KEPT >> 20);
            format!("writing {path}: keeping {mib} MiB for the end of the recording")
        })?;
        let room = Room::new(output, kept);
        let full = room.full();
        let mut writer = HistoryWriter::new(room)?;
        let threads_per_core = plan.facts.threads_per_core().unwrap_or(1);
        let mut inputs = Inputs {
            recorder,
            follower: Follower::new(&mut writer, threads_per_core),
            known: Known::new(),
            pauses: plan.pauses.clone().map(Pauses::start).transpose()?,
        };
        if let Some(command) = &mut command {
            let name = plan.words[0].to_string_lossy();
            command.start().with_context(|| format!("cannot run {name}"))?;
        }
        eprint!("{}", plan.announcement);
        let why = inputs.follow(&plan, &signals, command.as_ref(), &full)?;
        let not_taken = inputs.end()?;
        let end = command.take().map(Workload::end).transpose().context("ending the command")?;
        let lost = inputs.recorder.lost()?;
        let mut header = header(&plan, &missing, lost);
        header.facts.extend(not_taken);
        header.stacks = inputs.known.symbols.into_stacks();
        let asleep_ns = suspended_ns().saturating_sub(slept_ns);
        if asleep_ns > 0 {
            header.facts.insert("suspended_ns".to_owned(), asleep_ns.to_string());
        }
        let mut groups = inputs.known.groups;
        let met =
            inputs.follower.finish(header, &mut |id| groups.labels(id).map(Labels::to_recorded))?;
        writer.into_inner()?.flush()?;
        Ok((met, why, end, lost))
    })?;
    Ok(Ended {
        switches: met.switches,
        end: end_notes(why, end),
        gaps: gap_notes(&met, &missing, lost),
        code: end.filter(|_| why == Why::Command).map_or(0, End::code),
    })
}

/// Names that must be looked up while the recorded tasks are alive.
struct Known {
    groups: Names,
    symbols: Symbols,
    looked: Instant,
}

impl Known {
    /// Between two looks for new control groups.
    const LOOK: Duration = Duration::from_secs(1);

    fn new() -> Self {
        let groups = Names::of_this_machine();
        Self { groups, symbols: Symbols::default(), looked: Instant::now() }
    }

    fn look(&mut self, recorder: &mut Recorder) {
        self.symbols.add(recorder.take_stacks());
        if self.looked.elapsed() > Self::LOOK {
            self.groups.refresh();
            self.looked = Instant::now();
        }
    }
}

/// What a recording is made of.
struct Inputs<'s, S> {
    recorder: Recorder,
    follower: Follower<'s, S>,
    known: Known,
    pauses: Option<Pauses>,
}

impl<S: Sink> Inputs<'_, S> {
    /// Follows the recording until its end.
    fn follow(
        &mut self,
        plan: &Plan<'_>,
        signals: &EndingSignals,
        command: Option<&Workload>,
        disk_full: &Rc<Cell<bool>>,
    ) -> Result<Why> {
        let begin = Instant::now();
        let bar = plan.duration.filter(|_| command.is_none()).map(terminal::clock);
        loop {
            self.take_all()?;
            if disk_full.get() {
                return Ok(Why::DiskFull);
            }
            if self.follower.is_full() {
                return Ok(Why::HistoryFull);
            }
            if let Some(bar) = &bar {
                bar.set_position(begin.elapsed().as_secs());
            }
            let left = plan.duration.map(|duration| duration.saturating_sub(begin.elapsed()));
            if left == Some(Duration::ZERO) {
                return Ok(Why::Duration);
            }
            let mut files = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
            let ended = command.map(|command| PollFd::new(command.ended_fd(), PollFlags::POLLIN));
            files.extend(ended);
            let look = LOOK.min(left.unwrap_or(LOOK)).max(Duration::from_millis(1));
            match poll(&mut files, PollTimeout::try_from(look).unwrap_or(PollTimeout::MAX)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error).context("waiting for the next look"),
            }
            let ready = |index: usize| files.get(index).and_then(PollFd::any) == Some(true);
            if ready(0) {
                return Ok(Why::Signal);
            }
            if ready(1) {
                return Ok(Why::Command);
            }
        }
    }

    fn take_all(&mut self) -> Result<()> {
        // Before the records, so that all records of earlier events are at hand.
        let pauses = self.pauses.as_ref().map(Pauses::take).unwrap_or_default();
        self.take_with(pauses)
    }

    fn take_with(&mut self, pauses: Vec<Pause>) -> Result<()> {
        let mut pauses = pauses.into_iter().peekable();
        for raw in self.recorder.read()? {
            while let Some(pause) = pauses.next_if(|pause| pause.time_ns < raw.time_ns) {
                self.follower.take_pause(pause)?;
            }
            self.follower.take(raw)?;
        }
        for pause in pauses {
            self.follower.take_pause(pause)?;
        }
        self.known.look(&mut self.recorder);
        Ok(())
    }

    /// Ends pauses and recorder; facts about the pauses.
    fn end(&mut self) -> Result<Vec<(String, String)>> {
        let (last, counts) = match self.pauses.take().map(Pauses::end).transpose()? {
            Some((last, counts)) => (last, Some(counts)),
            None => (Vec::new(), None),
        };
        self.recorder.stop()?;
        self.take_with(last)?;
        Ok(counts.iter().flat_map(pauses::facts).collect())
    }
}

/// Facts about the recording from the machine and the recorder.
fn header(plan: &Plan<'_>, missing: &[&str], lost: u64) -> Header {
    let mut facts = plan.facts.for_recording();
    facts.insert("recorder".to_owned(), concat!("evenkeel ", env!("CARGO_PKG_VERSION")).to_owned());
    facts.insert("lost_events".to_owned(), lost.to_string());
    if !plan.words.is_empty() {
        let words: Vec<_> = plan.words.iter().map(|word| word.to_string_lossy()).collect();
        facts.insert("command".to_owned(), shown(&words.join(" ")));
    }
    if let Some(counters) = plan.wanted.counters {
        let names: Vec<_> = counters.questions().iter().map(|it| it.name()).collect();
        facts.insert(COUNTED_FACT.to_owned(), names.join(","));
    }
    if !missing.is_empty() {
        facts.insert("missing_events".to_owned(), missing.join(","));
    }
    Header {
        schema: SCHEMA,
        source: Source::Recorded,
        cpus: plan.facts.online.last().map_or(0, |last| last + 1),
        start_ns: 0,
        end_ns: 0,
        threads_per_core: plan.facts.threads_per_core(),
        cores_per_package: plan.facts.threads_per_core().and(plan.facts.cores_per_package()),
        cpu: None,
        facts,
        tasks: Vec::new(),
        stacks: Vec::new(),
    }
}

/// Text without characters that control a terminal, and shortened.
fn shown(text: &str) -> String {
    const MOST: usize = 500;
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().take(MOST).map(plain).collect()
}

/// Time that the machine was suspended since its start.
fn suspended_ns() -> u64 {
    let clock = |id| clock_gettime(id).map(Duration::from).unwrap_or_default();
    let asleep = clock(ClockId::CLOCK_BOOTTIME).saturating_sub(clock(ClockId::CLOCK_MONOTONIC));
    // The two clocks are read one after the other.
    if asleep < Duration::from_millis(1) { 0 } else { asleep.as_nanos() as u64 }
}

/// Why a recording ended, where that was not its plain end.
fn end_notes(why: Why, end: Option<End>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |line: String| notes.push(line);
    match why {
        Why::DiskFull => note("the disk is full: it ends with what fits".to_owned()),
        Why::HistoryFull => note("it ends with as much as a history holds".to_owned()),
        Why::Duration | Why::Signal if end.is_some() => {
            note("the command was ended with the recording".to_owned());
        }
        Why::Command | Why::Duration | Why::Signal => {}
    }
    match end {
        Some(End::Code(code)) if why == Why::Command && code != 0 => {
            note(format!("the command ended with exit code {code}"));
        }
        Some(End::Signal(signal)) if why == Why::Command => {
            note(format!("the command was ended by signal {signal}"));
        }
        _ => {}
    }
    notes
}

/// Gaps of a recording.
fn gap_notes(met: &Met, missing: &[&str], lost: u64) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |line: String| notes.push(line);
    if lost > 0 {
        note(format!("{lost} events were lost for want of room"));
    }
    if met.repaired_switches > 0 {
        note(format!("{} switches were missing and were repaired", met.repaired_switches));
    }
    if !missing.is_empty() {
        note(format!("not recorded, since this kernel does not show it: {}", missing.join(", ")));
    }
    notes
}

/// The error, and its remedy.
fn advise(error: RecordError, facts: &Facts) -> Error {
    match error {
        RecordError::NoRights(_) => anyhow!("{error}: {}", sensors::doctor::rights_remedy(facts)),
        RecordError::NoBtf(_) => anyhow!(
            "{error}: take a kernel with CONFIG_DEBUG_INFO_BTF=y, or record with perf (evenkeel \
             trace --help says how) and import it"
        ),
        RecordError::NoRightToProbe(_) => anyhow!("{error}"),
        error => Error::new(error).context("recording"),
    }
}
