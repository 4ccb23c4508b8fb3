//! The file `.ektrace`: a history as JSON lines, compressed with zstd.
//!
//! The first line names the format and its version, then comes a line for each
//! record, then a line for each task, and last a line with the header, the
//! number of records and nothing after it. What a producer only knows at the
//! end therefore stands at the end, and a file that was cut off has no last line.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::name::clean_up_to;
use crate::{ControlGroup, Header, History, Pod, Problem, Record, Sink, TaskInfo};

/// Version of the format that is written; 2 added the record `decision` to 1, 4 `exec`, `send`,
/// `unsent` and `receive`, and 5 `stack`, the lines of stacks, `pause`, and control groups.
pub const SCHEMA: u32 = 5;
/// Longest line that is read; names are at most [`crate::COMM_MAX`] bytes long.
const LINE_MAX: usize = 64 * 1024;
/// Fast enough to keep up with the importer; our choice.
const COMPRESSION_LEVEL: i32 = 1;
/// Most records of a history: 1 GiB in memory; our choice.
pub const RECORDS_MAX: u64 = 1 << 25;
/// Most tasks of a history; our choice.
pub const TASKS_MAX: u64 = 1 << 18;
/// Most stacks of a history; our choice.
pub const STACKS_MAX: usize = 1 << 14;
/// Most functions of a stack: the kernel walks no further (`kernel.perf_event_max_stack`, 127).
pub const FRAMES_MAX: usize = 127;
/// Longest path of a control group, in bytes (`PATH_MAX`, include/uapi/linux/limits.h).
const PATH_MAX: usize = 4096;
/// Longest name of a function, in bytes: the line of a whole stack stays below 64 KiB.
pub const FUNCTION_MAX: usize = 200;
/// A history unpacks to at most so many times its size. Times differ from line to line, so that
/// real ones stay below 40; a file that was made to fill the memory is above 1000.
const RATIO_MAX: u64 = 256;
/// Largest window of the packer, 8 MiB: that of `zstd -19`.
const WINDOW_LOG_MAX: u32 = 23;
/// Unpacked bytes that are read whatever the ratio.
const UNPACKED_FREE: u64 = 4 << 20;
/// Problems that an error names.
const PROBLEMS_NAMED: usize = 3;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read or is no zstd stream.
    #[error("line {line}: the file is damaged or not a history: {source}")]
    Damaged {
        /// Line at which reading failed.
        line: u64,
        /// The error of the reader.
        source: io::Error,
    },
    /// The first line does not name the format.
    #[error("line 1: not a history, which starts with {{\"ektrace\":{{\"schema\":{SCHEMA}}}}}")]
    NotAHistory,
    /// Written by a newer version.
    #[error("line 1, field schema: {found} is newer than {SCHEMA}, the newest that can be read")]
    NewerSchema {
        /// Version of the file.
        found: u32,
    },
    /// Schemas are numbered from 1.
    #[error("line 1, field schema: {found} is no version, expected 1 to {SCHEMA}")]
    UnknownSchema {
        /// Version of the file.
        found: u32,
    },
    /// A line does not match the format at this place.
    #[error("line {line}: {message}")]
    Line {
        /// The line.
        line: u64,
        /// The expected content.
        message: String,
    },
    /// More of something than a history holds.
    #[error("line {line}: more than {most} {what}, the most that a history holds")]
    TooMany {
        /// The line.
        line: u64,
        /// The limit.
        most: u64,
        /// The kind of item that is limited.
        what: &'static str,
    },
    /// The file unpacks to more than `RATIO_MAX` times its size.
    #[error(
        "line {line}: the file unpacks to more than {RATIO_MAX} times its size, which no history \
         does"
    )]
    Bomb {
        /// Last line that was read.
        line: u64,
    },
    /// The file ends before its last line.
    #[error(
        "the file is cut off: its end, which has the names of all tasks, is missing after {line} \
         unpacked lines. Copy the whole file"
    )]
    Truncated {
        /// Last whole line.
        line: u64,
    },
    /// Each line is valid, and together they contradict each other.
    #[error("the history contradicts itself: {0}")]
    Invalid(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Magic {
    ektrace: Version,
}

#[derive(Serialize, Deserialize)]
struct Version {
    schema: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskLine {
    task: TaskInfo,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StackLine {
    stack: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    end: Header,
    records: u64,
}

/// Writes a history record by record, in memory that does not grow with the history.
pub struct HistoryWriter<W: Write> {
    encoder: zstd::Encoder<'static, W>,
    /// The line being built, and lines on their way to the encoder.
    lines: Vec<u8>,
    records: u64,
}

/// Bytes gathered before they are compressed; our choice.
const CHUNK: usize = 128 * 1024;

impl<W: Write> HistoryWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn new(output: W) -> io::Result<Self> {
        let mut encoder = zstd::Encoder::new(output, COMPRESSION_LEVEL)?;
        encoder.include_checksum(true)?;
        let mut writer = Self { encoder, lines: Vec::with_capacity(CHUNK + 4096), records: 0 };
        writer.line(&Magic { ektrace: Version { schema: SCHEMA } })?;
        Ok(writer)
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.lines, value)?;
        self.lines.push(b'\n');
        if self.lines.len() >= CHUNK {
            self.encoder.write_all(&self.lines)?;
            self.lines.clear();
        }
        Ok(())
    }

    /// Ends the compressed stream and gives the output back; to be called after
    /// [`Sink::finish`], without which the file counts as cut off.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.encoder.write_all(&self.lines)?;
        self.encoder.finish()
    }
}

impl<W: Write> Sink for HistoryWriter<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.records += 1;
        refuse_too_many(self.records, RECORDS_MAX, "records")?;
        self.line(record)
    }

    fn finish(&mut self, header: &Header) -> io::Result<()> {
        refuse_too_many(header.tasks.len() as u64, TASKS_MAX, "tasks")?;
        for task in &header.tasks {
            self.line(&TaskLine { task: task.clone() })?;
        }
        refuse_too_many(header.stacks.len() as u64, STACKS_MAX as u64, "stacks")?;
        for stack in &header.stacks {
            self.line(&StackLine { stack: stack.clone() })?;
        }
        let (tasks, stacks) = (Vec::new(), Vec::new());
        let end = Header { schema: SCHEMA, tasks, stacks, ..header.clone() };
        self.line(&EndLine { end, records: self.records })
    }
}

/// A history that [`History::read`] would refuse is not written.
fn refuse_too_many(count: u64, most: u64, what: &str) -> io::Result<()> {
    if count <= most {
        return Ok(());
    }
    Err(io::Error::other(format!("more than {most} {what}, the most that a history holds")))
}

impl History {
    /// Writes the history as a file of the format [`SCHEMA`].
    ///
    /// # Errors
    /// Errors of the output.
    pub fn write<W: Write>(&self, output: W) -> io::Result<W> {
        let mut writer = HistoryWriter::new(output)?;
        for record in &self.records {
            writer.record(record)?;
        }
        writer.finish(&self.header)?;
        writer.into_inner()
    }

    /// Reads a file that [`History::write`] or [`HistoryWriter`] wrote, and checks it.
    ///
    /// # Errors
    /// [`ReadError`], with the line if the error has one.
    pub fn read(input: impl Read) -> Result<Self, ReadError> {
        let packed = Rc::new(Cell::new(0));
        let input = Counted { input, bytes: Rc::clone(&packed) };
        let decoder = unpacking(input).map_err(|source| ReadError::Damaged { line: 1, source })?;
        let input = BufReader::with_capacity(CHUNK, decoder);
        let mut lines = Lines { input, line: 0, packed, unpacked: 0 };
        read_magic(&mut lines)?;
        let history = read_body(&mut lines)?;
        let problems = crate::validate(&history);
        if problems.is_empty() { Ok(history) } else { Err(invalid(&problems)) }
    }
}

fn unpacking<R: Read>(input: R) -> io::Result<zstd::Decoder<'static, BufReader<R>>> {
    let mut decoder = zstd::Decoder::new(input)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(decoder)
}

fn invalid(problems: &[Problem]) -> ReadError {
    let mut said: Vec<String> =
        problems.iter().take(PROBLEMS_NAMED).map(ToString::to_string).collect();
    if problems.len() > PROBLEMS_NAMED {
        said.push(format!("and {} more", problems.len() - PROBLEMS_NAMED));
    }
    ReadError::Invalid(said.join("; "))
}

/// Lines of a stream, none longer than [`LINE_MAX`].
struct Lines<R> {
    input: R,
    line: u64,
    /// Bytes of the file that were read.
    packed: Rc<Cell<u64>>,
    /// Bytes of lines that were read.
    unpacked: u64,
}

/// Counts the bytes read.
struct Counted<R> {
    input: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.set(self.bytes.get().saturating_add(count as u64));
        Ok(count)
    }
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line without its end into `text`; `false` at the end of the file.
    fn next(&mut self, text: &mut Vec<u8>) -> Result<bool, ReadError> {
        text.clear();
        let line = self.line + 1;
        let length = (&mut self.input)
            .take(LINE_MAX as u64)
            .read_until(b'\n', text)
            .map_err(|source| self.broken(source))?;
        self.unpacked += length as u64;
        if self.unpacked > UNPACKED_FREE.max(self.packed.get().saturating_mul(RATIO_MAX)) {
            return Err(ReadError::Bomb { line: self.line });
        }
        if text.is_empty() {
            return Ok(false);
        }
        if text.pop() != Some(b'\n') {
            return if text.len() + 1 == LINE_MAX {
                let message = format!("longer than {LINE_MAX} bytes");
                Err(ReadError::Line { line, message })
            } else {
                Err(ReadError::Truncated { line: self.line })
            };
        }
        self.line = line;
        Ok(true)
    }

    fn broken(&self, source: io::Error) -> ReadError {
        if source.kind() == io::ErrorKind::UnexpectedEof {
            ReadError::Truncated { line: self.line }
        } else {
            ReadError::Damaged { line: self.line + 1, source }
        }
    }
}

fn read_magic(lines: &mut Lines<impl BufRead>) -> Result<(), ReadError> {
    let mut text = Vec::new();
    match lines.next(&mut text) {
        Ok(true) => {}
        // Not even a part of the first line could be unpacked.
        Err(error @ ReadError::Truncated { .. }) if text.is_empty() => return Err(error),
        Ok(false) | Err(ReadError::Line { .. } | ReadError::Truncated { .. }) => {
            return Err(ReadError::NotAHistory);
        }
        Err(error) => return Err(error),
    }
    let magic: Magic = serde_json::from_slice(&text).map_err(|_| ReadError::NotAHistory)?;
    match magic.ektrace.schema {
        0 => Err(ReadError::UnknownSchema { found: 0 }),
        1..=SCHEMA => Ok(()),
        found => Err(ReadError::NewerSchema { found }),
    }
}

fn read_body(lines: &mut Lines<impl BufRead>) -> Result<History, ReadError> {
    let mut text = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    let mut tasks: Vec<TaskInfo> = Vec::new();
    let mut stacks: Vec<Vec<String>> = Vec::new();
    while lines.next(&mut text)? {
        let line = lines.line;
        if text.starts_with(b"{\"t\":") && tasks.is_empty() {
            if records.len() as u64 == RECORDS_MAX {
                return Err(ReadError::TooMany { line, most: RECORDS_MAX, what: "records" });
            }
            records.push(parse(&text, line, "a record")?);
        } else if text.starts_with(b"{\"task\":") {
            if tasks.len() as u64 == TASKS_MAX {
                return Err(ReadError::TooMany { line, most: TASKS_MAX, what: "tasks" });
            }
            let TaskLine { mut task } = parse(&text, line, "a task")?;
            // The writer of the file may not have cleaned names.
            task.comm = crate::clean(task.comm.as_bytes());
            task.app = crate::clean(task.app.as_bytes());
            task.control_group = task.control_group.map(|group| ControlGroup {
                path: clean_up_to(group.path.as_bytes(), PATH_MAX),
                name: crate::clean(group.name.as_bytes()),
                pod: group.pod.map(|pod| Pod {
                    namespace: clean_up_to(pod.namespace.as_bytes(), PATH_MAX),
                    name: clean_up_to(pod.name.as_bytes(), PATH_MAX),
                }),
            });
            tasks.push(task);
        } else if text.starts_with(b"{\"stack\":") {
            if stacks.len() == STACKS_MAX {
                let most = STACKS_MAX as u64;
                return Err(ReadError::TooMany { line, most, what: "stacks" });
            }
            let StackLine { stack } = parse(&text, line, "a stack")?;
            let names = stack.iter().take(FRAMES_MAX);
            stacks.push(names.map(|name| clean_up_to(name.as_bytes(), FUNCTION_MAX)).collect());
        } else if text.starts_with(b"{\"end\":") {
            let EndLine { end, records: count } = parse(&text, line, "the end")?;
            if count != records.len() as u64 {
                let message = format!("{count} records announced, {} found", records.len());
                return Err(ReadError::Line { line, message });
            }
            if lines.next(&mut text)? {
                let message = "expected nothing after the end".to_owned();
                return Err(ReadError::Line { line: line + 1, message });
            }
            let header = Header { schema: SCHEMA, tasks, stacks, ..end };
            return Ok(History { header, records });
        } else {
            let message = "expected a record, a task, a stack or the end".to_owned();
            return Err(ReadError::Line { line, message });
        }
    }
    Err(ReadError::Truncated { line: lines.line })
}

fn parse<T: for<'de> Deserialize<'de>>(text: &[u8], line: u64, what: &str) -> Result<T, ReadError> {
    /// Longest message shown; the parser quotes its input.
    const MESSAGE_MAX: usize = 300;
    serde_json::from_slice(text).map_err(|error| {
        let said = clean_up_to(error.to_string().as_bytes(), MESSAGE_MAX);
        ReadError::Line { line, message: format!("expected {what}: {said}") }
    })
}
