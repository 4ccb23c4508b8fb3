//! Perfetto's tracks: counters of cores, slices, and the instruction classes of threads.
//!
//! Field numbers that are given here are those of perfetto's track_descriptor.proto and
//! thread_descriptor.proto.

use std::collections::HashSet;

use crate::perfetto::{HISTORY_TRACK, packet, track};
use crate::protobuf::Message;

/// Kinds of a `TrackEvent`.
#[derive(Clone, Copy)]
pub enum Kind {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// A track. Groups have none of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Track {
    /// The header and the tasks of the history.
    History,
    /// The groups below.
    Cores,
    Decisions,
    /// License level of a core.
    Level(u32),
    /// Frequency of a core.
    Frequency(u32),
    /// Throttles and halts of a core.
    Throttle(u32),
    /// Decisions about slices of a CPU.
    Decided(u32),
    /// Instruction classes and register states of a thread.
    Thread {
        tid: u32,
        process: u32,
    },
}

/// Kinds of tracks that a number tells apart from its like.
const KINDS: u64 = 16;

impl Track {
    /// A number for each track; 0 is Perfetto's own.
    pub fn id(self) -> u64 {
        let (kind, number) = match self {
            Self::Cores => (1, 0),
            Self::Decisions => (2, 0),
            Self::Level(core) => (3, core),
            Self::Frequency(core) => (4, core),
            Self::Throttle(core) => (5, core),
            Self::Decided(cpu) => (6, cpu),
            Self::Thread { tid, .. } => (7, tid),
            Self::History => (8, 0),
        };
        u64::from(number) * KINDS + kind
    }

    fn group(self) -> Option<Self> {
        match self {
            Self::Level(_) | Self::Frequency(_) | Self::Throttle(_) => Some(Self::Cores),
            Self::Decided(_) => Some(Self::Decisions),
            Self::History | Self::Cores | Self::Decisions | Self::Thread { .. } => None,
        }
    }

    /// The `TrackDescriptor`.
    fn descriptor(self) -> Message {
        let message = Message::default().number(1, self.id());
        let message = match self.group() {
            Some(group) => message.number(5, group.id()),
            None => message,
        };
        let named = |name: &str| message.clone().bytes(2, name.as_bytes());
        let counter = Message::default();
        match self {
            Self::History => named(HISTORY_TRACK),
            Self::Cores => named("Licenses of cores"),
            Self::Decisions => named("Decisions of the policy"),
            Self::Level(core) => named(&format!("core {core} license level")).message(8, &counter),
            Self::Frequency(core) => {
                named(&format!("core {core} frequency (kHz)")).message(8, &counter)
            }
            Self::Throttle(core) => named(&format!("core {core} throttle")),
            Self::Decided(cpu) => named(&format!("CPU {cpu} time given back")),
            Self::Thread { tid, process } => {
                let thread = Message::default().number(1, process.into()).number(2, tid.into());
                message.message(4, &thread)
            }
        }
    }
}

/// The tracks that were described.
#[derive(Default)]
pub struct Tracks(HashSet<u64>);

impl Tracks {
    /// The descriptors that are due before an event of `track`.
    pub fn describe(&mut self, track: Track) -> Vec<Message> {
        let wanted = [track.group(), Some(track)];
        let due = wanted.into_iter().flatten().filter(|track| self.0.insert(track.id()));
        let described = |track: Track| {
            Message::default().message(packet::TRACK_DESCRIPTOR, &track.descriptor())
        };
        due.map(described).collect()
    }
}

/// A `TrackEvent` with a name.
pub fn event(kind: Kind, on: Track, name: &str) -> Message {
    let message = Message::default().number(track::KIND, kind as u64).number(track::TRACK, on.id());
    if name.is_empty() { message } else { message.bytes(track::NAME, name.as_bytes()) }
}

/// Adds a debug annotation with a number.
pub fn with_number(event: Message, name: &str, value: u64) -> Message {
    event.message(track::ANNOTATION, &annotation(name).number(track::ANNOTATION_NUMBER, value))
}

/// Adds a debug annotation with a text.
pub fn with_text(event: Message, name: &str, value: &str) -> Message {
    let annotation = annotation(name).bytes(track::ANNOTATION_TEXT, value.as_bytes());
    event.message(track::ANNOTATION, &annotation)
}

fn annotation(name: &str) -> Message {
    Message::default().bytes(track::ANNOTATION_NAME, name.as_bytes())
}
