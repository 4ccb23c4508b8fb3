//! The file of decisions that the kernel scheduler's loader writes: one record for each slice.
//!
//! A line of JSON says what holds for all of it; then come records of a kind and a length, 4 bytes
//! each, and so many bytes. All numbers are little-endian. A record of the kind end is last; a file
//! without it was cut, and holds good up to its last whole record.

use std::io::{self, BufRead, Read};

use cpu_model::LEVELS_MAX;
use serde::{Deserialize, Serialize};

/// Version of the format that is written.
pub const SCHEMA: u32 = 4;
/// The first bytes of the file.
pub const START: &str = "{\"ekdecisions\":";
/// Longest first line; our choice.
const HEAD_MAX: u64 = 16 << 10;
/// Bytes of a slice: `struct ek_decision` of the scheduler's `interface.h`.
pub const SLICE_BYTES: usize = 200;
/// The same before version 4, without where virtual time began.
const SLICE_BYTES_3: usize = 184;
/// The same before version 3, without the first row, which is before these bytes.
const SLICE_BYTES_2: usize = 176;
/// Where a slice has its task and the weight of that.
const VICTIM: usize = 148;
const WEIGHT: usize = 156;
const FIRST_ROW: std::ops::Range<usize> = 136..144;
/// The record before version 2, without the fields of `even`.
const SLICE_BYTES_1: usize = 160;
/// Bytes of a task: four numbers and two names.
const TASK_BYTES: usize = 16 + 2 * NAME_BYTES;
/// Bytes of a name: `TASK_COMM_LEN` of the kernel.
pub const NAME_BYTES: usize = 16;
/// Bytes of the end: two numbers.
const END_BYTES: usize = 16;
/// `EK_NO_TASK`.
const NO_TASK: u32 = u32::MAX;

const KIND_SLICE: u32 = 1;
const KIND_TASK: u32 = 2;
const KIND_END: u32 = 3;

/// Properties that all decisions of a file share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Version of the format.
    pub schema: u32,
    /// Logical CPUs, numbered from 0.
    pub cpus: u32,
    /// Last-level caches; virtual time is shifted for a task that goes from one to another.
    pub caches: u32,
    /// Hardware threads of a core, where CPU `c` belongs to core `c / threads_per_core`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_per_core: Option<u32>,
    /// The scheduler's mode: `fair`, `fair-relative`, `fair-isolation`, `even`.
    pub mode: String,
    /// Name of the CPU table, where time is given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// The sensor set.
    pub sensors: String,
    /// Version of the kernel.
    pub kernel: String,
}

#[derive(Serialize, Deserialize)]
struct Line<H> {
    ekdecisions: H,
}

/// One slice: CPU time, time lost, refund and bill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// When the task left its CPU, in ns.
    pub time_ns: u64,
    /// CPU time of the slice.
    pub slice_ns: u64,
    /// Part of `used_ns` that was lost to other tasks (Eq. D 7.3).
    pub lost_ns: u64,
    /// Refund for the time lost.
    pub refund_ns: u64,
    /// Bill of the culprit.
    pub bill_ns: u64,
    /// Bills of earlier slices that the task paid with this one.
    pub paid_ns: u64,
    /// Its virtual time afterwards.
    pub vtime_ns: u64,
    /// Cycles, counted or inferred.
    pub cycles: u64,
    /// Cycles of the reference clock.
    pub ref_cycles: u64,
    /// Cycles at each level; entry 0 is not used.
    pub level_cycles: [u64; LEVELS_MAX],
    /// Cycles stalled.
    pub stall_cycles: u64,
    /// The first row of the turbo table that can have held, by the cores that were active.
    pub first_row: u64,
    /// CPU of the slice.
    pub cpu: u32,
    /// The task.
    pub victim: u32,
    /// The task that is billed for the time lost.
    pub culprit: Option<u32>,
    /// Its weight; that of nice 0 is 1024.
    pub weight: u32,
    /// The level that the task itself demands.
    pub own_level: u32,
    /// Whether the task was still runnable.
    pub is_runnable: bool,
    /// The part of the time lost that became a deficit: no part of the refund.
    pub idle_compensation_ns: u64,
    /// Part of `paid_ns` for waits during the forced idle of its CPU.
    pub waited_ns: u64,
    /// Its virtual time when the slice began; 0 before version 4.
    pub from_vtime_ns: u64,
    /// Its affinity group, whose virtual time that is; 0 before version 4.
    pub group: u32,
}

impl Slice {
    fn parse(bytes: &[u8; SLICE_BYTES]) -> Self {
        let long = |at: usize| long(bytes, at);
        let short = |at: usize| short(bytes, at);
        let levels = std::array::from_fn(|level| long(80 + 8 * level));
        let culprit = short(152);
        Self {
            time_ns: long(0),
            slice_ns: long(8),
            lost_ns: long(16),
            refund_ns: long(24),
            bill_ns: long(32),
            paid_ns: long(40),
            vtime_ns: long(48),
            // 56 is the time of the slice again.
            cycles: long(64),
            ref_cycles: long(72),
            level_cycles: levels,
            stall_cycles: long(128),
            first_row: long(FIRST_ROW.start),
            cpu: short(144),
            victim: short(VICTIM),
            culprit: (culprit != NO_TASK).then_some(culprit),
            weight: short(WEIGHT),
            own_level: short(160),
            is_runnable: short(164) != 0,
            idle_compensation_ns: long(168),
            waited_ns: long(176),
            from_vtime_ns: long(184),
            group: short(192),
        }
    }

    /// The same of so many bytes, as a version before wrote them.
    fn parse_older(mut bytes: [u8; SLICE_BYTES], length: usize) -> Self {
        if length < SLICE_BYTES_3 {
            bytes.copy_within(FIRST_ROW.start..length, FIRST_ROW.end);
            bytes[FIRST_ROW].fill(0);
        }
        Self::parse(&bytes)
    }
}

/// A task that is decided about, as far as the loader could find out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Thread id.
    pub tid: u32,
    /// Its process; 0 where unknown.
    pub pid: u32,
    /// Nice level.
    pub nice: i32,
    /// Whether the task is a kernel thread.
    pub is_kernel: bool,
    /// Its name up to the first 0; empty where unknown.
    pub name: [u8; NAME_BYTES],
    /// The name of its process.
    pub process: [u8; NAME_BYTES],
}

impl Task {
    fn parse(bytes: &[u8; TASK_BYTES]) -> Self {
        let name = |at: usize| std::array::from_fn(|byte| bytes[at + byte]);
        Self {
            tid: short(bytes, 0),
            pid: short(bytes, 4),
            nice: short(bytes, 8) as i32,
            is_kernel: short(bytes, 12) != 0,
            name: name(16),
            process: name(16 + NAME_BYTES),
        }
    }
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn short(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// One slice: CPU time, time lost, refund and bill.
    Slice(Box<Slice>),
    /// Name and process of a task; the last such record of a task is valid.
    Task(Task),
    /// The end.
    End {
        /// Slices in the file.
        slices: u64,
        /// Slices dropped because the kernel's buffer was full.
        lost: u64,
    },
}

/// The first line of a file.
///
/// # Panics
/// Never: the head has no keys that JSON lacks.
#[must_use]
pub fn head(head: &Head) -> Vec<u8> {
    let line = serde_json::to_string(&Line { ekdecisions: head }).expect("a head becomes JSON");
    (line + "\n").into_bytes()
}

/// The record of a slice, from the bytes that the program wrote; nothing if they are none.
#[must_use]
pub fn slice(bytes: &[u8]) -> Option<Vec<u8>> {
    (bytes.len() == SLICE_BYTES).then(|| framed(KIND_SLICE, bytes))
}

/// The task and the weight of the record of a slice.
#[must_use]
pub fn task_and_weight(slice: &[u8]) -> (u32, u32) {
    let body = slice.get(8..).filter(|body| body.len() == SLICE_BYTES).unwrap_or(&[0; SLICE_BYTES]);
    (short(body, VICTIM), short(body, WEIGHT))
}

/// The record of a task.
#[must_use]
pub fn task(task: &Task) -> Vec<u8> {
    let numbers = [task.tid, task.pid, task.nice as u32, task.is_kernel.into()];
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes.extend_from_slice(&task.name);
    bytes.extend_from_slice(&task.process);
    framed(KIND_TASK, &bytes)
}

/// The last record.
#[must_use]
pub fn end(slices: u64, lost: u64) -> Vec<u8> {
    framed(KIND_END, &[slices.to_le_bytes(), lost.to_le_bytes()].concat())
}

fn framed(kind: u32, bytes: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(8 + bytes.len());
    record.extend_from_slice(&kind.to_le_bytes());
    record.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    record.extend_from_slice(bytes);
    record
}

/// Why a file of decisions cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DecisionsError {
    /// Reading failed.
    #[error("cannot read: {0}")]
    Read(#[from] io::Error),
    /// The first line is none of this format.
    #[error("line 1: expected {START}…, as scx_evenkeel --decisions writes it: {0}")]
    Head(String),
    /// Written by a newer version.
    #[error("line 1, field schema: {0} is no version that can be read, expected 1 to {SCHEMA}")]
    Schema(u64),
    /// A record of no known form.
    #[error("kind {kind} with {bytes} bytes is no record of a slice, a task or the end")]
    Kind {
        /// Its kind.
        kind: u32,
        /// Its length.
        bytes: u32,
    },
}

/// Reads a file of decisions, record by record.
pub struct Reader<R> {
    input: R,
    head: Head,
    is_ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// [`DecisionsError`].
    pub fn new(mut input: R) -> Result<Self, DecisionsError> {
        let mut line = Vec::new();
        input.by_ref().take(HEAD_MAX).read_until(b'\n', &mut line)?;
        let wrong = |error: serde_json::Error| DecisionsError::Head(error.to_string());
        // The version comes first: a newer one may have fields that are unknown here.
        let any: Line<serde_json::Value> = serde_json::from_slice(&line).map_err(wrong)?;
        let schema = any.ekdecisions.get("schema").and_then(serde_json::Value::as_u64);
        match schema {
            Some(schema) if (1..=u64::from(SCHEMA)).contains(&schema) => {}
            found => return Err(DecisionsError::Schema(found.unwrap_or(0))),
        }
        let head = serde_json::from_value(any.ekdecisions).map_err(wrong)?;
        Ok(Self { input, head, is_ended: false })
    }

    /// The head of the file.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Whether the end record was read; a file without one was cut.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The next record; nothing after the last whole one.
    ///
    /// # Errors
    /// [`DecisionsError`].
    pub fn next_record(&mut self) -> Result<Option<Record>, DecisionsError> {
        if self.is_ended {
            return Ok(None);
        }
        let mut frame = [0; 8];
        if !self.fill(&mut frame)? {
            return Ok(None);
        }
        let (kind, bytes) = (short(&frame, 0), short(&frame, 4));
        let mut slice = [0; SLICE_BYTES];
        let mut task = [0; TASK_BYTES];
        let mut end = [0; END_BYTES];
        Ok(match (kind, bytes as usize) {
            (KIND_SLICE, SLICE_BYTES) => {
                self.fill(&mut slice)?.then(|| Record::Slice(Box::new(Slice::parse(&slice))))
            }
            (KIND_SLICE, length @ (SLICE_BYTES_1 | SLICE_BYTES_2 | SLICE_BYTES_3)) => {
                let is_whole = self.fill(&mut slice[..length])?;
                is_whole.then(|| Record::Slice(Box::new(Slice::parse_older(slice, length))))
            }
            (KIND_TASK, TASK_BYTES) => {
                self.fill(&mut task)?.then(|| Record::Task(Task::parse(&task)))
            }
            (KIND_END, END_BYTES) => {
                self.is_ended = self.fill(&mut end)?;
                let (slices, lost) = (long(&end, 0), long(&end, 8));
                self.is_ended.then_some(Record::End { slices, lost })
            }
            _ => return Err(DecisionsError::Kind { kind, bytes }),
        })
    }

    /// Whether the input had that many bytes.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<bool> {
        match self.input.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}
