//! A recording for Perfetto: packets of its protobuf, of which these are the few fields that we use
//! (protos/perfetto/trace of Perfetto 0.59).

use std::collections::BTreeMap;
use std::io::{self, Write};

use evenkeel_runtime::internal::recording::{
    ACTIVITY_LOOKS, ACTIVITY_SLEEPS, ACTIVITY_WAITS, Slice, Slices,
};
use prost::Message;

use crate::names::Name;
use crate::scale::Scale;

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct InternedData {
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<EventName>,
}

#[derive(Clone, PartialEq, Message)]
struct EventName {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<Process>,
    #[prost(message, optional, tag = "4")]
    thread: Option<Thread>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    counter: Option<Counter>,
}

#[derive(Clone, PartialEq, Message)]
struct Process {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Thread {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(int32, optional, tag = "2")]
    tid: Option<i32>,
    #[prost(string, optional, tag = "5")]
    thread_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Counter {}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(int32, optional, tag = "9")]
    r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(int64, optional, tag = "30")]
    counter_value: Option<i64>,
    // Declared in proto2: each value has a tag of its own, and Perfetto reads no packed ones.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

/// `TYPE_SLICE_BEGIN`, `TYPE_SLICE_END`, `TYPE_COUNTER`.
const BEGIN: i32 = 1;
const END: i32 = 2;
const COUNTER: i32 = 4;
/// `SEQ_INCREMENTAL_STATE_CLEARED` and `SEQ_NEEDS_INCREMENTAL_STATE`.
const FIRST: u32 = 1;
const NEEDS: u32 = 2;
/// The only sequence of packets.
const SEQUENCE: u32 = 1;
/// Tracks; those of threads are numbered from the last.
const PROCESS: u64 = 1;
const THRESHOLD: u64 = 2;
const READY: u64 = 3;
const THREADS: u64 = 16;

/// Writes all that is on tapes until now.
pub(crate) fn write(slices: &Slices, out: impl Write) -> io::Result<()> {
    let scale = Scale::between(slices.begin, slices.end);
    let mut writer = Writer { out, scale };
    writer.names(slices)?;
    writer.tracks(slices)?;
    writer.thresholds(slices)?;
    let (mut leaving, mut arriving) = (BTreeMap::new(), BTreeMap::new());
    for (id, flow) in (1..).zip(&slices.flows) {
        leaving.entry(flow.from).or_insert_with(Vec::new).push(id);
        arriving.entry(flow.to).or_insert_with(Vec::new).push(id);
    }
    for (lane, all) in slices.lanes.iter().enumerate() {
        let mut open: Vec<u64> = Vec::new();
        let uuid = THREADS + lane as u64;
        for (number, slice) in all.slices.iter().enumerate() {
            while open.last().is_some_and(|&end| end <= slice.begin) {
                writer.end(uuid, open.pop().unwrap_or_default())?;
            }
            let flows = |all: &mut BTreeMap<(usize, usize), Vec<u64>>| {
                all.remove(&(lane, number)).unwrap_or_default()
            };
            writer.begin(uuid, slice, flows(&mut leaving), flows(&mut arriving))?;
            // Ticks of two CPUs may differ a little: a slice that began inside another ends inside.
            let outer = open.last().copied().unwrap_or(u64::MAX);
            open.push(slice.end.min(outer));
        }
        while let Some(end) = open.pop() {
            writer.end(uuid, end)?;
        }
    }
    writer.out.flush()
}

struct Writer<W> {
    out: W,
    scale: Scale,
}

impl<W: Write> Writer<W> {
    fn packet(&mut self, packet: Packet) -> io::Result<()> {
        let packet = Packet { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        self.out.write_all(&Trace { packet: vec![packet] }.encode_to_vec())
    }

    fn names(&mut self, slices: &Slices) -> io::Result<()> {
        let fixed = [
            (ACTIVITY_WAITS, "waits for children"),
            (ACTIVITY_LOOKS, "looks for tasks"),
            (ACTIVITY_SLEEPS, "sleeps"),
        ];
        let fixed = fixed.map(|(activity, name)| (activity, name.to_owned()));
        let functions = slices.functions.iter().map(|function| Name::of(function).title());
        let all = (0..).zip(functions).chain(fixed);
        let event_names = all.map(|(activity, name): (u32, String)| EventName {
            iid: Some(u64::from(activity) + 1),
            name: Some(name),
        });
        let interned_data = Some(InternedData { event_names: event_names.collect() });
        self.packet(Packet { interned_data, sequence_flags: Some(FIRST), ..Packet::default() })
    }

    fn tracks(&mut self, slices: &Slices) -> io::Result<()> {
        let pid = i32::try_from(std::process::id()).ok();
        let name = program_name();
        let process = Some(Process { pid, process_name: Some(name) });
        self.track(TrackDescriptor { uuid: Some(PROCESS), process, ..Default::default() })?;
        for (uuid, name) in [(THRESHOLD, "threshold"), (READY, "ready tasks")] {
            self.track(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(name.to_owned()),
                parent_uuid: Some(PROCESS),
                counter: Some(Counter {}),
                ..Default::default()
            })?;
        }
        for (number, lane) in slices.lanes.iter().enumerate() {
            let thread_name = Some(lane.name.clone());
            let thread = Some(Thread { pid, tid: i32::try_from(lane.thread).ok(), thread_name });
            let uuid = Some(THREADS + number as u64);
            self.track(TrackDescriptor { uuid, thread, ..Default::default() })?;
        }
        Ok(())
    }

    fn track(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        self.packet(Packet { track_descriptor: Some(descriptor), ..Packet::default() })
    }

    fn event(&mut self, at: u64, event: TrackEvent) -> io::Result<()> {
        self.packet(Packet {
            timestamp: Some(self.scale.at_ns(at)),
            sequence_flags: Some(NEEDS),
            track_event: Some(event),
            ..Packet::default()
        })
    }

    fn thresholds(&mut self, slices: &Slices) -> io::Result<()> {
        for &(at, threshold, ready) in &slices.thresholds {
            for (track, value) in [(THRESHOLD, threshold), (READY, ready)] {
                let event = TrackEvent {
                    r#type: Some(COUNTER),
                    track_uuid: Some(track),
                    counter_value: Some(value.into()),
                    ..TrackEvent::default()
                };
                self.event(at, event)?;
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        track: u64,
        slice: &Slice,
        flow_ids: Vec<u64>,
        terminating_flow_ids: Vec<u64>,
    ) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(BEGIN),
            name_iid: Some(u64::from(slice.activity) + 1),
            track_uuid: Some(track),
            counter_value: None,
            flow_ids,
            terminating_flow_ids,
        };
        self.event(slice.begin, event)
    }

    fn end(&mut self, track: u64, at: u64) -> io::Result<()> {
        let event =
            TrackEvent { r#type: Some(END), track_uuid: Some(track), ..TrackEvent::default() };
        self.event(at, event)
    }
}

/// The name by which the program was started.
pub(crate) fn program_name() -> String {
    let path = std::env::args_os().next().map(std::path::PathBuf::from);
    let name = path.as_ref().and_then(|path| path.file_name());
    name.map_or_else(|| "program".to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use evenkeel_runtime::{Config, Data, Runtime, Watch};

    use super::*;
    use crate::WatchExt;

    fn traced(workers: usize, run: impl FnOnce(&Runtime)) -> Vec<Packet> {
        Trace::decode(&bytes_of(workers, run)[..]).unwrap().packet
    }

    fn bytes_of(workers: usize, run: impl FnOnce(&Runtime)) -> Vec<u8> {
        let watch = Watch::with_trace(1 << 24);
        let config = Config { cutoff: false, ..Config::default() };
        let runtime = Runtime::builder().workers(workers).config(config).watch(&watch).build();
        run(&runtime.unwrap());
        let mut bytes = Vec::new();
        watch.trace(&mut bytes).unwrap();
        bytes
    }

    fn events(packets: &[Packet]) -> impl Iterator<Item = (u64, &TrackEvent)> {
        packets.iter().filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)))
    }

    /// Slices by name. All begin and end in turn, on each track.
    fn slices(packets: &[Packet]) -> HashMap<String, usize> {
        let interned = packets.iter().filter_map(|packet| packet.interned_data.as_ref());
        let names: HashMap<u64, String> = interned
            .flat_map(|data| &data.event_names)
            .map(|name| (name.iid.unwrap(), name.name.clone().unwrap()))
            .collect();
        let mut open: HashMap<u64, usize> = HashMap::new();
        let mut last: HashMap<u64, u64> = HashMap::new();
        let mut found = HashMap::new();
        for (at, event) in events(packets) {
            let track = event.track_uuid.unwrap();
            assert!(last.insert(track, at).is_none_or(|before| before <= at));
            match event.r#type.unwrap() {
                BEGIN => {
                    *open.entry(track).or_default() += 1;
                    *found.entry(names[&event.name_iid.unwrap()].clone()).or_default() += 1;
                }
                END => *open.get_mut(&track).unwrap() -= 1,
                _ => {}
            }
        }
        assert!(open.values().all(|&number| number == 0));
        found
    }

    /// The next number, of variable length.
    fn varint(rest: &mut &[u8]) -> u64 {
        let len = rest.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let (own, after) = rest.split_at(len);
        *rest = after;
        own.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
    }

    /// The fields of a message, in the order of the bytes: number, wire type, and content.
    fn fields(mut rest: &[u8]) -> Vec<(u64, u64, &[u8])> {
        let mut all = Vec::new();
        while !rest.is_empty() {
            let tag = varint(&mut rest);
            let before = rest;
            let len = match tag & 7 {
                0 => {
                    varint(&mut rest);
                    before.len() - rest.len()
                }
                1 => 8,
                2 => usize::try_from(varint(&mut rest)).unwrap(),
                other => panic!("wire type {other}"),
            };
            let begin = if tag & 7 == 2 { rest } else { before };
            all.push((tag >> 3, tag & 7, &begin[..len]));
            rest = &begin[len..];
        }
        all
    }

    /// Numbers of fields and their wire types, as `trace_packet.proto` and its imports declare
    /// them; fields that are messages also have the number of their own table.
    const DECLARED: [&[(u64, u64, usize)]; 9] = [
        &[(1, 2, 1)],                                                             // Trace
        &[(8, 0, 0), (10, 0, 0), (11, 2, 2), (12, 2, 3), (13, 0, 0), (60, 2, 5)], // TracePacket
        &[(9, 0, 0), (10, 0, 0), (11, 0, 0), (30, 0, 0), (47, 1, 0), (48, 1, 0)], // TrackEvent
        &[(2, 2, 4)],                                                             // InternedData
        &[(1, 0, 0), (2, 2, 0)],                                                  // EventName
        &[(1, 0, 0), (2, 2, 0), (3, 2, 6), (4, 2, 7), (5, 0, 0), (8, 2, 8)],      // TrackDescriptor
        &[(1, 0, 0), (6, 2, 0)],            // ProcessDescriptor
        &[(1, 0, 0), (2, 0, 0), (5, 2, 0)], // ThreadDescriptor
        &[],                                // CounterDescriptor
    ];

    /// Reads a message, and those inside, as a decoder does that knows only the declared wire
    /// types. Counts the fields, by table and number.
    fn read(bytes: &[u8], table: usize, found: &mut HashMap<(usize, u64), usize>) {
        for (number, wire, content) in fields(bytes) {
            let known = DECLARED[table].iter().find(|(known, ..)| *known == number);
            let &(_, declared, inner) = known.unwrap_or_else(|| panic!("{table}: {number}"));
            assert_eq!(wire, declared, "field {number} of table {table}");
            *found.entry((table, number)).or_default() += 1;
            if inner > 0 {
                read(content, inner, found);
            }
        }
    }

    #[test]
    fn every_field_has_the_wire_type_that_perfetto_declares() {
        let data = Data::new(0);
        let bytes = bytes_of(2, |runtime| {
            runtime.scope(|s| {
                (0..100).for_each(|_| s.task().input(&data).spawn(|_| ()));
                (0..100).for_each(|_| s.task().inout(&data).spawn(|at| *at += 1));
            });
        });
        let mut found = HashMap::new();
        read(&bytes, 0, &mut found);
        for (table, all) in DECLARED.iter().enumerate() {
            assert!(all.iter().all(|field| found.contains_key(&(table, field.0))), "{table}");
        }
        assert!(found[&(2, 47)] > 1 && found[&(2, 47)] == found[&(2, 48)]);
    }

    fn of_this_file(slices: &HashMap<String, usize>) -> usize {
        slices.iter().filter(|(name, _)| name.ends_with(" of trace.rs")).map(|(_, n)| n).sum()
    }

    #[test]
    fn every_task_is_a_slice_and_an_arrow_leads_to_the_one_that_waited_for_it() {
        let data = Data::new(0);
        let packets = traced(2, |runtime| {
            runtime.scope(|s| (0..100).for_each(|_| s.task().inout(&data).spawn(|at| *at += 1)));
        });
        assert_eq!(data.into_inner(), 100);
        // The scope is a slice, too; the worker may have left its stack and come back.
        assert!(of_this_file(&slices(&packets)) > 100);
        let flows = |of: fn(&TrackEvent) -> &Vec<u64>| {
            let mut ids: Vec<u64> =
                events(&packets).flat_map(|(_, event)| of(event).clone()).collect();
            ids.sort_unstable();
            ids
        };
        let (leaving, arriving) =
            (flows(|event| &event.flow_ids), flows(|event| &event.terminating_flow_ids));
        assert_eq!(leaving, arriving);
        assert!((1..100).contains(&leaving.len()), "{}", leaving.len());
    }

    #[test]
    fn tasks_that_wait_and_are_resumed_leave_no_slice_open() {
        let packets = traced(3, |runtime| {
            runtime.scope(|s| {
                for _ in 0..50 {
                    s.task().spawn_with(|s| {
                        s.spawn(|s| (0..20).for_each(|_| s.spawn(|_| ())));
                        s.wait();
                        s.pause(|resume| drop(std::thread::spawn(|| resume.resume())));
                    });
                }
            });
        });
        assert!(of_this_file(&slices(&packets)) >= 50 * 22);
    }
}
