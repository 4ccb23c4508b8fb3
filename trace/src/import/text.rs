//! Recordings as text: the output of `perf script`, `trace-cmd report` and tracefs.
//!
//! The text is read once, line by line; memory grows with tasks and CPUs alone.

mod cursor;
mod head;
mod lines;
mod own;
mod payload;

use std::io::BufRead;

use head::Line;
use lines::End;

use super::entry::{Entry, Payload};
use super::feed::Feed;
use super::{ImportError, ImportReport, Place};
use crate::Sink;

/// One line in so many may be unreadable at most.
const UNREADABLE_ONE_IN: u64 = 2;
/// Unreadable lines after which the share is judged before the end.
const UNREADABLE_EARLY: u64 = 10_000;
/// Line breaks that two names of 15 bytes can hold.
const PIECES_MAX: u32 = 30;
/// Description of a usable recording.
const EXPECTED: &str = "the text of `perf script --ns -F comm,pid,tid,cpu,time,event,trace`, of \
                        `trace-cmd report -t -l` or of tracefs";

/// Reads text into `sink`.
pub fn text(mut input: impl BufRead, sink: &mut impl Sink) -> Result<ImportReport, ImportError> {
    let mut reader = Reader { feed: Feed::new(sink), unfinished: None };
    let mut line = Vec::new();
    loop {
        let place = Place::Line(reader.feed.report.lines + 1);
        let end = lines::next_line(&mut input, &mut line)
            .map_err(|source| ImportError::Read { place, source })?;
        let Some(end) = end else { break };
        reader.feed.report.lines += 1;
        reader.line(&mut line, end)?;
    }
    reader.finish()
}

/// A line whose payload a line break within a name may have cut.
struct Unfinished {
    first: u64,
    pieces: u32,
    text: Vec<u8>,
}

struct Reader<'s, S> {
    feed: Feed<'s, S>,
    unfinished: Option<Unfinished>,
}

impl<S: Sink> Reader<'_, S> {
    /// Takes the line in `text`, and may leave another buffer there.
    fn line(&mut self, text: &mut Vec<u8>, end: End) -> Result<(), ImportError> {
        let number = self.feed.report.lines;
        let Some(line) = head::head(text) else {
            return self.headless(text, end);
        };
        self.give_up_unfinished();
        if let Some(payload) = payload::payload(text, &line) {
            let text = std::mem::replace(text, self.feed.text());
            return self.enter(text, line, payload);
        }
        match end {
            End::Newline => {
                let text = std::mem::take(text);
                self.unfinished = Some(Unfinished { first: number, pieces: 0, text });
            }
            End::Cut => self.feed.report.unreadable(number),
            End::Eof => self.feed.report.truncated = true,
        }
        self.judge()
    }

    /// A line without a head: the rest of the last one, a count of lost events, or nothing.
    fn headless(&mut self, text: &[u8], end: End) -> Result<(), ImportError> {
        let number = self.feed.report.lines;
        if let Some(mut unfinished) = self.unfinished.take() {
            unfinished.text.push(b'\n');
            unfinished.text.extend_from_slice(text);
            unfinished.pieces += 1;
            let whole = head::head(&unfinished.text).and_then(|line| {
                let payload = payload::payload(&unfinished.text, &line)?;
                Some((line, payload))
            });
            if let Some((line, payload)) = whole {
                self.feed.report.joined_lines += u64::from(unfinished.pieces);
                return self.enter(unfinished.text, line, payload);
            }
            let room = unfinished.text.len() <= lines::LINE_MAX;
            self.unfinished = Some(unfinished);
            if !room || self.unfinished.as_ref().is_some_and(|it| it.pieces > PIECES_MAX) {
                self.give_up_unfinished();
            }
        } else if let Some(events) = payload::dropped(text) {
            self.feed.report.lost_events = self.feed.report.lost_events.saturating_add(events);
        } else if end == End::Eof && !text.is_empty() {
            self.feed.report.truncated = true;
        } else if !is_blank(text) {
            self.feed.report.unreadable(number);
        }
        self.judge()
    }

    /// Counts an unfinished line, and the lines taken for its rest, as unreadable.
    fn give_up_unfinished(&mut self) {
        if let Some(unfinished) = self.unfinished.take() {
            for piece in 0..=u64::from(unfinished.pieces) {
                self.feed.report.unreadable(unfinished.first + piece);
            }
        }
    }

    fn enter(&mut self, text: Vec<u8>, line: Line, payload: Payload) -> Result<(), ImportError> {
        let report = &mut self.feed.report;
        report.coarse_time |= !line.nanoseconds;
        let place = Place::Line(report.lines);
        self.feed.enter(Entry { text, head: line.head, payload }, place)
    }

    /// Ends the import of a file that is no recording.
    fn judge(&self) -> Result<(), ImportError> {
        if self.feed.report.unreadable >= UNREADABLE_EARLY { self.judge_share() } else { Ok(()) }
    }

    fn judge_share(&self) -> Result<(), ImportError> {
        let ImportReport { lines, unreadable, .. } = self.feed.report;
        match self.feed.report.unreadable_lines.first() {
            Some(&first) if unreadable > lines / UNREADABLE_ONE_IN => {
                Err(ImportError::Unreadable { first, others: unreadable - 1, lines })
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> Result<ImportReport, ImportError> {
        self.give_up_unfinished();
        let place = Place::Line(self.feed.report.lines);
        self.feed.drain(place, "lines", EXPECTED)?;
        self.judge_share()?;
        self.feed.finish(place)
    }
}

/// Empty lines, comments of ftrace and the first line of trace-cmd are no events and no errors.
fn is_blank(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.is_empty() || text[0] == b'#' || text.starts_with(b"cpus=")
}
