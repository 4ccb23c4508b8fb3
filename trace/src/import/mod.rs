//! Recordings as text: what `perf script` prints of a `perf sched record`, and ftrace.
//!
//! The stream is read once, line by line; what is kept grows with tasks and CPUs
//! alone. A line is put into order within a window, then `machine` follows it.

mod cursor;
mod head;
mod lines;
mod machine;
pub mod order;
mod payload;
mod report;
mod tasks;

use std::io::{self, BufRead};

use lines::End;
use machine::{Entry, Machine};
use order::Window;
use payload::Payload;

pub use report::{ImportReport, TaskTime};

use crate::{Collector, History, Sink};

/// Lines that may be out of order of time; our choice.
const LINES_HELD: usize = 512;
/// One line in so many may be unreadable at most.
const UNREADABLE_ONE_IN: u64 = 2;
/// Unreadable lines after which the share is judged before the end.
const UNREADABLE_EARLY: u64 = 10_000;
/// Line breaks that two names of 15 bytes can hold.
const PIECES_MAX: u32 = 30;

/// Why a recording could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading failed.
    #[error("line {line}: cannot read: {source}")]
    Read {
        /// Line that could not be read.
        line: u64,
        /// What reading said.
        source: io::Error,
    },
    /// The sink failed.
    #[error("line {line}: cannot write: {source}")]
    Write {
        /// Line at which it happened.
        line: u64,
        /// What the sink said.
        source: io::Error,
    },
    /// A time that is too far before those of the lines above.
    #[error(
        "line {line}, field time: {behind_ns} ns before a line more than {LINES_HELD} lines \
         above; expected lines in order of time"
    )]
    OutOfOrder {
        /// The line.
        line: u64,
        /// How far it is behind what was given out.
        behind_ns: u64,
    },
    /// Nothing to see in it.
    #[error(
        "no sched_switch of a known CPU in {lines} lines; expected the text of \
         `perf script --ns -F comm,pid,tid,cpu,time,event,trace`"
    )]
    NoSwitch {
        /// Lines read.
        lines: u64,
    },
    /// Too many lines are something else.
    #[error(
        "line {first} and {others} others of {lines} are no events; expected the text of \
         `perf script --ns -F comm,pid,tid,cpu,time,event,trace`"
    )]
    Unreadable {
        /// The first of them.
        first: u64,
        /// How many more.
        others: u64,
        /// Lines read.
        lines: u64,
    },
    /// The binary file and not its text.
    #[error("line 1: this is the binary file of {tool}; expected its text, from `{command}`")]
    Binary {
        /// The tool that wrote it.
        tool: &'static str,
        /// What prints its text.
        command: &'static str,
    },
}

/// Reads a recording into `sink`, in room that does not depend on its length.
///
/// # Errors
/// [`ImportError`], with the line where there is one.
pub fn perf_script(
    mut input: impl BufRead,
    sink: &mut impl Sink,
) -> Result<ImportReport, ImportError> {
    let mut import = Import::new(sink);
    let mut line = Vec::new();
    loop {
        let number = import.report.lines + 1;
        let end = lines::next_line(&mut input, &mut line)
            .map_err(|source| ImportError::Read { line: number, source })?;
        let Some(end) = end else { break };
        import.report.lines = number;
        if number == 1 {
            refuse_binary(&line)?;
        }
        import.line(&mut line, end)?;
    }
    import.finish()
}

/// Reads a recording into memory.
///
/// # Errors
/// [`ImportError`], with the line where there is one.
pub fn perf_script_history(input: impl BufRead) -> Result<(History, ImportReport), ImportError> {
    let mut collector = Collector::default();
    let report = perf_script(input, &mut collector)?;
    let lines = report.lines;
    let history = collector.into_history().ok_or(ImportError::NoSwitch { lines })?;
    Ok((history, report))
}

fn refuse_binary(line: &[u8]) -> Result<(), ImportError> {
    let (tool, command) = if line.starts_with(b"PERFILE2") {
        ("perf", "perf script --ns -F comm,pid,tid,cpu,time,event,trace")
    } else if line.starts_with(b"\x17\x08Dtracing") {
        ("trace-cmd", "trace-cmd report -t -R")
    } else {
        return Ok(());
    };
    Err(ImportError::Binary { tool, command })
}

/// A line whose payload a line break within a name may have cut.
struct Unfinished {
    first: u64,
    pieces: u32,
    text: Vec<u8>,
}

struct Import<'s, S> {
    machine: Machine<'s, S>,
    window: Window<Entry>,
    unfinished: Option<Unfinished>,
    /// Texts of entries that are done with, to be used again.
    spare: Vec<Vec<u8>>,
    /// Lines by [`kind`].
    events: [u64; KINDS.len()],
    report: ImportReport,
}

impl<'s, S: Sink> Import<'s, S> {
    fn new(sink: &'s mut S) -> Self {
        Self {
            machine: Machine::new(sink),
            window: Window::new(LINES_HELD),
            unfinished: None,
            spare: Vec::new(),
            events: [0; KINDS.len()],
            report: ImportReport::default(),
        }
    }

    /// Takes the line in `text`, and may leave another buffer there.
    fn line(&mut self, text: &mut Vec<u8>, end: End) -> Result<(), ImportError> {
        let number = self.report.lines;
        let Some(head) = head::head(text) else {
            return self.headless(text, end);
        };
        self.give_up_unfinished();
        if let Some(payload) = payload::payload(text, &head) {
            let text = std::mem::replace(text, self.spare.pop().unwrap_or_default());
            return self.enter(Entry { text, head, payload });
        }
        match end {
            End::Newline => {
                let text = std::mem::take(text);
                self.unfinished = Some(Unfinished { first: number, pieces: 0, text });
            }
            End::Cut => self.report.unreadable(number),
            End::Eof => self.report.truncated = true,
        }
        self.judge()
    }

    /// A line without a head: the rest of the last one, a count of lost events, or nothing.
    fn headless(&mut self, text: &[u8], end: End) -> Result<(), ImportError> {
        let number = self.report.lines;
        if let Some(mut unfinished) = self.unfinished.take() {
            unfinished.text.push(b'\n');
            unfinished.text.extend_from_slice(text);
            unfinished.pieces += 1;
            let head = head::head(&unfinished.text);
            let whole = head.and_then(|head| {
                let payload = payload::payload(&unfinished.text, &head)?;
                Some((head, payload))
            });
            if let Some((head, payload)) = whole {
                self.report.joined_lines += u64::from(unfinished.pieces);
                return self.enter(Entry { text: unfinished.text, head, payload });
            }
            let room = unfinished.text.len() <= lines::LINE_MAX;
            self.unfinished = Some(unfinished);
            if !room || self.unfinished.as_ref().is_some_and(|it| it.pieces > PIECES_MAX) {
                self.give_up_unfinished();
            }
        } else if let Some(events) = payload::dropped(text) {
            self.report.lost_events = self.report.lost_events.saturating_add(events);
        } else if end == End::Eof && !text.is_empty() {
            self.report.truncated = true;
        } else if !is_blank(text) {
            self.report.unreadable(number);
        }
        self.judge()
    }

    /// Counts a line that stayed unfinished, and what was taken for its rest, as unreadable.
    fn give_up_unfinished(&mut self) {
        if let Some(unfinished) = self.unfinished.take() {
            for piece in 0..=u64::from(unfinished.pieces) {
                self.report.unreadable(unfinished.first + piece);
            }
        }
    }

    fn enter(&mut self, entry: Entry) -> Result<(), ImportError> {
        self.events[kind(&entry.payload)] += 1;
        self.report.coarse_time |= !entry.head.nanoseconds;
        let time_ns = entry.head.time_ns;
        if time_ns < self.window.last_ns() {
            self.report.reordered_lines += 1;
            if time_ns < self.window.floor_ns() {
                let behind_ns = self.window.floor_ns() - time_ns;
                return Err(ImportError::OutOfOrder { line: self.report.lines, behind_ns });
            }
        }
        self.window.insert(time_ns, entry);
        match self.window.overflow() {
            Some(entry) => self.follow(entry),
            None => Ok(()),
        }
    }

    fn follow(&mut self, entry: Entry) -> Result<(), ImportError> {
        let line = self.report.lines;
        self.machine
            .apply(&entry, &mut self.report)
            .map_err(|source| ImportError::Write { line, source })?;
        self.spare.push(entry.text);
        Ok(())
    }

    /// Ends the import of what is plainly something else.
    fn judge(&self) -> Result<(), ImportError> {
        if self.report.unreadable >= UNREADABLE_EARLY { self.judge_share() } else { Ok(()) }
    }

    fn judge_share(&self) -> Result<(), ImportError> {
        let ImportReport { lines, unreadable, .. } = self.report;
        match self.report.unreadable_lines.first() {
            Some(&first) if unreadable > lines / UNREADABLE_ONE_IN => {
                Err(ImportError::Unreadable { first, others: unreadable - 1, lines })
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> Result<ImportReport, ImportError> {
        self.give_up_unfinished();
        while let Some(entry) = self.window.pop() {
            self.follow(entry)?;
        }
        let seen = KINDS.into_iter().zip(self.events).filter(|&(_, lines)| lines > 0);
        self.report.events = seen.collect();
        let lines = self.report.lines;
        if self.report.switches == 0 {
            return Err(ImportError::NoSwitch { lines });
        }
        self.judge_share()?;
        self.machine
            .finish(&mut self.report)
            .map_err(|source| ImportError::Write { line: lines, source })?;
        Ok(self.report)
    }
}

/// Empty lines, comments of ftrace and the first line of trace-cmd are no events and no errors.
fn is_blank(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.is_empty() || text[0] == b'#' || text.starts_with(b"cpus=")
}

/// Names of events, in the order of [`kind`].
const KINDS: [&str; 14] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
    "sched_stat_runtime",
    "x86_fpu_regs_deactivated",
    "cpu_frequency",
    "lost",
    "interrupt",
    "other",
];

fn kind(payload: &Payload) -> usize {
    match payload {
        Payload::Switch { .. } => 0,
        Payload::Waking { .. } => 1,
        Payload::Wakeup { .. } => 2,
        Payload::WakeupNew { .. } => 3,
        Payload::Migrate { .. } => 4,
        Payload::Fork { .. } => 5,
        Payload::Exec => 6,
        Payload::Exit { .. } => 7,
        Payload::Runtime { .. } => 8,
        Payload::Mark { .. } => 9,
        Payload::Frequency { .. } => 10,
        Payload::Lost { .. } => 11,
        Payload::Interrupt { .. } => 12,
        Payload::Other => 13,
    }
}
