//! Perfetto's protobuf: the kernel's own events by CPU, and counters by core.
//!
//! Field numbers are those of perfetto's protos (trace_packet.proto, ftrace_event.proto,
//! sched.proto, power.proto, process_tree.proto, track_descriptor.proto, track_event.proto).

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::wire::Message;
use super::{Names, Running};
use crate::{Event, History, SwitchState};

/// The one sequence of packets there is.
const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`.
const FIRST_OF_SEQUENCE: u64 = 1;
/// `TrackEvent.TYPE_COUNTER`.
const COUNTER: u64 = 4;
/// Events gathered before a bundle is written; our choice.
const BUNDLE: usize = 256;

/// What is counted for each core, by name; the place in the list is part of the track's id.
const TRACKS: [&str; 3] = ["license level", "instruction rate (permille)", "frequency (kHz)"];
const LEVEL: u64 = 0;
const RATE: u64 = 1;
const FREQUENCY: u64 = 2;

/// Writes a trace that ui.perfetto.dev opens: scheduling by CPU and thread, wake-ups,
/// migrations, frequencies, and per core the license level with its instruction rate.
///
/// # Errors
/// What writing fails with.
pub fn perfetto(history: &History, output: impl Write) -> io::Result<()> {
    let header = &history.header;
    let mut trace = Trace {
        output,
        names: Names::new(header),
        running: Running::new(header.cpus),
        bundles: vec![(Message::default(), 0); header.cpus as usize],
        tracks: BTreeSet::new(),
        threads: header.threads_per_core.unwrap_or(1).max(1),
    };
    trace.processes(history)?;
    for record in &history.records {
        trace.event(record.time_ns, &record.event)?;
    }
    for cpu in 0..header.cpus {
        trace.flush(cpu)?;
    }
    trace.output.flush()
}

struct Trace<W> {
    output: W,
    names: Names,
    running: Running,
    /// Events of each CPU that are not written yet, and their number.
    bundles: Vec<(Message, usize)>,
    /// Counters that were described.
    tracks: BTreeSet<u64>,
    threads: u32,
}

impl<W: Write> Trace<W> {
    fn packet(&mut self, packet: Message) -> io::Result<()> {
        let packet = packet.number(10, SEQUENCE);
        self.output.write_all(&Message::default().message(1, &packet).0)
    }

    fn processes(&mut self, history: &History) -> io::Result<()> {
        let header = &history.header;
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

    fn event(&mut self, time_ns: u64, event: &Event) -> io::Result<()> {
        match *event {
            Event::Switch { cpu, prev, state, next } => {
                let message = self.switched(cpu, (prev, state), next);
                self.ftrace(time_ns, cpu, prev, 4, &message)?;
                self.running.switch(cpu, prev, next);
                Ok(())
            }
            Event::Wake { task, by, cpu } => {
                let message = self.task(task, cpu).number(4, 1).number(5, cpu.into());
                let here = self.running.cpu_of(by).unwrap_or(cpu);
                self.ftrace(time_ns, here, self.running.on(here), 20, &message)
            }
            Event::Migrate { task, from, to } => {
                let message = self.task(task, to).number(4, from.into()).number(5, to.into());
                self.ftrace(time_ns, to, self.running.on(to), 491, &message)
            }
            Event::Frequency { core, khz } => {
                self.count(time_ns, core, FREQUENCY, khz.into())?;
                let first = core.saturating_mul(self.threads);
                let cpus = self.bundles.len() as u32;
                for cpu in first..first.saturating_add(self.threads).min(cpus) {
                    let message = Message::default().number(1, khz.into()).number(2, cpu.into());
                    self.ftrace(time_ns, cpu, self.running.on(cpu), 11, &message)?;
                }
                Ok(())
            }
            Event::License { core, level, rate_permille } => {
                self.count(time_ns, core, LEVEL, level.into())?;
                self.count(time_ns, core, RATE, rate_permille.into())
            }
            Event::Fork { .. }
            | Event::Phase { .. }
            | Event::Overhead { .. }
            | Event::Decision { .. }
            | Event::Registers { .. }
            | Event::Runtime { .. } => Ok(()),
        }
    }

    fn task(&self, task: u32, cpu: u32) -> Message {
        let (comm, prio) = self.names.of(task, cpu);
        let message = Message::default().bytes(1, comm.as_bytes()).number(2, task.into());
        message.number(3, prio as u64)
    }

    fn switched(&self, cpu: u32, (prev, state): (u32, SwitchState), next: u32) -> Message {
        let (next_comm, next_prio) = self.names.of(next, cpu);
        // Bits of `prev_state` as the kernel's tracepoint has them (include/linux/sched.h).
        let state = match state {
            SwitchState::Runnable => 0,
            SwitchState::Blocked => 1,
            SwitchState::Dead => 16,
        };
        self.task(prev, cpu)
            .number(4, state)
            .bytes(5, next_comm.as_bytes())
            .number(6, next.into())
            .number(7, next_prio as u64)
    }

    /// Adds an event of the kernel to the bundle of its CPU.
    fn ftrace(
        &mut self,
        time_ns: u64,
        cpu: u32,
        task: u32,
        field: u64,
        message: &Message,
    ) -> io::Result<()> {
        let event =
            Message::default().number(1, time_ns).number(2, task.into()).message(field, message);
        let Some((bundle, events)) = self.bundles.get_mut(cpu as usize) else { return Ok(()) };
        *bundle = std::mem::take(bundle).message(2, &event);
        *events += 1;
        if *events >= BUNDLE { self.flush(cpu) } else { Ok(()) }
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

    fn count(&mut self, time_ns: u64, core: u32, track: u64, value: u64) -> io::Result<()> {
        let id = 1 + u64::from(core) * TRACKS.len() as u64 + track;
        if self.tracks.insert(id) {
            let name = format!("core {core} {}", TRACKS[track as usize]);
            let counter = Message::default();
            let descriptor =
                Message::default().number(1, id).bytes(2, name.as_bytes()).message(8, &counter);
            self.packet(Message::default().message(60, &descriptor))?;
        }
        let event = Message::default().number(9, COUNTER).number(11, id).number(30, value);
        self.packet(Message::default().number(8, time_ns).message(11, &event))
    }
}
