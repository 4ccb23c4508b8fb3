//! `trace.dat`, version 6: the file of trace-cmd and KernelShark (man trace-cmd.dat.v6).
//!
//! The file has the events of one CPU after those of another, with their places before them. Two
//! passes find the places and then write, so that only a few bytes an event are kept.

mod formats;
mod ring;

use std::fmt::Write as _;
use std::io::{self, Write};

pub use formats::ORDER;

use formats::FORMATS;
use ring::{PAGE, Pages};

use super::kernel::{Traced, Tracer, state_of};
use super::names::Names;
use crate::{Event, Header, History};

/// Room for the name of a task with its final 0 (`TASK_COMM_LEN`).
const COMM: usize = 16;
/// `TRACE_FLAG_HARDIRQ` (include/linux/trace_events.h, 6.18).
const IN_INTERRUPT: u8 = 0x08;
/// `TRACE_FLAG_IRQS_NOSUPPORT`: the context of the event is unknown.
const UNKNOWN: u8 = 0x02;

/// `events/header_page` of tracefs.
const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
/// `events/header_event` of tracefs.
const HEADER_EVENT: &str = "# compressed entry header\n\
    \ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\
    \tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\
    \tdata max type_len  == 28\n";

/// Writes every record, those that no kernel knows as events of the system `evenkeel`. A wake-up
/// is a `sched_waking` and a `sched_wakeup`, without which `trace-cmd report --profile` tells
/// nothing about switches.
///
/// Not carried: bytes of names beyond the 15th, and applications, processes, topology and facts of
/// the header.
///
/// # Errors
/// Errors of `output`.
pub fn trace_dat(history: &History, mut output: impl Write) -> io::Result<()> {
    let file = File { history, names: Names::new(&history.header), lines: lines(history)? };
    let mut pages = Vec::with_capacity(file.lines.len());
    for cpu in 0..history.header.cpus {
        pages.push(file.cpu(cpu, io::sink())?);
    }
    let mut head = head(&history.header, &file.names);
    let places = 16 * pages.len();
    let mut at = (head.len() + places).next_multiple_of(PAGE);
    let padding = at - head.len() - places;
    for count in pages {
        let size = count as usize * PAGE;
        head.extend_from_slice(&(at as u64).to_le_bytes());
        head.extend_from_slice(&(size as u64).to_le_bytes());
        at += size;
    }
    head.resize(head.len() + padding, 0);
    output.write_all(&head)?;
    for cpu in 0..history.header.cpus {
        file.cpu(cpu, &mut output)?;
    }
    output.flush()
}

/// An event of one CPU.
struct Line {
    /// Place of the record in the history.
    record: u32,
    /// The running task.
    current: u32,
    interrupt: Option<bool>,
}

/// The events of each CPU.
fn lines(history: &History) -> io::Result<Vec<Vec<Line>>> {
    let mut lines: Vec<Vec<Line>> = Vec::new();
    lines.resize_with(history.header.cpus as usize, Vec::new);
    let mut tracer = Tracer::new(&history.header);
    for (index, record) in history.records.iter().enumerate() {
        let record_index = u32::try_from(index).map_err(io::Error::other)?;
        tracer.trace(&record.event, |traced| {
            let Traced { cpu, current, interrupt, .. } = traced;
            if let Some(lines) = lines.get_mut(cpu as usize) {
                lines.push(Line { record: record_index, current, interrupt });
            }
            Ok(())
        })?;
    }
    Ok(lines)
}

struct File<'h> {
    history: &'h History,
    names: Names,
    lines: Vec<Vec<Line>>,
}

impl File<'_> {
    /// Writes the pages of a CPU and returns their number.
    fn cpu(&self, cpu: u32, output: impl Write) -> io::Result<u64> {
        let header = &self.history.header;
        let mut pages = Pages::new(output);
        let known = header.interrupts_known().then_some(false);
        let edge = |current, of| Fields::new(formats::EDGE, current, known).text(of, 8).0;
        pages.event(header.start_ns, &edge(0, "begin"))?;
        let lines = &self.lines[cpu as usize];
        for line in lines {
            let record = &self.history.records[line.record as usize];
            let fields = self.event(cpu, line, &record.event).word(line.record);
            pages.event(record.time_ns, &fields.0)?;
            if let Event::Wake { task, cpu: target, .. } = record.event {
                let woken = Fields::new(formats::WAKEUP, line.current, line.interrupt)
                    .task(&self.names, task, cpu)
                    .word(target)
                    .word(line.record);
                pages.event(record.time_ns, &woken.0)?;
            }
        }
        if cpu == 0 {
            let running = lines.iter().rev().find_map(|line| {
                match self.history.records[line.record as usize].event {
                    Event::Switch { next, .. } => Some(next),
                    _ => None,
                }
            });
            pages.event(header.end_ns, &edge(running.unwrap_or(0), "end"))?;
        }
        pages.flush()?;
        Ok(pages.count)
    }

    fn event(&self, cpu: u32, line: &Line, event: &Event) -> Fields {
        let begin = |format| Fields::new(format, line.current, line.interrupt);
        match *event {
            Event::Switch { prev, state, next, .. } => begin(formats::SWITCH)
                .task(&self.names, prev, cpu)
                .long(state_of(state).0)
                .task(&self.names, next, cpu),
            Event::Wake { task, cpu: target, .. } => {
                begin(formats::WAKING).task(&self.names, task, cpu).word(target)
            }
            Event::Fork { task, by } => {
                begin(formats::FORK).name(&self.names, by, cpu).name(&self.names, task, cpu)
            }
            Event::Migrate { task, from, to } => {
                begin(formats::MIGRATE).task(&self.names, task, cpu).word(from).word(to)
            }
            Event::Runtime { task, ns } => {
                begin(formats::RUNTIME).name(&self.names, task, cpu).word(0).long(ns)
            }
            Event::Frequency { khz, .. } => begin(formats::FREQUENCY).word(khz).word(cpu),
            Event::Registers { xfeatures, .. } => {
                begin(formats::REGISTERS).long(0).long(1).long(xfeatures).long(0)
            }
            Event::License { core, level, rate_permille } => {
                begin(formats::LICENSE).word(core).word(level.into()).word(rate_permille.into())
            }
            Event::Decision { victim, culprit, slice_ns, refund_ns, bill_ns, .. } => {
                let fields = begin(formats::DECISION).word(victim).word(culprit);
                fields.long(slice_ns).long(refund_ns).long(bill_ns)
            }
            Event::Phase { task, class, rate_permille, stall_permille } => {
                let fields = begin(formats::PHASE).word(task).word(rate_permille);
                fields.word(stall_permille).text(&class.to_string(), COMM)
            }
            Event::Overhead { ns, .. } => begin(formats::OVERHEAD).long(ns),
            Event::Exec { .. }
            | Event::Send { .. }
            | Event::Unsent { .. }
            | Event::Receive { .. }
            | Event::Stack { .. }
            | Event::Counters { .. }
            | Event::Pause { .. } => unreachable!("not carried"),
        }
    }
}

/// The fields of an event, one after the other.
struct Fields(Vec<u8>);

impl Fields {
    fn new(format: usize, current: u32, interrupt: Option<bool>) -> Self {
        let flags = match interrupt {
            Some(true) => IN_INTERRUPT,
            Some(false) => 0,
            None => UNKNOWN,
        };
        let mut bytes = formats::id(format).to_le_bytes().to_vec();
        bytes.extend_from_slice(&[flags, 0]);
        Self(bytes).word(current)
    }

    fn word(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn long(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Text with a final 0, cut between characters if need be.
    fn text(mut self, text: &str, room: usize) -> Self {
        let end = self.0.len() + room;
        let text = &text[..text.floor_char_boundary(room - 1)];
        self.0.extend_from_slice(text.as_bytes());
        self.0.resize(end, 0);
        self
    }

    /// Name and number of a task.
    fn name(self, names: &Names, task: u32, cpu: u32) -> Self {
        self.text(&names.of(task, cpu).0, COMM).word(task)
    }

    /// Name, number and priority of a task.
    fn task(self, names: &Names, task: u32, cpu: u32) -> Self {
        self.name(names, task, cpu).word(names.of(task, cpu).1 as u32)
    }
}

/// Everything before the places of the CPUs.
fn head(header: &Header, names: &Names) -> Vec<u8> {
    const LITTLE_ENDIAN: u8 = 0;
    const LONG: u8 = 8;
    let mut head = b"\x17\x08\x44tracing6\0".to_vec();
    head.extend_from_slice(&[LITTLE_ENDIAN, LONG]);
    head.extend_from_slice(&(PAGE as u32).to_le_bytes());
    let sized = |head: &mut Vec<u8>, text: &str| {
        head.extend_from_slice(&(text.len() as u64).to_le_bytes());
        head.extend_from_slice(text.as_bytes());
    };
    let count = |head: &mut Vec<u8>, count: usize| {
        head.extend_from_slice(&(count as u32).to_le_bytes());
    };
    head.extend_from_slice(b"header_page\0");
    sized(&mut head, HEADER_PAGE);
    head.extend_from_slice(b"header_event\0");
    sized(&mut head, HEADER_EVENT);
    count(&mut head, 0);
    let systems: Vec<_> = FORMATS.chunk_by(|a, b| a.system == b.system).collect();
    count(&mut head, systems.len());
    let mut index = 0;
    for system in systems {
        head.extend_from_slice(system[0].system.as_bytes());
        head.push(0);
        count(&mut head, system.len());
        for _ in system {
            sized(&mut head, &formats::text(index));
            index += 1;
        }
    }
    // Neither addresses of functions nor texts of printk.
    count(&mut head, 0);
    count(&mut head, 0);
    let mut commands = String::new();
    for task in &header.tasks {
        let _ = writeln!(commands, "{} {}", task.tid, names.of(task.tid, 0).0);
    }
    sized(&mut head, &commands);
    count(&mut head, header.cpus as usize);
    head.extend_from_slice(b"options  \0\0\0flyrecord\0");
    head
}
