//! Task, CPU and time of a record, and the bytes of a tracepoint in a sample.

use std::collections::HashMap;

/// Bits of `perf_event_attr.sample_type` (include/uapi/linux/perf_event.h, 6.18).
const IP: u64 = 1 << 0;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const IDENTIFIER: u64 = 1 << 16;

/// Bits of `perf_event_attr.read_format`.
const READ_TIMES: [u64; 2] = [1 << 0, 1 << 1];
const READ_ID: u64 = 1 << 2;
const READ_GROUP: u64 = 1 << 3;
const READ_LOST: u64 = 1 << 4;

/// The fields in the records of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Fields of a sample.
    pub sample_type: u64,
    /// Fields of the counts in a sample.
    pub read_format: u64,
    /// Whether records other than samples end with task, CPU and time.
    pub id_all: bool,
}

/// Task, CPU and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Process; `None` if perf wrote -1.
    pub pid: Option<u32>,
    /// Thread; `None` if perf wrote -1.
    pub tid: Option<u32>,
    /// CPU, if recorded.
    pub cpu: Option<u32>,
    /// Time.
    pub time_ns: u64,
}

/// A sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'b> {
    pub at: Place,
    /// The bytes that the kernel wrote for the event.
    pub raw: Option<&'b [u8]>,
}

/// The layouts of a file's events, and which event a number in a record stands for.
#[derive(Debug)]
pub struct Layouts {
    layouts: Vec<Layout>,
    events: HashMap<u64, usize>,
    /// Whether all are the same.
    uniform: bool,
}

impl Layouts {
    /// Layouts of events that have these numbers in records; `None` where records could not
    /// be told apart: layouts differ, and not all records begin with the number.
    pub fn new(layouts: Vec<Layout>, events: HashMap<u64, usize>) -> Option<Self> {
        let first = *layouts.first()?;
        let uniform = layouts.iter().all(|layout| *layout == first);
        let told = layouts
            .iter()
            .all(|layout| layout.sample_type & IDENTIFIER != 0 && layout.id_all == first.id_all);
        (uniform || told).then_some(Self { layouts, events, uniform })
    }

    fn of(&self, identifier: Option<&[u8]>) -> Option<Layout> {
        if self.uniform {
            return self.layouts.first().copied();
        }
        let id = u64::from_le_bytes(identifier?.try_into().ok()?);
        // perf writes records of its own with the number 0: they are laid out like the first.
        Some(self.layouts[self.events.get(&id).copied().unwrap_or(0)])
    }

    /// Reads a sample; `None` if the record is shorter than its fields.
    pub fn sample<'b>(&self, body: &'b [u8]) -> Option<Sample<'b>> {
        let layout = self.of(body.get(..8))?;
        let has = |field| layout.sample_type & field != 0;
        let mut fields = Fields { body };
        let mut at = Place::default();
        fields.skip(has(IDENTIFIER))?;
        fields.skip(has(IP))?;
        if has(TID) {
            fields.task(&mut at)?;
        }
        if has(TIME) {
            at.time_ns = fields.u64()?;
        }
        fields.skip(has(ADDR))?;
        fields.skip(has(ID))?;
        fields.skip(has(STREAM_ID))?;
        if has(CPU) {
            at.cpu = fields.cpu()?;
        }
        fields.skip(has(PERIOD))?;
        if has(READ) {
            fields.counts(layout.read_format)?;
        }
        if has(CALLCHAIN) {
            let frames = usize::try_from(fields.u64()?).ok()?;
            fields.take(frames.checked_mul(8)?)?;
        }
        let raw = if has(RAW) { Some(fields.raw()?) } else { None };
        Some(Sample { at, raw })
    }

    /// Reads the fields at the end of a record other than a sample; `None` without such fields.
    pub fn trailer(&self, body: &[u8]) -> Option<Place> {
        let layout = self.of(body.len().checked_sub(8).map(|at| &body[at..]))?;
        let has = |field| layout.sample_type & field != 0;
        let fields = [TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER];
        let length = 8 * fields.into_iter().filter(|&field| has(field)).count();
        let at = body.len().checked_sub(length).filter(|_| layout.id_all)?;
        let mut fields = Fields { body: &body[at..] };
        let mut at = Place::default();
        if has(TID) {
            fields.task(&mut at)?;
        }
        if has(TIME) {
            at.time_ns = fields.u64()?;
        }
        fields.skip(has(ID))?;
        fields.skip(has(STREAM_ID))?;
        if has(CPU) {
            at.cpu = fields.cpu()?;
        }
        Some(at)
    }

    /// Whether every event has its time.
    pub fn have_times(&self) -> bool {
        self.layouts.iter().all(|layout| layout.sample_type & TIME != 0)
    }
}

/// The fields that are left of a record.
struct Fields<'b> {
    body: &'b [u8],
}

impl<'b> Fields<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.body.split_at_checked(length)?;
        self.body = rest;
        Some(taken)
    }

    fn skip(&mut self, present: bool) -> Option<()> {
        if present { self.take(8).map(|_| ()) } else { Some(()) }
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn task(&mut self, at: &mut Place) -> Option<()> {
        let known = |number: u32| (number <= i32::MAX as u32).then_some(number);
        at.pid = known(self.u32()?);
        at.tid = known(self.u32()?);
        Some(())
    }

    fn cpu(&mut self) -> Option<Option<u32>> {
        let cpu = self.u32()?;
        self.u32()?;
        Some(crate::import::entry::cpu(cpu))
    }

    /// Steps over `struct read_format`.
    fn counts(&mut self, format: u64) -> Option<()> {
        let has = |bit: u64| usize::from(format & bit != 0);
        let times = READ_TIMES.into_iter().map(has).sum::<usize>();
        let count = 1 + has(READ_ID) + has(READ_LOST);
        let words = if format & READ_GROUP != 0 {
            usize::try_from(self.u64()?).ok()?.checked_mul(count)?.checked_add(times)?
        } else {
            count + times
        };
        self.take(words.checked_mul(8)?).map(|_| ())
    }

    fn raw(&mut self) -> Option<&'b [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }
}
