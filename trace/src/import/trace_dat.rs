//! `trace.dat`, version 6: the file of trace-cmd (man trace-cmd.dat.v6).
//!
//! The file has the pages of one CPU's buffer after those of another. Of each CPU one page is held
//! and the earliest event goes on; of two at the same time that of the lower CPU, as in
//! `trace-cmd report`, unless our own export says which came first.

mod head;
mod pages;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{Read, Seek};

use head::{DatHead, head};
use pages::Cpu;

use super::entry::{Entry, Head, Payload, Span};
use super::feed::Feed;
use super::tracepoint::{Decoder, Raw, in_interrupt};
use super::{ImportError, ImportReport, Place};
use crate::Sink;

/// Description of a usable recording.
const EXPECTED: &str = "a recording of `trace-cmd record -e sched`";

/// Reads the file into `sink`.
pub fn trace_dat(
    mut input: impl Read + Seek,
    sink: &mut impl Sink,
) -> Result<ImportReport, ImportError> {
    let DatHead { decoders, names, page_size, cpus } = head(&mut input)?;
    let mut feed = Feed::new(sink);
    let mut cpus: Vec<Cpu> = cpus.into_iter().map(|place| Cpu::new(place, page_size)).collect();
    let mut next = BinaryHeap::new();
    for (number, cpu) in cpus.iter_mut().enumerate() {
        if cpu.advance(&mut input, Place::Start)? {
            next.push(Reverse((cpu.time_ns, order(cpu, &decoders), number)));
        }
    }
    let mut place = Place::Start;
    while let Some(Reverse((time_ns, _, number))) = next.pop() {
        let Some(cpu) = cpus.get_mut(number) else { break };
        feed.report.lines += 1;
        place = Place::Record(feed.report.lines);
        let text = feed.text();
        match entry(cpu.event(), time_ns, number as u32, &decoders, &names, text) {
            Some(entry) => feed.enter(entry, place)?,
            None => feed.report.unreadable(feed.report.lines),
        }
        if cpu.advance(&mut input, place)? {
            next.push(Reverse((cpu.time_ns, order(cpu, &decoders), number)));
        }
    }
    feed.report.lost_events = cpus.iter().fold(0, |sum: u64, cpu| sum.saturating_add(cpu.lost));
    feed.drain(place, "events", EXPECTED)?;
    feed.finish(place)
}

fn decoder<'d>(event: &[u8], decoders: &'d HashMap<u64, Decoder>) -> Option<&'d Decoder> {
    let kind = u16::from_le_bytes(*event.first_chunk()?);
    decoders.get(&kind.into())
}

/// Which event of the same time came first, where our own export says.
fn order(cpu: &Cpu, decoders: &HashMap<u64, Decoder>) -> u64 {
    let event = cpu.event();
    decoder(event, decoders).map_or(0, |decoder| decoder.order(Raw(event)))
}

/// `None` if the event has no room for its fields.
fn entry(
    event: &[u8],
    time_ns: u64,
    cpu: u32,
    decoders: &HashMap<u64, Decoder>,
    names: &HashMap<u32, Vec<u8>>,
    mut text: Vec<u8>,
) -> Option<Entry> {
    let [_, _, flags, _, p0, p1, p2, p3] = *event.first_chunk()?;
    let tid = u32::from_le_bytes([p0, p1, p2, p3]);
    let payload = match decoder(event, decoders) {
        Some(decoder) => decoder.decode(Raw(event), &mut text)?,
        None => Payload::Other,
    };
    let start = text.len();
    text.extend_from_slice(names.get(&tid).map_or(b"<...>", |name| &name[..]));
    let head = Head {
        name: Span::new(start, text.len()),
        process: None,
        tid: (tid <= i32::MAX as u32).then_some(tid),
        cpu: Some(cpu),
        time_ns,
        interrupt: in_interrupt(flags.into()),
    };
    Some(Entry { text, head, payload })
}
