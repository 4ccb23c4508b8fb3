//! Perfetto's protobuf: the kernel's events by CPU, and tracks for levels, classes and decisions.
//!
//! Every record is an event of a CPU, in the order of the history, which [`crate::import`] reads
//! back. The tracks show the same to people.

mod events;
mod tracks;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use cpu_model::Class;

use self::tracks::{Kind, Track, Tracks};
use super::kernel::{Traced, Tracer};
use super::names::Names;
use crate::perfetto::{HISTORY, HISTORY_HEADER, HISTORY_TASK, PACKET, bundle, packet, track, tree};
use crate::protobuf::Message;
use crate::{Event, Header, History, REGISTER_BITS};

/// The id of the only sequence of packets.
const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`.
const FIRST_OF_SEQUENCE: u64 = 1;
/// Events gathered before a bundle is written; our choice.
const BUNDLE: usize = 256;
/// Tasks named in one event; our choice.
const TASKS: usize = 1024;
/// A core that executes at its normal rate.
const NORMAL_PERMILLE: u16 = 1000;

/// Writes a trace that ui.perfetto.dev opens: scheduling by CPU and thread with priorities,
/// states and wake-ups; per core the license level, the frequency, throttles and halts; on
/// threads the classes they execute and the register states seen; and every decision of the
/// policy as a slice with victim, culprit, refund and bill. The import takes all of it back.
///
/// # Errors
/// Errors of `output`.
pub fn perfetto(history: &History, output: impl Write) -> io::Result<()> {
    let header = &history.header;
    let mut tracer = Tracer::new(header);
    let mut trace = Trace {
        output,
        names: Names::new(header),
        bundle: Bundle::default(),
        tracks: Tracks::default(),
        open: BTreeMap::new(),
    };
    trace.processes(header)?;
    trace.said_once(header)?;
    for record in &history.records {
        let time_ns = record.time_ns;
        trace.tracked(time_ns, &record.event)?;
        tracer.trace(&record.event, |traced| {
            // The number of a core that the topology lacks leads beyond the last CPU.
            let cpu = traced.cpu.min(header.cpus.saturating_sub(1));
            trace.traced(time_ns, &Traced { cpu, ..traced })
        })?;
    }
    for track in std::mem::take(&mut trace.open).into_values() {
        trace.track_event(header.end_ns, track, &tracks::event(Kind::End, track, ""))?;
    }
    trace.flush()?;
    trace.output.flush()
}

/// Events of one CPU that are not written yet.
#[derive(Default)]
struct Bundle {
    cpu: u32,
    events: Message,
    count: usize,
}

struct Trace<W> {
    output: W,
    names: Names,
    bundle: Bundle,
    tracks: Tracks,
    /// Tracks with a slice that has no end yet, by id.
    open: BTreeMap<u64, Track>,
}

impl<W: Write> Trace<W> {
    fn packet(&mut self, packet: Message) -> io::Result<()> {
        let packet = packet.number(packet::SEQUENCE, SEQUENCE);
        self.output.write_all(&Message::default().message(PACKET, &packet).0)
    }

    fn processes(&mut self, header: &Header) -> io::Result<()> {
        let mut processes = Message::default();
        let mut seen = BTreeSet::new();
        for task in &header.tasks {
            let process = self.names.0.get(&task.tid).map_or(task.tid, |named| named.process);
            if seen.insert(process) {
                let app = crate::clean(task.app.as_bytes());
                let message = Message::default().number(1, process.into()).bytes(3, app.as_bytes());
                processes = processes.message(tree::PROCESS, &message);
            }
        }
        for task in &header.tasks {
            let Some(named) = self.names.0.get(&task.tid) else { continue };
            let thread = Message::default()
                .number(tree::THREAD_TID, task.tid.into())
                .bytes(tree::THREAD_NAME, named.comm.as_bytes())
                .number(tree::THREAD_PROCESS, named.process.into());
            processes = processes.message(tree::THREAD, &thread);
        }
        let packet = Message::default()
            .number(packet::TIME, header.start_ns)
            .number(packet::SEQUENCE_FLAGS, FIRST_OF_SEQUENCE)
            .message(packet::PROCESS_TREE, &processes);
        self.packet(packet)
    }

    /// The header, and the tasks.
    fn said_once(&mut self, header: &Header) -> io::Result<()> {
        let (tasks, stacks) = (Vec::new(), Vec::new());
        let without_tasks = Header { tasks, stacks, ..header.clone() };
        let instant = || tracks::event(Kind::Instant, Track::History, HISTORY);
        let json = serde_json::to_string(&without_tasks)?;
        let event = tracks::with_text(instant(), HISTORY_HEADER, &json);
        self.track_event(header.start_ns, Track::History, &event)?;
        for tasks in header.tasks.chunks(TASKS) {
            let mut event = instant();
            for task in tasks {
                let name = format!("{HISTORY_TASK} {}", task.tid);
                event = tracks::with_text(event, &name, &serde_json::to_string(task)?);
            }
            self.track_event(header.start_ns, Track::History, &event)?;
        }
        Ok(())
    }

    /// Events of the kernel's tracepoints, and generic events for records that have no tracepoint.
    fn traced(&mut self, time_ns: u64, traced: &Traced) -> io::Result<()> {
        // Bundles in the order of time keep the order of events at the same ns.
        if self.bundle.cpu != traced.cpu || self.bundle.count == BUNDLE {
            self.flush()?;
            self.bundle.cpu = traced.cpu;
        }
        let event = events::event_of(&self.names, time_ns, traced);
        let events = std::mem::take(&mut self.bundle.events);
        self.bundle.events = events.message(bundle::EVENT, &event);
        self.bundle.count += 1;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let Bundle { cpu, events, count } = std::mem::take(&mut self.bundle);
        if count == 0 {
            return Ok(());
        }
        let mut bundle = Message::default().number(bundle::CPU, cpu.into());
        bundle.0.extend_from_slice(&events.0);
        self.packet(Message::default().message(packet::BUNDLE, &bundle))
    }

    /// Levels, frequencies, classes and decisions, which have tracks of their own.
    fn tracked(&mut self, time_ns: u64, event: &Event) -> io::Result<()> {
        match *event {
            Event::Frequency { core, khz } => {
                self.count(time_ns, Track::Frequency(core), khz.into())
            }
            Event::License { core, level, rate_permille } => {
                self.count(time_ns, Track::Level(core), level.into())?;
                let name = match rate_permille {
                    NORMAL_PERMILLE => String::new(),
                    0 => "halt".to_owned(),
                    rate => format!("throttle to {rate} permille"),
                };
                self.show(time_ns, Track::Throttle(core), &name)
            }
            Event::Decision { .. } => self.decision(time_ns, event),
            Event::Phase { task, class, rate_permille, .. } => {
                let name = match class {
                    Class::Scalar => String::new(),
                    class => format!("{class} {rate_permille} permille"),
                };
                self.show(time_ns, self.thread(task), &name)
            }
            Event::Registers { task, xfeatures } => {
                let set = REGISTER_BITS.iter().filter(|(bit, _)| xfeatures >> bit & 1 == 1);
                let names: Vec<&str> = set.map(|&(_, name)| name).collect();
                let track = self.thread(task);
                let name = format!("registers: {}", names.join(" "));
                let event = tracks::event(Kind::Instant, track, &name);
                let event = tracks::with_number(event, "xfeatures", xfeatures);
                self.track_event(time_ns, track, &event)
            }
            Event::Switch { .. }
            | Event::Wake { .. }
            | Event::Fork { .. }
            | Event::Exec { .. }
            | Event::Send { .. }
            | Event::Unsent { .. }
            | Event::Receive { .. }
            | Event::Stack { .. }
            | Event::Counters { .. }
            | Event::Pause { .. }
            | Event::Migrate { .. }
            | Event::Overhead { .. }
            | Event::Runtime { .. } => Ok(()),
        }
    }

    fn thread(&self, tid: u32) -> Track {
        let process = self.names.0.get(&tid).map_or(tid, |named| named.process);
        Track::Thread { tid, process }
    }

    /// A slice on the track of decisions, as long as the task's slice.
    fn decision(&mut self, time_ns: u64, event: &Event) -> io::Result<()> {
        let Event::Decision { cpu, victim, culprit, slice_ns, refund_ns, bill_ns } = *event else {
            return Ok(());
        };
        let track = Track::Decided(cpu);
        let named = |task: u32| match task {
            0 => "nobody".to_owned(),
            task => format!("{} ({task})", self.names.of(task, cpu).0),
        };
        let (victim, culprit) = (named(victim), named(culprit));
        let event = tracks::event(Kind::Begin, track, &format!("refund {victim}"));
        let event = tracks::with_text(event, "victim", &victim);
        let event = tracks::with_text(event, "culprit", &culprit);
        let event = tracks::with_number(event, "refund_ns", refund_ns);
        let event = tracks::with_number(event, "bill_ns", bill_ns);
        self.track_event(time_ns.saturating_sub(slice_ns), track, &event)?;
        self.track_event(time_ns, track, &tracks::event(Kind::End, track, ""))
    }

    /// Ends the open slice of a track, and begins one of that name unless the name is empty.
    fn show(&mut self, time_ns: u64, track: Track, name: &str) -> io::Result<()> {
        if self.open.remove(&track.id()).is_some() {
            self.track_event(time_ns, track, &tracks::event(Kind::End, track, ""))?;
        }
        if name.is_empty() {
            return Ok(());
        }
        self.open.insert(track.id(), track);
        self.track_event(time_ns, track, &tracks::event(Kind::Begin, track, name))
    }

    fn count(&mut self, time_ns: u64, track: Track, value: u64) -> io::Result<()> {
        let event = tracks::event(Kind::Counter, track, "").number(track::COUNTER, value);
        self.track_event(time_ns, track, &event)
    }

    fn track_event(&mut self, time_ns: u64, track: Track, event: &Message) -> io::Result<()> {
        for descriptor in self.tracks.describe(track) {
            self.packet(descriptor)?;
        }
        let packet = Message::default().number(packet::TIME, time_ns);
        self.packet(packet.message(packet::TRACK_EVENT, event))
    }
}
