//! Perfetto's protobuf: the kernel's own events by CPU, and tracks of what no kernel sees.
//!
//! Field numbers are those of perfetto's protos (trace_packet.proto, ftrace_event.proto,
//! sched.proto, power.proto, process_tree.proto).

mod tracks;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use cpu_model::Class;

use self::tracks::{Kind, Track, Tracks};
use super::Names;
use super::kernel::{Traced, Tracer, state_of};
use super::wire::Message;
use crate::{Event, Header, History, REGISTER_BITS};

/// The one sequence of packets there is.
const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`.
const FIRST_OF_SEQUENCE: u64 = 1;
/// Events gathered before a bundle is written; our choice.
const BUNDLE: usize = 256;
/// A core that executes at its normal rate.
const NORMAL_PERMILLE: u16 = 1000;

/// Writes a trace that ui.perfetto.dev opens: scheduling by CPU and thread with priorities,
/// states and wake-ups; per core the license level, the frequency, throttles and halts; on
/// threads the classes they execute and the register states seen; and every decision of the
/// policy as a slice with victim, culprit, refund and bill.
///
/// Not carried: accounted run times, overheads and the facts of the header.
///
/// # Errors
/// What writing fails with.
pub fn perfetto(history: &History, output: impl Write) -> io::Result<()> {
    let header = &history.header;
    let mut tracer = Tracer::new(header);
    let mut trace = Trace {
        output,
        names: Names::new(header),
        bundles: vec![(Message::default(), 0); header.cpus as usize],
        tracks: Tracks::default(),
        open: BTreeMap::new(),
    };
    trace.processes(header)?;
    for record in &history.records {
        let time_ns = record.time_ns;
        trace.tracked(time_ns, &record.event)?;
        tracer.trace(&record.event, |traced| trace.traced(time_ns, &traced))?;
    }
    for track in std::mem::take(&mut trace.open).into_values() {
        trace.track_event(header.end_ns, track, &tracks::event(Kind::End, track, ""))?;
    }
    for cpu in 0..header.cpus {
        trace.flush(cpu)?;
    }
    trace.output.flush()
}

struct Trace<W> {
    output: W,
    names: Names,
    /// Events of each CPU that are not written yet, and their number.
    bundles: Vec<(Message, usize)>,
    tracks: Tracks,
    /// Tracks with a slice that has no end yet, by id.
    open: BTreeMap<u64, Track>,
}

impl<W: Write> Trace<W> {
    fn packet(&mut self, packet: Message) -> io::Result<()> {
        let packet = packet.number(10, SEQUENCE);
        self.output.write_all(&Message::default().message(1, &packet).0)
    }

    fn processes(&mut self, header: &Header) -> io::Result<()> {
        let mut tree = Message::default();
        let mut seen = BTreeSet::new();
        for task in &header.tasks {
            let process = self.names.0.get(&task.tid).map_or(task.tid, |named| named.process);
            if seen.insert(process) {
                let app = crate::clean(task.app.as_bytes());
                let message = Message::default().number(1, process.into()).bytes(3, app.as_bytes());
                tree = tree.message(1, &message);
            }
        }
        for task in &header.tasks {
            let Some(named) = self.names.0.get(&task.tid) else { continue };
            let thread = Message::default()
                .number(1, task.tid.into())
                .bytes(2, named.comm.as_bytes())
                .number(3, named.process.into());
            tree = tree.message(2, &thread);
        }
        let packet = Message::default()
            .number(8, header.start_ns)
            .number(13, FIRST_OF_SEQUENCE)
            .message(2, &tree);
        self.packet(packet)
    }

    /// What the kernel's tracepoints know.
    fn traced(&mut self, time_ns: u64, traced: &Traced) -> io::Result<()> {
        let (field, message) = match traced.event {
            Event::Switch { cpu, prev, state, next } => {
                let (next_comm, next_prio) = self.names.of(next, cpu);
                let message = self
                    .task(prev, cpu)
                    .number(4, state_of(state).0)
                    .bytes(5, next_comm.as_bytes())
                    .number(6, next.into())
                    .number(7, next_prio as u64);
                (4, message)
            }
            Event::Wake { task, cpu, .. } => {
                (20, self.task(task, cpu).number(4, 1).number(5, cpu.into()))
            }
            Event::Fork { task, by } => {
                let (parent, child) = (self.names.of(by, traced.cpu), self.names.of(task, 0));
                let message = Message::default().bytes(1, parent.0.as_bytes());
                let message = message.number(2, by.into()).bytes(3, child.0.as_bytes());
                (239, message.number(4, task.into()))
            }
            Event::Migrate { task, from, to } => {
                (491, self.task(task, to).number(4, from.into()).number(5, to.into()))
            }
            Event::Frequency { core, khz } => {
                (11, Message::default().number(1, khz.into()).number(2, core.into()))
            }
            Event::License { .. }
            | Event::Decision { .. }
            | Event::Phase { .. }
            | Event::Overhead { .. }
            | Event::Registers { .. }
            | Event::Runtime { .. } => return Ok(()),
        };
        let event = Message::default()
            .number(1, time_ns)
            .number(2, traced.current.into())
            .message(field, &message);
        let Some((bundle, events)) = self.bundles.get_mut(traced.cpu as usize) else {
            return Ok(());
        };
        *bundle = std::mem::take(bundle).message(2, &event);
        *events += 1;
        if *events >= BUNDLE { self.flush(traced.cpu) } else { Ok(()) }
    }

    fn task(&self, task: u32, cpu: u32) -> Message {
        let (comm, prio) = self.names.of(task, cpu);
        let message = Message::default().bytes(1, comm.as_bytes()).number(2, task.into());
        message.number(3, prio as u64)
    }

    fn flush(&mut self, cpu: u32) -> io::Result<()> {
        let (events, count) = std::mem::take(&mut self.bundles[cpu as usize]);
        if count == 0 {
            return Ok(());
        }
        let mut bundle = Message::default().number(1, cpu.into());
        bundle.0.extend_from_slice(&events.0);
        self.packet(Message::default().message(1, &bundle))
    }

    /// What tracks of our own show.
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
            | Event::Migrate { .. }
            | Event::Overhead { .. }
            | Event::Runtime { .. } => Ok(()),
        }
    }

    fn thread(&self, tid: u32) -> Track {
        let process = self.names.0.get(&tid).map_or(tid, |named| named.process);
        Track::Thread { tid, process }
    }

    /// A slice as long as the one it is about.
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

    /// Ends the slice that a track shows, and begins the one of that name, if it has one.
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
        let event = tracks::event(Kind::Counter, track, "").number(30, value);
        self.track_event(time_ns, track, &event)
    }

    fn track_event(&mut self, time_ns: u64, track: Track, event: &Message) -> io::Result<()> {
        for descriptor in self.tracks.describe(track) {
            self.packet(descriptor)?;
        }
        self.packet(Message::default().number(8, time_ns).message(11, event))
    }
}
