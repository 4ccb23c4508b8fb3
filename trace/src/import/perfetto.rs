//! The trace of Perfetto: a stream of packets, of which those with events of the kernel are read.
//!
//! `traced_probes` empties one CPU's buffer after the other, so events are held until so many
//! others came, and then go on in order of time. Our own export needs no such room, and says at
//! its beginning what no event of a kernel does.

mod compact;
mod events;
mod ours;
mod packets;

use std::collections::HashMap;
use std::io::BufRead;

use compact::Running;
use events::{Slots, event};
use ours::Ours;
use packets::Packets;

use super::entry::{self, Entry, Head, Payload};
use super::feed::Feed;
use super::rounds::Rounds;
use super::{ImportError, ImportReport, Place};
use crate::perfetto::{bundle, packet, system, tree};
use crate::protobuf::{Fields, Value};
use crate::{Sink, TASKS_MAX, clean};

/// Description of a usable recording.
const EXPECTED: &str = "a trace of Perfetto with the events sched/sched_switch and \
                        sched/sched_waking of linux.ftrace";
/// Events held at most; our choice. By default the buffers are emptied ten times a second, and
/// the busiest machines have a few million events in one.
const HELD_MAX: usize = 1 << 19;

/// Reads a trace into `sink`.
pub fn perfetto(input: impl BufRead, sink: &mut impl Sink) -> Result<ImportReport, ImportError> {
    let mut reader = Reader {
        feed: Feed::new(sink),
        held: Rounds::new(HELD_MAX),
        running: HashMap::new(),
        threads: HashMap::new(),
        ours: None,
    };
    let mut packets = Packets::new(input);
    while let Some((packet, number)) = packets.next()? {
        reader.packet(packet, number)?;
    }
    reader.finish(packets.truncated, Place::Record(packets.number))
}

/// A thread of the list of processes.
struct Thread {
    process: u32,
    name: Vec<u8>,
}

struct Reader<'s, S> {
    feed: Feed<'s, S>,
    held: Rounds<Entry>,
    /// The running task of each CPU with compact switches.
    running: HashMap<u32, Running>,
    threads: HashMap<u32, Thread>,
    ours: Option<Ours>,
}

impl<S: Sink> Reader<'_, S> {
    fn packet(&mut self, bytes: &[u8], number: u64) -> Result<(), ImportError> {
        for field in Fields::new(bytes) {
            match field {
                Ok((packet::BUNDLE, Value::Bytes(bytes))) => self.bundle(bytes, number)?,
                Ok((packet::PROCESS_TREE, Value::Bytes(bytes))) => self.processes(bytes),
                Ok((packet::SYSTEM_INFO, Value::Bytes(bytes))) => self.system(bytes),
                Ok((packet::TRACK_EVENT, Value::Bytes(bytes))) => self.said(bytes, number)?,
                Ok((packet::COMPRESSED, _)) => return Err(compressed(number)),
                Ok(_) => {}
                Err(_) => self.feed.report.unreadable(number),
            }
        }
        Ok(())
    }

    /// The events of one CPU.
    fn bundle(&mut self, bytes: &[u8], number: u64) -> Result<(), ImportError> {
        let cpu = Fields::new(bytes).flatten().find(|field| field.0 == bundle::CPU);
        let Some(cpu) = cpu.map_or(Some(0), |(_, cpu)| cpu.number()).and_then(entry::cpu) else {
            self.feed.report.unreadable(number);
            return Ok(());
        };
        for field in Fields::new(bytes) {
            match field {
                Ok((bundle::EVENT, Value::Bytes(bytes))) => self.event(cpu, bytes, number)?,
                Ok((bundle::COMPACT, Value::Bytes(bytes))) => self.compact(cpu, bytes, number)?,
                Ok((bundle::LOST, Value::Number(lost))) => {
                    // How many is not said.
                    let report = &mut self.feed.report;
                    report.lost_events = report.lost_events.saturating_add(lost.min(1));
                }
                Ok(_) => {}
                Err(_) => self.feed.report.unreadable(number),
            }
        }
        Ok(())
    }

    fn event(&mut self, cpu: u32, bytes: &[u8], number: u64) -> Result<(), ImportError> {
        let mut text = self.feed.text();
        let Some((mut head, payload)) = event(cpu, bytes, &mut text) else {
            self.feed.report.unreadable(number);
            return Ok(());
        };
        let payload = match &self.ours {
            None => payload,
            Some(ours) => {
                let running = head.tid.take();
                let Some(payload) = ours.payload(payload, running) else { return Ok(()) };
                payload
            }
        };
        self.enter(Entry { text, head, payload }, number)
    }

    fn compact(&mut self, cpu: u32, bytes: &[u8], number: u64) -> Result<(), ImportError> {
        let Ok(columns) = compact::Columns::of(bytes) else {
            self.feed.report.unreadable(number);
            return Ok(());
        };
        let mut whole = true;
        for switch in columns.switches() {
            let Ok(switch) = switch else {
                whole = false;
                break;
            };
            let mut text = self.feed.text();
            let next = Running { pid: switch.pid, prio: switch.prio, name: switch.name.to_vec() };
            let prev = self.running.insert(cpu, next).unwrap_or_default();
            let payload = switch.payload(&prev, &mut text);
            let head = Head { cpu: Some(cpu), time_ns: switch.time_ns, ..Head::default() };
            match payload {
                Some(payload) => self.enter(Entry { text, head, payload }, number)?,
                None => whole = false,
            }
        }
        for waking in columns.wakings() {
            let Ok(waking) = waking else {
                whole = false;
                break;
            };
            let mut text = self.feed.text();
            let payload = Payload::Waking { task: waking.task(&mut text), cpu: waking.cpu };
            let (time_ns, interrupt) = (waking.time_ns, waking.interrupt);
            let head = Head { cpu: Some(cpu), time_ns, interrupt, ..Head::default() };
            self.enter(Entry { text, head, payload }, number)?;
        }
        if !whole {
            self.feed.report.unreadable(number);
        }
        Ok(())
    }

    fn enter(&mut self, entry: Entry, number: u64) -> Result<(), ImportError> {
        self.feed.report.lines += 1;
        let place = Place::Record(number);
        if self.ours.is_some() {
            return self.feed.enter(entry, place);
        }
        self.held.insert(entry.head.time_ns, entry);
        self.follow(place)
    }

    fn follow(&mut self, place: Place) -> Result<(), ImportError> {
        while let Some(entry) = self.held.pop() {
            self.feed.enter(entry, place)?;
        }
        Ok(())
    }

    /// Which threads are one process. A process is its first thread, which need not be listed.
    fn processes(&mut self, bytes: &[u8]) {
        for (field, value) in Fields::new(bytes).flatten() {
            let Some(slots) = value.bytes().and_then(Slots::of) else { continue };
            let thread = match field {
                tree::PROCESS => slots.pid(1).map(|pid| (pid, pid, &b""[..])),
                tree::THREAD => slots
                    .pid(tree::THREAD_TID)
                    .zip(slots.pid(tree::THREAD_PROCESS))
                    .map(|(tid, process)| (tid, process, slots.bytes(tree::THREAD_NAME))),
                _ => None,
            };
            let Some((tid, process, name)) = thread else { continue };
            if (self.threads.len() as u64) < TASKS_MAX {
                let name = name[..name.len().min(crate::COMM_MAX)].to_vec();
                self.threads.insert(tid, Thread { process, name });
            }
        }
    }

    fn system(&mut self, bytes: &[u8]) {
        let utsname = Slots::of(bytes).and_then(|system| Slots::of(system.bytes(system::UTSNAME)));
        let release = utsname.map_or(&b""[..], |utsname| utsname.bytes(system::RELEASE));
        if !release.is_empty() {
            self.feed.fact("kernel", clean(release));
        }
    }

    fn said(&mut self, bytes: &[u8], number: u64) -> Result<(), ImportError> {
        let begun = self.feed.report.lines > 0;
        Ours::hear(&mut self.ours, bytes, begun)
            .map_err(|what| ImportError::Malformed { place: Place::Record(number), what })
    }

    fn finish(mut self, truncated: bool, place: Place) -> Result<ImportReport, ImportError> {
        self.feed.report.truncated = truncated;
        self.held.end();
        self.follow(place)?;
        if let Some(ours) = self.ours {
            let what = |what| ImportError::Malformed { place: Place::Start, what };
            self.feed.adopt(ours.whole(truncated).map_err(what)?);
        }
        self.feed.drain(place, "events", EXPECTED)?;
        for (tid, Thread { process, name }) in self.threads {
            self.feed.tell_process(tid, process, &name);
        }
        self.feed.finish(place)
    }
}

fn compressed(number: u64) -> ImportError {
    let what = "its packets are compressed; expected a trace recorded without compression_type, \
                or the file that `traceconv decompress_packets FILE OUT` writes";
    ImportError::Malformed { place: Place::Record(number), what: what.to_owned() }
}
