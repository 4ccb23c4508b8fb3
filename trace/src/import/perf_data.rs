//! The file of perf (`tools/perf/Documentation/perf.data-file-format.txt`, 6.18).
//!
//! The header has the places of the sections; every length is checked against the file before
//! memory is allocated for that length. Records come in rounds: in each, perf emptied all its
//! buffers. A record of a round is never older than the end of the last round but one, so two
//! rounds are held.

mod front;
mod names;
mod records;
mod sample;

use std::io::{Read, Seek};

use front::Front;
use names::Names;
use records::{Kind, Records};
use sample::{Layouts, Place as Where};

use super::entry::{Entry, Head, Payload, Span};
use super::feed::Feed;
use super::rounds::Rounds;
use super::tracepoint::Raw;
use super::{ImportError, ImportReport, Place};
use crate::Sink;

/// Description of a usable recording.
const EXPECTED: &str = "a recording of `perf sched record`";
/// Records held at most. perf empties buffers of some MiB a CPU in a round, with 100 bytes a
/// record.
const HELD_MAX: usize = 1 << 21;

/// Reads the file into `sink`.
pub fn perf_data(
    mut input: impl Read + Seek,
    sink: &mut impl Sink,
) -> Result<ImportReport, ImportError> {
    let front = Front::read(&mut input)?;
    let mut records = Records::new(input, front.data)?;
    let mut reader = Reader {
        feed: Feed::new(sink),
        rounds: Rounds::new(HELD_MAX),
        names: Names::new(),
        layouts: front.layouts,
        decoders: front.decoders,
    };
    while let Some(record) = records.next()? {
        reader.record(record.kind, record.body, Place::Record(record.number))?;
    }
    reader.finish(Place::Record(records.read()))
}

/// A record that waits for its turn.
enum Item {
    Event(Entry),
    Name { tid: u32, name: Vec<u8> },
    Fork { tid: u32, parent: u32 },
    Exit { tid: u32 },
}

struct Reader<'s, S> {
    feed: Feed<'s, S>,
    rounds: Rounds<Item>,
    names: Names,
    layouts: Layouts,
    decoders: front::Decoders,
}

impl<S: Sink> Reader<'_, S> {
    fn record(&mut self, kind: Kind, body: &[u8], place: Place) -> Result<(), ImportError> {
        if kind == Kind::FinishedRound {
            self.rounds.finish();
            return self.follow(place);
        }
        let read = match kind {
            Kind::Sample => self.sample(body),
            Kind::Lost => self.lost(body),
            Kind::Comm => names::comm(body).map(|(tid, name)| Item::Name { tid, name }),
            Kind::Fork => names::fork(body).map(|(tid, parent)| Item::Fork { tid, parent }),
            Kind::Exit => names::fork(body).map(|(tid, _)| Item::Exit { tid }),
            Kind::FinishedRound | Kind::Other => return Ok(()),
        };
        let Some(item) = read else {
            if let Place::Record(number) = place {
                self.feed.report.unreadable(number);
            }
            return Ok(());
        };
        let time_ns = match &item {
            Item::Event(entry) => entry.head.time_ns,
            _ => self.layouts.trailer(body).map_or(0, |at| at.time_ns),
        };
        self.rounds.insert(time_ns, item);
        self.follow(place)
    }

    fn sample(&mut self, body: &[u8]) -> Option<Item> {
        let sample = self.layouts.sample(body)?;
        let mut text = self.feed.text();
        let payload = match sample.raw.and_then(|raw| Some((raw, self.decoders.of(raw)?))) {
            Some((raw, decoder)) => decoder.decode(Raw(raw), &mut text)?,
            None => Payload::Other,
        };
        Some(self.event(sample.at, payload, text))
    }

    fn lost(&mut self, body: &[u8]) -> Option<Item> {
        // struct { u64 id; u64 lost; } (PERF_RECORD_LOST, include/uapi/linux/perf_event.h, 6.18)
        let events = u64::from_le_bytes(body.get(8..16)?.try_into().ok()?);
        let at = self.layouts.trailer(body)?;
        let text = self.feed.text();
        Some(self.event(at, Payload::Lost { events }, text))
    }

    fn event(&mut self, at: Where, payload: Payload, text: Vec<u8>) -> Item {
        self.feed.report.lines += 1;
        let head = Head {
            name: Span::default(),
            process: at.pid,
            tid: at.tid,
            cpu: at.cpu,
            time_ns: at.time_ns,
            interrupt: None,
        };
        Item::Event(Entry { text, head, payload })
    }

    /// Feeds the records whose round has ended.
    fn follow(&mut self, place: Place) -> Result<(), ImportError> {
        while let Some(item) = self.rounds.pop() {
            match item {
                Item::Event(mut entry) => {
                    let start = entry.text.len();
                    self.names.append(entry.head.tid, &mut entry.text);
                    entry.head.name = Span::new(start, entry.text.len());
                    self.feed.enter(entry, place)?;
                }
                Item::Name { tid, name } => self.names.set(tid, name),
                Item::Fork { tid, parent } => self.names.fork(tid, parent),
                Item::Exit { tid } => self.names.exit(tid),
            }
        }
        Ok(())
    }

    fn finish(mut self, place: Place) -> Result<ImportReport, ImportError> {
        self.rounds.end();
        self.follow(place)?;
        self.feed.drain(place, "events", EXPECTED)?;
        self.feed.finish(place)
    }
}
